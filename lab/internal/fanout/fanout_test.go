package fanout

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// TestEach: every number comes once, no more of them at a time than are allowed, and all threads
// work side by side.
func TestEach(t *testing.T) {
	t.Parallel()
	for threads, want := range map[int]int32{-1: 1, 0: 1, 1: 1, 3: 3, 50: 9} {
		var count [9]atomic.Int32
		var now, most atomic.Int32
		err := Each(threads, len(count), func(i int) error {
			count[i].Add(1)
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				continue
			}
			for end := time.Now().Add(5 * time.Second); i < int(want) && most.Load() < want &&
				time.Now().Before(end); {
				time.Sleep(time.Millisecond) // until the other threads have come
			}
			now.Add(-1)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range count {
			if n := count[i].Load(); n != 1 {
				t.Errorf("%d threads: %d came %d times", threads, i, n)
			}
		}
		if most.Load() != want {
			t.Errorf("%d threads: %d at a time, want %d", threads, most.Load(), want)
		}
	}
	if err := Each(3, 0, func(int) error { return errors.New("called") }); err != nil {
		t.Errorf("no calls: %v", err)
	}
}

// TestEachErrors: the error comes from the lowest number, and the other calls are made.
func TestEachErrors(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{1, 4} {
		var calls atomic.Int32
		err := Each(threads, 20, func(i int) error {
			calls.Add(1)
			if i%7 == 5 {
				return fmt.Errorf("call %d", i)
			}
			return nil
		})
		if err == nil || err.Error() != "call 5" || calls.Load() != 20 {
			t.Errorf("%d threads: error %v after %d calls, want that of call 5 after 20", threads, err,
				calls.Load())
		}
	}
}
