package load

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/server"
)

// counting counts the requests that a server logs.
type counting struct{ n *atomic.Int64 }

func (c counting) Write(b []byte) (int, error) {
	if filled.Match(b) {
		c.n.Add(1)
	}
	return len(b), nil
}

// A small load on a server in this process: every request is answered, whatever other clients do,
// also while the server ends.
func TestLoad(t *testing.T) {
	orttest.Load(t)
	m, err := mlm.Open(t.Context(), os.DirFS("../../mlm/testdata/tiny-bert"), mlm.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	begun := &atomic.Int64{}
	s, err := server.New(server.Options{Places: 2, Log: slog.New(slog.NewTextHandler(counting{begun}, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add("tiny", m); err != nil {
		t.Fatal(err)
	}
	s.Ready()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, 30*time.Second) }()
	got, err := load(t.Context(), &target{url: "http://" + l.Addr().String(), pid: os.Getpid(), begun: begun,
		finish: func() error { end(); return <-ended }}, 2000, 16)
	t.Log(got)
	if err != nil {
		t.Error(err)
	}
	if got.bad < 3 || got.codes[http.StatusOK] < 1000 {
		t.Errorf("%d bad clients, answers %v", got.bad, got.codes)
	}
}

// A server that leaves requests without an answer is found out.
func TestLoadFindsLosses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &atomic.Int64{}
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1)%50 == 0 {
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write([]byte("{}\n"))
		})}
	go func() { _ = srv.Serve(l) }()
	_, err = load(t.Context(), &target{url: "http://" + l.Addr().String(), pid: os.Getpid(), begun: n,
		finish: srv.Close}, 300, 4)
	if err == nil || !strings.Contains(err.Error(), "no answer") &&
		!strings.Contains(err.Error(), "arrived") {
		t.Errorf("found %v", errors.Join(err))
	}
}
