package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"time"

	"infill/infill"
)

// Complete returns the options as a server has them, with defaults in place of what is not chosen.
func (opt Options) Complete() Options {
	if opt.Places <= 0 {
		opt.Places = runtime.NumCPU()
	}
	if opt.Queue <= 0 {
		opt.Queue = 64
	}
	if opt.Limit <= 0 {
		opt.Limit = time.Minute
	}
	if opt.Work <= 0 {
		opt.Work = 210_000
	}
	if opt.Engine == nil {
		opt.Engine = infill.New
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return opt
}

// New makes a server without models, which is not ready. The error is of an origin that makes no
// sense.
func New(opt Options) (*Server, error) {
	opt = opt.Complete()
	s := &Server{opt: opt, queue: newQueue(opt.Places, opt.Queue), leaving: make(chan struct{}),
		files: make(chan struct{}, opt.Queue), maxAnswer: maxAnswer,
		headerTime: headerTime, bodyTime: bodyTime, writeTime: writeTime, counts: newMetrics()}
	var err error
	s.handler, err = s.guarded(s.mux())
	return s, err
}

// errCutOff is returned by Serve when requests had not ended within the time they were given.
var errCutOff = errors.New("requests were cut off")

// Serve answers the connections of a listener until ctx ends. Then it takes no new ones, is not
// ready any more, lets running requests end for at most the time of grace, and returns nil. If some
// have not ended by then, they are cut off and the error is errCutOff. It is errMissing without a
// context or a listener. Other errors are the listener's.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	switch {
	case ctx == nil:
		return fmt.Errorf("%w: the context is nil; pass context.Background()", errMissing)
	case l == nil:
		return fmt.Errorf("%w: there is no listener; make one with net.Listen", errMissing)
	}
	base, cut := context.WithCancelCause(context.Background())
	defer cut(nil)
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: s.headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    1 << 16,
		ErrorLog:          slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.drain()
	end, stop := context.WithTimeout(context.Background(), grace)
	defer stop()
	if err := srv.Shutdown(end); err == nil {
		return nil
	}
	n := s.counts.underWay.Load()
	cut(errCut) // what still works ends now, and has a moment to say so
	last, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = srv.Shutdown(last)
	return errors.Join(fmt.Errorf("%w: %d after %v", errCutOff, n, grace), srv.Close())
}

// drain says that the server is about to end.
func (s *Server) drain() {
	was := s.state.Swap(draining)
	if was == draining {
		return
	}
	close(s.leaving)
	if was == ready { // before, nothing was begun
		s.opt.Log.Info("draining", "requests", s.counts.underWay.Load())
	}
}
