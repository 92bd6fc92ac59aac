package main

import (
	"context"
	"sync"

	"infill/infill"
)

// An earlyEnd is how the first signal reaches work that has something to show when it ends early.
type earlyEnd struct {
	mu    sync.Mutex
	stop  chan struct{} // of the work under way, nil for none
	asked bool
}

type earlyKey struct{}

// endsEarly is that of the program, or without signals one that nobody asks.
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
// returns is called after the fill, and says whether a signal came.
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
