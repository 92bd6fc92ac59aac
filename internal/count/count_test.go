package count

import "testing"

// Long numbers have commas, four digits none.
func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 9999: "9999", 10_000: "10,000", 123_456: "123,456",
		1_000_000: "1,000,000", -12_345: "-12,345"} {
		if got := Thousands(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Only one thing is in the singular.
func TestOf(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{-1: "-1 steps", 0: "0 steps", 1: "1 step", 2: "2 steps"} {
		if got := Of(n, "step"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
