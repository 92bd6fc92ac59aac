package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
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
			fmt.Fprintf(os.Stderr, "infill: %s\n", message(context.Canceled))
			os.Exit(exitInterrupted)
		}
	}()
	return ctx, func() { signal.Stop(got); close(done); stop() }
}
