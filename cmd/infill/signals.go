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
	"infill/internal/program"
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
			os.Exit(program.Interrupted)
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

// interruptible reads what r does, until its context ends, also while it waits for a pipe that
// nobody writes to: nothing ends a read of standard input itself.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		_ = in.CloseWithError(err) // it never fails
	}()
	context.AfterFunc(ctx, func() { _ = in.CloseWithError(context.Cause(ctx)) })
	return out
}
