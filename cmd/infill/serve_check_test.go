package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A check says by its exit code whether a server takes requests.
func TestServeCheck(t *testing.T) {
	t.Parallel()
	loading := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the model is being loaded", http.StatusServiceUnavailable)
	}))
	defer loading.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	ready := strings.TrimPrefix(serve(t, "--model", tinyModel).url, "http://")
	for _, c := range []struct {
		addr string
		code int
		err  string
	}{
		{ready, exitOK, ""},
		{"0.0.0.0" + ready[strings.LastIndexByte(ready, ':'):], exitOK, ""},
		{strings.TrimPrefix(loading.URL, "http://"), exitTrouble, "503 Service Unavailable the model is"},
		{gone.Addr().String(), exitTrouble, "no server answers"},
		{"127.0.0.1:x", exitUsage, "want HOST:PORT"},
	} {
		r := infillRun("", "serve", "--check", "--addr", c.addr)
		if r.code != c.code || !strings.Contains(r.err, c.err) || r.out != "" || c.err == "" && r.err != "" {
			t.Errorf("%s: exit %d: %q, %q", c.addr, r.code, r.out, r.err)
		}
	}
}
