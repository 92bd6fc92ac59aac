package space

import "testing"

func TestNearer(t *testing.T) {
	t.Parallel()
	distance := func(a, b string) int {
		for d := 0; ; d++ {
			if nearer(a, b, d+1) {
				return d
			}
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"dog", "dog", 0}, {"Dog", "dOG", 0}, {"dog", "fog", 1}, {"kitten", "sitting", 3}, {"", "abc", 3}, {"naïve", "naive", 1}, {"flaw", "lawn", 2}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != got {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
