package records

import "testing"

// Few chains a text are made up for by more texts, within bounds.
func TestInFlight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ threads, chains, want int }{
		{1, 25, 4}, {2, 25, 8}, {2, 0, 8}, {2, 1000, 8}, // enough by themselves
		{1, 10, 8}, {2, 10, 16}, {3, 5, 48},
		{1, 2, 32}, {2, 1, 64}, // at most 32 a thread
	} {
		if got := InFlight(c.threads, c.chains); got != c.want {
			t.Errorf("%d threads, %d chains: %d texts, want %d", c.threads, c.chains, got, c.want)
		}
	}
}
