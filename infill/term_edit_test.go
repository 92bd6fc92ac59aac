package infill

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/infill/text"
)

// The distance compares the words in the blanks, as another program computes it.
func TestEdit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, 1+rng.IntN(5))
		for i := range b {
			b[i] = "abcD"[rng.IntN(4)]
		}
		return string(b)
	}
	var recursive func(a, b string) int
	recursive = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		same := 1
		if a[0] == b[0] {
			same = 0
		}
		return min(recursive(a[1:], b)+1, recursive(a, b[1:])+1, recursive(a[1:], b[1:])+same)
	}
	for range 200 {
		a, b, c, d := word(), word(), word(), word()
		f := Finished{Text: "x " + a + " y " + b, Spans: [][2]int{{2, 2 + len(a)}, {5 + len(a), 5 + len(a) + len(b)}},
			Original: []string{c, d}}
		v := make([]float64, 1)
		if err := (Edit{}).Values(context.Background(), []Finished{f}, v); err != nil {
			t.Fatal(err)
		}
		low := strings.ToLower
		want := -recursive(low(a), low(c)) - recursive(low(b), low(d))
		if v[0] != float64(want) || f.Before() != "x "+c+" y "+d {
			t.Errorf("%+v: %v, want %d; before %q", f, v[0], want, f.Before())
		}
	}
	err := Edit{}.Values(context.Background(), []Finished{{Text: "a", Spans: [][2]int{{0, 1}}}},
		make([]float64, 1))
	if !errors.Is(err, ErrNoOriginal) || !errors.Is(err, text.ErrOption) {
		t.Error(err)
	}
}
