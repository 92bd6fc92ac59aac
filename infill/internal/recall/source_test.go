package recall

import (
	"slices"
	"testing"

	"infill/mlm"
)

// A window has as many pieces as a row may see, and the masks among them.
func TestRowWindow(t *testing.T) {
	t.Parallel()
	s := &mlm.Sentence{IDs: make([]int32, 100), Blanks: []int{5, 12, 20, 60, 97}}
	for i := range s.IDs {
		s.IDs[i] = int32(i)
	}
	for _, c := range []struct{ at, limit, from, to, first int }{
		{0, 32, 0, 3, 1}, {2, 32, 0, 3, 5}, {3, 32, 3, 4, 45}, {4, 32, 4, 5, 69}, {3, 0, 0, 5, 1},
		{3, 100, 0, 5, 1},
	} {
		w := cutWindow(s, c.at, c.limit)
		n := c.limit
		if n == 0 {
			n = len(s.IDs)
		}
		if len(w.s.IDs) != n || w.s.IDs[0] != 0 || w.s.IDs[n-1] != 99 || int(w.s.IDs[1]) != c.first ||
			w.from != c.from || w.to != c.to {
			t.Errorf("%+v: %v, masks %d to %d", c, w.s.IDs, w.from, w.to)
		}
		for i, at := range w.s.Blanks {
			if !slices.Contains(s.Blanks, int(w.s.IDs[at])) || int(w.s.IDs[at]) != s.Blanks[w.from+i] {
				t.Errorf("%+v: mask %d is at piece %d", c, i, w.s.IDs[at])
			}
		}
	}
}
