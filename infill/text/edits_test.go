package text

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// plainDistance is the recursion of Levenshtein's distance, without any saving.
func plainDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0:
				d[i][j] = j
			case j == 0:
				d[i][j] = i
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
		}
	}
	return d[len(a)][len(b)]
}

func plainEdits(a, b string) int {
	return plainDistance([]rune(strings.ToLower(a)), []rune(strings.ToLower(b)))
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"kitten", "sitting", 3}, {"Paris", "paris", 0}, {"", "abc", 3}, {"été", "ete", 2}} {
		if got := EditDistance(c.a, c.b, 100); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		text := func() string {
			b := make([]byte, rng.IntN(9))
			for i := range b {
				b[i] = "abc"[rng.IntN(3)]
			}
			return string(b)
		}
		a, b, most := text(), text(), rng.IntN(10)
		if got, want := EditDistance(a, b, most), min(plainEdits(a, b), most); got != want {
			t.Fatalf("%q, %q below %d: %d, want %d", a, b, most, got, want)
		}
	}
}
