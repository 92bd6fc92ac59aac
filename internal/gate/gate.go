// Package gate bounds how many goroutines compute at the same time, without Enter and
// Leave: work runs inside a call, the call's context knows of the place, and whoever
// waits for others gives the place up for that time. A place is never given back twice
// and never kept by somebody who waits with the call's context, so that nobody is left
// waiting for ever. [Wait] finds out who waits with another context.
package gate

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
)

// Places are what there is a bounded number of. Both methods are safe for concurrent use.
type Places interface {
	// Take waits for a place. The error is the cause of ctx's end, and then none is taken.
	Take(ctx context.Context) error
	// Give gives a place back.
	Give()
}

// A place is one that was taken. It can be shared by goroutines: the first that waits
// gives it up, and the last that has waited takes one again.
type place struct {
	of      Places
	mu      sync.Mutex
	outside int  // how many wait for others at present
	ended   bool // the call that it was taken for is over
}

type placeKey struct{}

func placeOf(ctx context.Context) *place {
	p, _ := ctx.Value(placeKey{}).(*place)
	return p
}

// inside runs f with a place, which it waits for. f's context knows of the place; f hands
// it to whatever it calls. Where ctx has a place of the same Places already, f runs in
// that. A place of other Places is free for others until f has ended: a goroutine that
// kept one while it waits for another could wait for ever. The error is f's, or the cause
// of ctx's end if that came before a place.
func inside(ctx context.Context, of Places, f func(context.Context) error) error {
	if p := placeOf(ctx); p != nil && p.of == of {
		return f(ctx)
	}
	return Outside(ctx, func() error {
		if err := of.Take(ctx); err != nil {
			return err
		}
		p := &place{of: of}
		defer p.end()
		return f(context.WithValue(ctx, placeKey{}, p))
	})
}

func (p *place) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.outside == 0 {
		p.of.Give()
	}
}

// Outside runs f, which waits for others or calls code that may do so, while the place
// that ctx has is free for them. Without a place it just runs f.
func Outside(ctx context.Context, f func() error) error {
	return Wait(ctx, nil, func(bool) error { return f() })
}

// Wait is Outside for what places of one kind are needed for. It tells f whether this call
// made one of them free. If not, the caller may keep one that ctx knows nothing of, and
// what it waits for must not need a place.
func Wait(ctx context.Context, of Places, f func(freed bool) error) error {
	p := placeOf(ctx)
	if p == nil {
		return f(false)
	}
	gave := p.leave()
	defer p.enter()
	return f(gave && p.of == of)
}

// leave reports whether the place became free by this call.
func (p *place) leave() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outside++
	if p.outside > 1 || p.ended {
		return false
	}
	p.of.Give()
	return true
}

// enter takes the place again even if the caller was cancelled: the caller goes on
// computing until it returns, and end gives the place back. The wait has an end, because
// whoever has a place computes, or gives it up to wait.
func (p *place) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.outside--; p.outside == 0 && !p.ended {
		_ = p.of.Take(context.Background())
	}
}

// Each runs f for 0 … n−1 at the same time and waits for all. If ctx has a place, every f has one
// of its own and the caller's is free for them. The error comes from the smallest i whose f failed.
// A panic of f goes on in the caller's goroutine, as a [Panic], when all have ended: in one of its
// own nobody could recover it.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	switch n {
	case 0:
		return nil
	case 1:
		return f(ctx, 0)
	}
	errs, panics := make([]error, n), make([]*Panic, n)
	p := placeOf(ctx)
	free := context.WithValue(ctx, placeKey{}, (*place)(nil))
	_ = Outside(ctx, func() error {
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() {
				defer func() {
					if value := recover(); value != nil {
						panics[i] = &Panic{value, debug.Stack()}
					}
				}()
				if p == nil {
					errs[i] = f(ctx, i)
					return
				}
				errs[i] = inside(free, p.of, func(ctx context.Context) error { return f(ctx, i) })
			})
		}
		group.Wait()
		return nil
	})
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A Panic is one of a function that Each has called.
type Panic struct {
	Value any    // what it panicked with
	Stack []byte // of its goroutine
}

// Recovered is what recover returned, with the stack of the goroutine; nil for nil.
func Recovered(v any) *Panic {
	switch v := v.(type) {
	case nil:
		return nil
	case *Panic:
		return v
	}
	return &Panic{Value: v, Stack: debug.Stack()}
}

// Where is the file and the line that panicked, "" if the stack does not say it.
func (p *Panic) Where() string {
	_, frames, _ := strings.Cut(string(p.Stack), "\npanic(")
	lines := strings.Split(frames, "\n")
	for i := 3; i < len(lines); i += 2 { // behind the function, and behind panic's own two
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
		if !strings.Contains(place, "runtime/") {
			return place
		}
	}
	return ""
}

// Error says what it was and where.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value where it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}
