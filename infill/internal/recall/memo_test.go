package recall

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// give evaluates keys: the value of a key is its length, in a row of the given width.
func give(m *Memo, width int, keys ...string) (asked []string, err error) {
	got, err := m.get(context.Background(), keys, func(_ context.Context, which []int,
		made []*entry) error {
		for j, i := range which {
			asked = append(asked, keys[i])
			made[j].wide = make([]float32, width)
			made[j].wide[0] = float32(len(keys[i]))
		}
		return nil
	})
	for i, e := range got {
		if e.wide[0] != float32(len(keys[i])) {
			return nil, fmt.Errorf("%q has the value %v", keys[i], e.wide[0])
		}
	}
	return asked, err
}

// A value is evaluated once, as long as there is room. What was used longest ago goes first, and
// the bytes that are used never exceed the bound.
func TestMemoBound(t *testing.T) {
	t.Parallel()
	const width = 100
	one := (&entry{key: "a", wide: make([]float32, width)}).bytes()
	m := NewMemo(3 * one)
	for _, c := range []struct{ ask, asked string }{
		{"a", "[a]"}, {"b", "[b]"}, {"c", "[c]"}, {"a", "[]"}, {"d", "[d]"}, // b goes
		{"a", "[]"}, {"c", "[]"}, {"b", "[b]"}, {"d", "[d]"}, // d went, then a
		{"c", "[]"}, {"b", "[]"}, {"a", "[a]"},
	} {
		asked, err := give(m, width, c.ask)
		if err != nil || fmt.Sprint(asked) != c.asked {
			t.Errorf("%s: evaluated %v, want %s (%v)", c.ask, asked, c.asked, err)
		}
	}
	if asked, err := give(m, 10*width, "large"); err != nil || len(asked) != 1 {
		t.Errorf("%v, %v", asked, err)
	}
	if asked, err := give(m, width, "a"); err != nil || len(asked) != 0 || m.peek([]byte("large")) != nil {
		t.Errorf("a value larger than the memo took the place of others: %v, %v", asked, err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		if _, err := give(m, 1+rng.IntN(width), fmt.Sprint(rng.IntN(20))); err != nil {
			t.Fatal(err)
		}
		used, n := int64(0), 0
		for e := m.ring.next; e != &m.ring; e, n = e.next, n+1 {
			used += e.bytes()
		}
		if used != m.used || used > m.limit || n != len(m.entries) {
			t.Fatalf("%d bytes of %d entries, counted %d, bound %d, map of %d", used, n, m.used, m.limit,
				len(m.entries))
		}
	}
	m.Forget()
	if m.used != 0 || len(m.entries) != 0 || m.peek([]byte("a")) != nil {
		t.Errorf("%d bytes, %d entries after forgetting", m.used, len(m.entries))
	}
}

// Callers that ask for the same at the same time have it evaluated once, in whatever order they
// name it.
func TestMemoTogether(t *testing.T) {
	t.Parallel()
	m := NewMemo(1 << 20)
	var evaluated atomic.Int64
	var group sync.WaitGroup
	for c := range 8 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(2, uint64(c)))
			for round := range 50 {
				keys := []string{"x", "xx", "xxx", "xxxx"}
				rng.Shuffle(4, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				for i := range keys {
					keys[i] = fmt.Sprint(round) + keys[i]
				}
				got, err := m.get(t.Context(), keys, func(_ context.Context, which []int,
					made []*entry) error {
					evaluated.Add(int64(len(which)))
					for j, i := range which {
						made[j].wide = []float32{float32(len(keys[i]))}
					}
					return nil
				})
				for i := range keys {
					if err != nil || got[i].wide[0] != float32(len(keys[i])) {
						t.Errorf("%q: %v, %v", keys[i], got[i], err)
					}
				}
			}
		})
	}
	group.Wait()
	if n := evaluated.Load(); n != 4*50 {
		t.Errorf("%d evaluations of %d values", n, 4*50)
	}
}

// Whoever waits for a value that its maker does not get, because it failed, was cancelled or
// panicked, has it evaluated again. Whoever is cancelled waits no longer.
func TestMemoFailures(t *testing.T) {
	t.Parallel()
	failure := errors.New("the model is gone")
	for name, fail := range map[string]func(context.Context) error{
		"error":     func(context.Context) error { return failure },
		"cancelled": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
		"panic":     func(context.Context) error { panic(failure) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := NewMemo(1 << 20)
				going := make(chan struct{})
				first, stop := context.WithCancelCause(t.Context())
				second, stopSecond := context.WithCancelCause(t.Context())
				var group sync.WaitGroup
				group.Go(func() {
					defer func() { _ = recover() }()
					_, err := m.get(first, []string{"a"}, func(ctx context.Context, _ []int, _ []*entry) error {
						<-going
						return fail(ctx)
					})
					if !errors.Is(err, failure) {
						t.Errorf("the maker's error is %v", err)
					}
				})
				synctest.Wait()
				group.Go(func() {
					_, err := m.get(second, []string{"a"}, func(context.Context, []int, []*entry) error {
						t.Error("two make the same")
						return nil
					})
					if !errors.Is(err, context.Canceled) {
						t.Errorf("the cancelled one's error is %v", err)
					}
				})
				var asked []string
				group.Go(func() {
					var err error
					if asked, err = give(m, 1, "a"); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				stopSecond(nil)
				synctest.Wait()
				close(going)
				stop(failure)
				group.Wait()
				if len(asked) != 1 || m.peek([]byte("a")) == nil {
					t.Errorf("evaluated again: %v", asked)
				}
			})
		})
	}
}

// A tally counts the elements of the set, exactly up to its bound and near it beyond, whatever the
// order.
func TestTally(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	const n, most = 50_000, 5000
	exact, small, other := new(Tally), &Tally{Most: most}, &Tally{Most: most}
	want := 0
	var order []int
	for i := range n {
		want += i % 5
		order = append(order, i, i)
	}
	shuffle := func() {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	shuffle()
	for _, i := range order {
		exact.Add(fmt.Append(nil, i), i%5)
		small.Add(fmt.Append(nil, i), i%5)
	}
	shuffle()
	for _, i := range order {
		other.Add(fmt.Append(nil, i), i%5)
	}
	if got := exact.Total(); got != want {
		t.Errorf("%d, want %d", got, want)
	}
	// The standard deviation is about want/√most, and half of most may be kept.
	if a, b := small.Total(), other.Total(); a != b || a < want*9/10 || a > want*11/10 ||
		len(small.rows) > most {
		t.Errorf("%d and %d from %d keys, want %d", a, b, len(small.rows), want)
	}
}
