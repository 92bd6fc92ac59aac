package records

import (
	"slices"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/open"
	"infill/infill/settings"
	"infill/internal/ort/orttest"
	"infill/mlm"
)

// The best line of each id is the one of the best sum, and every line has its score in place or is
// as it was.
func TestNBest(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	m, err := open.Model(t.Context(), "../../mlm/testdata/tiny-bert", mlm.Options{Forward: true})
	if err != nil {
		t.Fatal(err)
	}
	e := infill.New(m)
	t.Cleanup(func() { _ = e.Close() })
	s := &Scorer{Model: m, Engine: e, Ranking: &settings.Ranking{}}
	score := func(text string) float64 {
		r, err := e.Score(t.Context(), text, infill.ScoreOptions{By: infill.ScorePLL})
		if err != nil {
			t.Fatal(err)
		}
		return r.Score
	}
	good, bad := score("the old dog sleeps ."), score("the old the sleeps .")
	if good <= bad {
		t.Fatalf("%v, %v", good, bad)
	}
	for _, c := range []struct {
		lines  string
		weight float64
		best   string // lines of best, from 1; 0: none
		fail   string // lines that fail
	}{
		{"a ||| the old the sleeps . ||| F0= -1 ||| -1\na ||| the old dog sleeps . ||| F0= -2 ||| -1.1", 1,
			"2", ""},
		{"a ||| the old the sleeps . ||| F0= -1 ||| -1\na ||| the old dog sleeps . ||| F0= -2 ||| -1.1", 0,
			"1", ""},
		{"u-x-1 the old the sleeps .\nu-x-2\tthe old dog sleeps .\nu-y-1 the dog", 1, "2 3", ""},
		{"a ||| the dog ||| -1\nno hypothesis\na ||| the dog ||| -0.5\n", 1, "3", "2"},
		{"a ||| the dog ||| -1\nb ||| the dog ||| F= x\na ||| the dog ||| -0.5\n", 1, "1 0 0", "2 3"},
		{"a ||| the dog\na ||| ||| -1\na-1\na ||| the dog ||| F= -1 |||\n", 1, "0", "1 2 3 4"},
	} {
		list := strings.Split(strings.TrimSpace(c.lines), "\n")
		read := func(yield func(Hypothesis) bool) {
			for i, l := range list {
				if !yield(ReadHypothesis(i+1, l)) {
					return
				}
			}
		}
		var best, fail []string
		number := func(n int) string { return string(rune('0' + n)) }
		err := s.NBest(t.Context(), read, c.weight, func(of []Hypothesis, k int) error {
			n := 0
			if k >= 0 {
				n = of[k].Line
			}
			best = append(best, number(n))
			for _, h := range of {
				was, is := list[h.Line-1], h.InPlace()
				if h.Err != nil {
					fail = append(fail, number(h.Line))
				}
				if (was == is) != (h.Err != nil) {
					t.Errorf("%q becomes %q: %v", was, is, h.Err)
				}
			}
			return nil
		})
		if got := strings.Join(best, " "); err != nil || got != c.best || strings.Join(fail, " ") != c.fail {
			t.Errorf("%q: best %q, failed %q, %v", c.lines, got, fail, err)
		}
	}
}

func TestHypothesisInPlace(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"0 ||| a b ||| F0= -1 F1= -2", "0 ||| a b ||| F0= -1 F1= -2 MLM= -4.0000 ||| -7.0000",
			"0 ||| a b ||| F0= -1 F1= -2 MLM= -4.0000 ||| -7.0000"},
		{"0 ||| a ||| F0= -1 ||| -.5 ||| 0-0", "0 ||| a ||| F0= -1 Total= -.5 MLM= -4.0000 ||| -4.5000 ||| 0-0",
			"0 ||| a ||| F0= -1 Total= -.5 MLM= -4.0000 ||| -4.5000 ||| 0-0"},
		{"utt-a-12\ta b", "utt-a-12 -4.0000", "utt-a a b"},
	} {
		h := ReadHypothesis(1, c[0])
		if h.Score, h.Sum = -4, h.total-4; h.InPlace() != c[1] || h.Best() != c[2] || h.Err != nil {
			t.Errorf("%q, %q, %v", h.InPlace(), h.Best(), h.Err)
		}
	}
	if ids := []string{ReadHypothesis(1, "a-1").ID, ReadHypothesis(1, "-1 a").ID}; !slices.Equal(ids,
		[]string{"a", ""}) {
		t.Errorf("%q", ids)
	}
}

// A line that cannot be read comes back as it was.
func FuzzHypothesis(f *testing.F) {
	for _, l := range []string{"a ||| the dog ||| F= -1 ||| -1", "a ||| b ||| c |||", "u-1 the dog", "-1"} {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if h := ReadHypothesis(1, line); h.Err != nil && h.InPlace() != line || h.Err == nil && h.ID == "" {
			t.Errorf("%q: %+v, %q", line, h, h.InPlace())
		}
	})
}
