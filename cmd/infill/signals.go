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

// signals returns a context that the first signal ends, and a function that ends it. The
// second signal ends the program at once, as the first does before work has begun.
func signals() (context.Context, func()) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	off := context.AfterFunc(ctx, func() {
		stop()
		if !begun.Load() {
			fmt.Fprintf(os.Stderr, "infill: %s\n", message(context.Canceled))
			os.Exit(exitInterrupted)
		}
	})
	return ctx, func() { off(); stop() }
}
