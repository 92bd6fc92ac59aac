package count

import "testing"

// Only one thing is in the singular.
func TestOf(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{-1: "-1 steps", 0: "0 steps", 1: "1 step", 2: "2 steps"} {
		if got := Of(n, "step"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
