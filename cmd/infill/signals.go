package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"infill/cmd/infill/internal/advice"
	"infill/infill"
)

// begun says that there is work that a signal must end in order: files that are written,
// a download. Before that nothing is lost, and what the program waits for, such as a pipe
// that nobody writes to, knows of no signal.
var begun atomic.Bool

// begin is the start of such work.
func begin() { begun.Store(true) }

// signals returns a context that the first signal ends, and a function that ends it. Work that can
// end early, see endsEarly, is told to by the first signal instead. The second signal ends the
// program at once, as the first does before work has begun.
func signals() (context.Context, func()) {
	e := &earlyEnd{}
	ctx, stop := context.WithCancel(context.WithValue(context.Background(), earlyKey{}, e))
	got, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-done:
			return
		case <-got:
		}
		signal.Stop(got) // the next one ends the program
		switch {
		case e.ask():
		case begun.Load():
			stop()
		default:
			fmt.Fprintf(os.Stderr, "infill: %s\n", advice.Message(context.Canceled))
			os.Exit(exitInterrupted)
		}
	}()
	return ctx, func() { signal.Stop(got); close(done); stop() }
}

// An earlyEnd is how the first signal reaches work that has something to show when it ends early.
type earlyEnd struct {
	mu    sync.Mutex
	stop  chan struct{} // of the work under way, nil for none
	asked bool
}

type earlyKey struct{}

// endsEarly finds what main put into the context. Without signals it makes one that nothing asks.
func endsEarly(ctx context.Context) *earlyEnd {
	if e, ok := ctx.Value(earlyKey{}).(*earlyEnd); ok {
		return e
	}
	return &earlyEnd{}
}

// begin has the first signal close stop, until the function that it returns is called. That says
// whether a signal came.
func (e *earlyEnd) begin(stop chan struct{}) (end func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stop = stop
	return func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.stop = nil
		return e.asked
	}
}

// ask ends the work under way early and reports whether there is any.
func (e *earlyEnd) ask() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stop == nil {
		return false
	}
	e.asked = true
	close(e.stop)
	e.stop = nil
	return true
}

// stoppable has the first signal end a fill early, with the best up to then. The function that it
// returns is called after the fill, and reports whether a signal came.
func stoppable(ctx context.Context, opt *infill.Options) (interrupted func() bool) {
	stop := make(chan struct{})
	end := func() bool { return false }
	opt.Watch.Stop = stop
	opt.Watch.Chosen = func(m infill.Method) error {
		if m != infill.MethodExact { // which has nothing before its end
			end = endsEarly(ctx).begin(stop)
		}
		return nil
	}
	return func() bool { return end() }
}

// An interruptible reader ends with its context, also while it waits for a pipe that nobody writes
// to. Each read is made by a goroutine of its own: nothing ends one of standard input.
type interruptible struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte
	done chan readResult
}

type readResult struct {
	n   int
	err error
}

func newInterruptible(ctx context.Context, r io.Reader) *interruptible {
	return &interruptible{ctx: ctx, r: r, done: make(chan readResult, 1)}
}

// Read implements io.Reader. After the end of the context all reads have its cause.
func (i *interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	if len(i.buf) < len(p) {
		i.buf = make([]byte, len(p))
	}
	buf := i.buf[:len(p)] // p is the caller's again when the context ends
	go func() {
		n, err := i.r.Read(buf)
		i.done <- readResult{n, err}
	}()
	select {
	case got := <-i.done:
		return copy(p, buf[:got.n]), got.err
	case <-i.ctx.Done():
		return 0, context.Cause(i.ctx)
	}
}
