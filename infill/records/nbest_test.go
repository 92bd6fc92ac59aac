package records

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/open"
	"infill/infill/settings"
	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/tokenize"
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
		best   string // lines of best, from 1
		fail   string // lines that fail
	}{
		{"a ||| the old the sleeps . ||| F0= -1 ||| -1\na ||| the old dog sleeps . ||| F0= -2 ||| -1.1", 1,
			"2", ""},
		{"a ||| the old the sleeps . ||| F0= -1 ||| -1\na ||| the old dog sleeps . ||| F0= -2 ||| -1.1", 0,
			"1", ""},
		{"u-x-1 the old the sleeps .\nu-x-2\tthe old dog sleeps .\nu-y-1 the dog", 1, "2 3", ""},
		{"a ||| the dog ||| -1\nno hypothesis\na ||| the dog ||| -0.5\n", 1, "3", "2"},
		{"a ||| the dog ||| -1\nb ||| the dog ||| F= x\na ||| the dog ||| -0.5\n", 1, "1", "2 3"},
		{"a ||| the dog\na ||| ||| -1\na-1\na ||| the dog ||| F= -1 |||\n", 1, "", "1 2 3 4"},
		{"a ||| the dog ||| inf\na-x the dog", 1, "", "1 2"},
	} {
		list := strings.Split(strings.TrimSpace(c.lines), "\n")
		var known []jsonl.Record
		for cut := range len(list) + 1 { // an earlier run has made the records before it
			var best, fail []string
			n := &NBest{Scorer: *s, Weight: c.weight}
			n.Best = func(line string) error {
				best = append(best, line)
				return nil
			}
			var made []string // the lines as they may be printed
			for i, l := range list {
				it := &input.Item{Line: i + 1, Text: l}
				if i < cut {
					if err := n.Known(it, known[i]); err != nil {
						t.Fatal(err)
					}
				} else {
					rec, err := n.Record(t.Context(), it)
					if err == nil {
						rec, err = rec.Finish(t.Context())
					}
					if err != nil {
						t.Fatal(err)
					}
					of, err := jsonl.Decoder{}.Record(i+1, rec.JSON)
					if err != nil || rec.Failed != (of.By().Error != nil) {
						t.Fatalf("%s: %v", rec.JSON, err)
					}
					if known = append(known[:i], of); rec.Failed {
						fail = append(fail, strconv.Itoa(i+1))
					}
				}
				now := ""
				if f, ok := known[i].(*jsonl.Filled); ok {
					h, err := readHypothesis(i+1, l)
					if now = f.Best; h.cells == nil {
						now = h.id + " " + h.text
					}
					if err != nil || f.Best == l {
						t.Errorf("%q becomes %q: %v", l, f.Best, err)
					}
				}
				made = append(made, now)
			}
			if err := n.Last(); err != nil {
				t.Fatal(err)
			}
			for i, line := range best {
				best[i] = strconv.Itoa(slices.Index(made, line) + 1)
			}
			if got := strings.Join(best, " "); got != c.best || cut == 0 && strings.Join(fail, " ") != c.fail {
				t.Errorf("%q from %d: best %q, failed %q", c.lines, cut, got, fail)
			}
		}
	}
	if _, err := new(NBest).Record(t.Context(), &input.Item{}); !errors.Is(err, errParts) {
		t.Errorf("without parts: %v", err)
	}
	n := &NBest{Scorer: *s, Best: func(string) error { return nil }}
	if _, err := n.Record(t.Context(), &input.Item{Text: "a-1 \xff"}); !errors.Is(err, tokenize.ErrInvalidUTF8) ||
		!strings.Contains(err.Error(), "say its encoding") {
		t.Errorf("a line that is not UTF-8: %v", err)
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
		h, err := readHypothesis(1, c[0])
		n := &NBest{}
		line := h.inPlace(-4, h.total-4)
		if n.take(&h, line, 0); line != c[1] || *n.best != c[2] || err != nil {
			t.Errorf("%q, %q, %v", line, *n.best, err)
		}
	}
	var ids []string
	for _, l := range []string{"a-1", "-1 a"} {
		h, _ := readHypothesis(1, l)
		ids = append(ids, h.id)
	}
	if !slices.Equal(ids, []string{"a", ""}) {
		t.Errorf("%q", ids)
	}
}

// A line that is read has an id, and a place for its score.
func FuzzHypothesis(f *testing.F) {
	for _, l := range []string{"a ||| the dog ||| F= -1 ||| -1", "a ||| b ||| c |||", "u-1 the dog", "-1"} {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if h, err := readHypothesis(1, line); err == nil && (h.id == "" || h.inPlace(-1, -1) == "") {
			t.Errorf("%q: %+v", line, h)
		}
	})
}
