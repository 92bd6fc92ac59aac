package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// checkLimit is how long a server may take to say that it is ready.
const checkLimit = 5 * time.Second

// checkServer asks the server that listens at an address whether it takes requests. Where the
// address stands for all interfaces, Go dials this machine.
func checkServer(ctx context.Context, addr string) error {
	ctx, stop := context.WithTimeout(ctx, checkLimit)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/ready", nil)
	if err != nil {
		return usagef("--addr %s: want HOST:PORT, such as 127.0.0.1:8017", addr)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("--addr %s: no server answers: %w", addr, err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<12))
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("--addr %s: the server is not ready: %s %s", addr, res.Status,
			strings.TrimSpace(string(body)))
	}
	return nil
}
