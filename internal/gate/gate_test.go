package gate

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// places is a channel with room for as many as there are, and counts who works.
type places struct {
	free          chan struct{}
	working, most atomic.Int64
}

func newPlaces(n int) *places { return &places{free: make(chan struct{}, n)} }

func (p *places) Take(ctx context.Context) error {
	select {
	case p.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *places) Give() {
	select {
	case <-p.free:
	default:
		panic("a place was given back twice")
	}
}

// work counts how many do so at the same time.
func (p *places) work() {
	n := p.working.Add(1)
	for old := p.most.Load(); n > old && !p.most.CompareAndSwap(old, n); old = p.most.Load() {
	}
	runtime.Gosched()
	p.working.Add(-1)
}

// within fails a test that hangs.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("nobody goes on")
	}
}

// However calls are nested, no more work than there are places, all get their turn, and
// all places are free at the end.
func TestNested(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3} {
		p := newPlaces(n)
		var calls atomic.Int64
		leaf := func(ctx context.Context, _ int) error {
			return inside(ctx, p, func(ctx context.Context) error { // it has a place already
				p.work()
				calls.Add(1)
				return Outside(ctx, func() error {
					return inside(t.Context(), p, func(context.Context) error { p.work(); return nil })
				})
			})
		}
		within(t, func() {
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					err := inside(t.Context(), p, func(ctx context.Context) error {
						return Each(ctx, 3, func(ctx context.Context, i int) error { return Each(ctx, i+1, leaf) })
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
		})
		if most := p.most.Load(); most > int64(n) || most < 1 || calls.Load() != 4*(1+2+3) ||
			len(p.free) != 0 {
			t.Errorf("%d places: %d worked at once, %d calls, %d places taken at the end", n, most,
				calls.Load(), len(p.free))
		}
	}
}

// Goroutines that share a place, against the rules, neither give it back twice nor wait
// for ever.
func TestShared(t *testing.T) {
	t.Parallel()
	p := newPlaces(1)
	within(t, func() {
		_ = inside(t.Context(), p, func(ctx context.Context) error {
			return Outside(ctx, func() error {
				var group sync.WaitGroup
				for range 8 {
					group.Go(func() {
						for range 50 {
							_ = Outside(ctx, func() error { runtime.Gosched(); return nil })
						}
					})
				}
				group.Wait()
				return nil
			})
		})
		_ = inside(t.Context(), p, func(ctx context.Context) error {
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					for range 50 {
						_ = Outside(ctx, func() error { runtime.Gosched(); return nil })
					}
				})
			}
			group.Wait()
			return nil
		})
		// One that outlives the call that its place was taken for.
		late, outside := make(chan struct{}), make(chan struct{})
		var group sync.WaitGroup
		_ = inside(t.Context(), p, func(ctx context.Context) error {
			group.Go(func() {
				_ = Outside(ctx, func() error { close(outside); <-late; return nil })
				_ = Outside(ctx, func() error { return nil })
			})
			<-outside
			return nil
		})
		close(late)
		group.Wait()
	})
	if len(p.free) != 0 {
		t.Errorf("%d places taken at the end", len(p.free))
	}
}

// A panic and an error give the place back.
func TestPanics(t *testing.T) {
	t.Parallel()
	p := newPlaces(1)
	func() {
		defer func() { _ = recover() }()
		_ = inside(t.Context(), p, func(ctx context.Context) error {
			return Outside(ctx, func() error { panic("boom") })
		})
	}()
	boom := errors.New("boom")
	for range 2 {
		err := inside(t.Context(), p, func(ctx context.Context) error {
			return Each(ctx, 3, func(_ context.Context, i int) error {
				if i > 0 {
					return boom
				}
				return nil
			})
		})
		if !errors.Is(err, boom) {
			t.Errorf("error %v", err)
		}
	}
	if len(p.free) != 0 {
		t.Errorf("%d places taken at the end", len(p.free))
	}
}

// Whose context ends while it waits for a place does not run.
func TestCancelled(t *testing.T) {
	t.Parallel()
	p := newPlaces(1)
	boom := errors.New("boom")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := inside(t.Context(), p, func(context.Context) error {
		cancel(boom)
		return inside(ctx, p, func(context.Context) error { t.Error("it ran"); return nil })
	})
	if !errors.Is(err, boom) || len(p.free) != 0 {
		t.Errorf("error %v, %d places taken", err, len(p.free))
	}
}

// Without a place Outside and Each just run.
func TestWithout(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	err := Outside(t.Context(), func() error {
		return Each(t.Context(), 5, func(context.Context, int) error { n.Add(1); return nil })
	})
	if err != nil || n.Load() != 5 {
		t.Errorf("%d of 5, %v", n.Load(), err)
	}
}

// Places of two kinds, one inside the other in either order: nobody keeps one while
// waiting for the other, and each kind keeps its bound.
func TestTwoKinds(t *testing.T) {
	t.Parallel()
	a, b := newPlaces(1), newPlaces(1)
	within(t, func() {
		var group sync.WaitGroup
		for k := range 8 {
			outer, inner := a, b
			if k%2 == 1 {
				outer, inner = b, a
			}
			group.Go(func() {
				for range 50 {
					_ = inside(t.Context(), outer, func(ctx context.Context) error {
						outer.work()
						_ = inside(ctx, inner, func(ctx context.Context) error {
							inner.work()
							return inside(ctx, outer, func(context.Context) error { outer.work(); return nil })
						})
						outer.work()
						return nil
					})
				}
			})
		}
		group.Wait()
	})
	if a.most.Load() != 1 || b.most.Load() != 1 || len(a.free)+len(b.free) != 0 {
		t.Errorf("%d and %d worked at once, %d places taken at the end", a.most.Load(), b.most.Load(),
			len(a.free)+len(b.free))
	}
}

// Wait says whether it made a place of the kind free: not without one, not for a place of
// another kind, not where somebody else did or where the place is over.
func TestWait(t *testing.T) {
	t.Parallel()
	a, b := newPlaces(1), newPlaces(1)
	check := func(ctx context.Context, what string, want bool) {
		_ = Wait(ctx, a, func(freed bool) error {
			if freed != want {
				t.Errorf("%s: freed is %v", what, freed)
			}
			return nil
		})
	}
	check(t.Context(), "no place", false)
	var over context.Context
	_ = inside(t.Context(), a, func(ctx context.Context) error {
		over = ctx
		check(ctx, "a place", true)
		_ = Outside(ctx, func() error { check(ctx, "free already", false); return nil })
		return inside(ctx, b, func(ctx context.Context) error {
			check(ctx, "another kind", false)
			return nil
		})
	})
	check(over, "over", false)
	if len(a.free)+len(b.free) != 0 {
		t.Errorf("%d places taken at the end", len(a.free)+len(b.free))
	}
}

// A panic in a goroutine that Each has started ended the process, whatever the caller recovered.
func TestEachPanics(t *testing.T) {
	cause := errors.New("mine")
	var ended atomic.Int32
	got := func() (value any) {
		defer func() { value = recover() }()
		return Each(t.Context(), 3, func(_ context.Context, i int) error {
			defer ended.Add(1)
			if i == 1 {
				panic(cause)
			}
			return nil
		})
	}()
	p, ok := got.(*Panic)
	if !ok || p.Value != cause || !errors.Is(p, cause) || ended.Load() != 3 ||
		!strings.Contains(p.Error(), "TestEachPanics") {
		t.Errorf("recovered %v after %d ends", got, ended.Load())
	}
}

// A panic is known by the line that panicked, not by those of the runtime.
func TestWhere(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"panic": func() { panic("odd") },
		"index": func() { _ = []int{}[len(os.Args)] },
	} {
		func() {
			defer func() {
				if p := Recovered(recover()); p == nil || !strings.Contains(p.Where(), "gate_test.go:") {
					t.Errorf("%s: %q", name, p.Where())
				}
			}()
			f()
		}()
	}
	if p := Recovered(nil); p != nil {
		t.Errorf("%v", p)
	}
}
