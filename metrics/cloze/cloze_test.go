package cloze

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"infill/metrics/interval"
)

// Counts of cases made by hand: words at 1, words among, lines at 1, lines among.
func TestCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		original, fillings string // fillings with slashes between
		among              int
		want               [4]float64
	}{
		{"old man", "old man", 5, [4]float64{2, 2, 1, 1}},
		{"old man", "old dog/old man", 5, [4]float64{1, 2, 0, 1}},
		{"old man", "old dog/old man", 1, [4]float64{1, 1, 0, 0}},
		{"old man", "man old", 5, [4]float64{0, 0, 0, 0}},               // each in the other's blank
		{"old man", "big man/old dog", 5, [4]float64{1, 2, 0, 0}},       // in two fillings
		{"old man", "a b/c d/e f/g h/i j/old man", 5, [4]float64{}},     // the sixth
		{"a a", "a b/b a", 5, [4]float64{1, 2, 0, 0}},                   // a word twice
		{"old man", "", 5, [4]float64{}},                                // nothing was filled
		{"old man", "old man/old man", 5, [4]float64{2, 2, 1, 1}},       // not twice
		{"old man", "Old man/old Man", 5, [4]float64{1, 2, 0, 0}},       // bytes
		{"man", "man/old", 0, [4]float64{}},                             // none counts
		{"x y z", "x b z/a y c", 2, [4]float64{2, 3, 0, 0}},             // three blanks
		{"x y z", "a b c/x y c/x b z/x y z", 4, [4]float64{0, 3, 0, 1}}, // the last
	} {
		var fillings [][]string
		if c.fillings != "" {
			for f := range strings.SplitSeq(c.fillings, "/") {
				fillings = append(fillings, strings.Fields(f))
			}
		}
		original := strings.Fields(c.original)
		got, err := Count(original, fillings, c.among, nil)
		if err != nil || got.Back != c.want || got.Words != len(original) || got.Lines != 1 {
			t.Errorf("%q, %q among %d: %+v, %v, want %v", c.original, c.fillings, c.among, got, err, c.want)
		}
	}
	got, err := Count([]string{"Old"}, [][]string{{"old"}}, 1, strings.EqualFold)
	if err != nil || got.Back != [4]float64{1, 1, 1, 1} {
		t.Errorf("without regard to case: %+v, %v", got, err)
	}
	if got, err := Count(nil, nil, 5, nil); err != nil || got != (Counts{}) {
		t.Errorf("no blank: %+v, %v", got, err)
	}
	if _, err := Count([]string{"a"}, [][]string{{"a", "b"}}, 5, nil); err == nil {
		t.Error("two words for one blank")
	}
}

// Gaps made by hand: the first is what stood there, one is, its length, F1 of its words.
func TestCountGap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		original, fillings string // fillings with slashes between
		among              int
		want               [4]float64
	}{
		{"New York", "New York/Paris", 5, [4]float64{1, 1, 1, 1}},
		{"New  York", "New York", 5, [4]float64{1, 1, 1, 1}},                       // white space
		{"New York", "York New", 5, [4]float64{0, 0, 1, 1}},                        // the order
		{"New York", "Paris/New York", 5, [4]float64{0, 1, 0, 0}},                  // the second
		{"New York", "Paris/New York", 1, [4]float64{0, 0, 0, 0}},                  // which does not count
		{"New York", "New York City", 5, [4]float64{0, 0, 0, 4. / 5}},              // 2·2 of 3 + 2
		{"a b c d", "a x", 5, [4]float64{0, 0, 0, 2. / 6}},                         // 2·1 of 2 + 4
		{"a", "a a a", 5, [4]float64{0, 0, 0, 2. / 4}},                             // a word counts once
		{"a a b", "a a c/a a b", 5, [4]float64{0, 1, 1, 4. / 6}},                   // and twice if twice
		{"a", "b/c/d/e/f/a", 5, [4]float64{0, 0, 1, 0}},                            // the sixth
		{"a b", "", 5, [4]float64{}},                                               // nothing was filled
		{"a b", "a b", 0, [4]float64{}},                                            // none counts
		{"the old man", "The old man/the old man", 2, [4]float64{0, 1, 1, 4. / 6}}, // bytes
	} {
		var fillings []string
		if c.fillings != "" {
			fillings = strings.Split(c.fillings, "/")
		}
		got := CountGap(c.original, fillings, c.among,
			func(filled, original string) bool { return filled == original })
		if got != (Counts{Words: 1, Lines: 1, Back: c.want}) {
			t.Errorf("%q, %q among %d: %+v, want %v", c.original, c.fillings, c.among, got, c.want)
		}
	}
	got := CountGap("Old Man", []string{"old man"}, 1, strings.EqualFold)
	if got.Back != [4]float64{1, 1, 1, 1} {
		t.Errorf("without regard to case: %+v", got)
	}
}

// draw makes lines with n blanks each, or with -n of 1 to n, and what a run makes of them.
func draw(rng *rand.Rand, lines, n int) (originals [][]string, fillings [][][]string) {
	words := []string{"a", "b", "c"}
	for range lines {
		blanks := n
		if n < 0 {
			blanks = 1 + rng.IntN(-n)
		}
		row := func() []string {
			out := make([]string, blanks)
			for i := range out {
				out[i] = words[rng.IntN(len(words))]
			}
			return out
		}
		originals = append(originals, row())
		var some [][]string
		for range rng.IntN(7) {
			some = append(some, row())
		}
		fillings = append(fillings, some)
	}
	return originals, fillings
}

// again counts in another way: measure after measure, over sets of what is right.
func again(originals [][]string, fillings [][][]string, among int) (back, of [4]float64) {
	for k, original := range originals {
		some := fillings[k][:min(among, len(fillings[k]))]
		for i, w := range original {
			of[words]++
			of[wordsAmong]++
			at := slices.IndexFunc(some, func(f []string) bool { return f[i] == w })
			if at == 0 {
				back[words]++
			}
			if at >= 0 {
				back[wordsAmong]++
			}
		}
		of[lines]++
		of[linesAmong]++
		at := slices.IndexFunc(some, func(f []string) bool { return slices.Equal(f, original) })
		if at == 0 {
			back[lines]++
		}
		if at >= 0 {
			back[linesAmong]++
		}
	}
	return back, of
}

func counts(t *testing.T, originals [][]string, fillings [][][]string, among int) []Counts {
	t.Helper()
	out := make([]Counts, len(originals))
	for k := range out {
		var err error
		if out[k], err = Count(originals[k], fillings[k], among, nil); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// The shares agree with another count, for lines of equal and of different numbers of blanks.
func TestShareIsCountedAgain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := []int{1, 2, 3, -3}[rng.IntN(4)]
		originals, fillings := draw(rng, 1+rng.IntN(20), n)
		among := 1 + rng.IntN(6)
		back, of := again(originals, fillings, among)
		for m, f := range Share(counts(t, originals, fillings, among), .95) {
			if want := back[m] / of[m]; math.Abs(f.Value-want) > 1e-12 {
				t.Fatalf("measure %d: %v, want %v", m, f.Value, want)
			}
		}
	}
}

// The interval of lines with equally many blanks is Student's, of the mean of the lines' shares:
// t·s/√n. That of a difference is the one of the lines' differences.
func TestIntervalsAreStudents(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	interval := func(x []float64, level float64) (mean, half float64) {
		n, square := float64(len(x)), 0.0
		for _, v := range x {
			mean += v / n
		}
		for _, v := range x {
			square += (v - mean) * (v - mean)
		}
		return mean, interval.Student(level, len(x)-1) * math.Sqrt(square/(n-1)/n)
	}
	of := func(c Counts, m measure) float64 {
		if m == words || m == wordsAmong {
			return float64(c.Back[m]) / float64(c.Words)
		}
		return float64(c.Back[m])
	}
	same := func(name string, f figure, x []float64, level, least float64) {
		mean, half := interval(x, level)
		if half == 0 {
			if !math.IsNaN(f.Low) || !math.IsNaN(f.High) {
				t.Errorf("%s: lines that are alike have an interval: %+v", name, f)
			}
			return
		}
		low, high := max(least, mean-half), min(1, mean+half)
		if math.Abs(f.Value-mean) > 1e-12 || math.Abs(f.High-high) > 1e-9 ||
			math.Abs(f.Low-low) > 1e-9 {
			t.Errorf("%s: %+v, want %v ± %v", name, f, mean, half)
		}
	}
	for range 50 {
		n, lines, level := 1+rng.IntN(3), 2+rng.IntN(40), []float64{.9, .95, .99}[rng.IntN(3)]
		originals, fillings := draw(rng, lines, n)
		_, others := draw(rng, lines, n)
		a, b := counts(t, originals, fillings, 5), counts(t, originals, others, 5)
		less, err := Less(b, a, level)
		if err != nil {
			t.Fatal(err)
		}
		for m, f := range Share(a, level) {
			var x, d []float64
			for k := range a {
				x = append(x, of(a[k], measure(m)))
				d = append(d, of(b[k], measure(m))-of(a[k], measure(m)))
			}
			same("share", f, x, level, 0)
			same("difference", less[m], d, level, -1)
		}
	}
}

// Of two lines, of which one came back, Student's interval would be .5 ± 6.35.
func TestIntervalsEndWhereSharesDo(t *testing.T) {
	t.Parallel()
	back := Counts{Words: 1, Lines: 1, Back: [measures]float64{1, 1, 1, 1}}
	lost := Counts{Words: 1, Lines: 1}
	for _, f := range Share([]Counts{back, lost}, .95) {
		if f != (figure{.5, 0, 1}) {
			t.Errorf("a share: %+v", f)
		}
	}
	less, err := Less([]Counts{lost, lost}, []Counts{back, lost}, .95)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range less {
		if f != (figure{-.5, -1, 1}) {
			t.Errorf("a difference: %+v", f)
		}
	}
}

// A paired difference knows what the lines have in common: of a run and itself with one line more
// right it is narrower than the intervals of both.
func TestDifferencesArePaired(t *testing.T) {
	t.Parallel()
	var a []Counts
	for k := range 20 {
		c := Counts{Words: 1, Lines: 1}
		if k%2 == 0 {
			c.Back = [4]float64{1, 1, 1, 1}
		}
		a = append(a, c)
	}
	b := slices.Clone(a)
	b[1].Back = [4]float64{1, 1, 1, 1}
	less, err := Less(b, a, .95)
	if err != nil {
		t.Fatal(err)
	}
	width := func(f figure) float64 { return f.High - f.Low }
	if d := less[words]; math.Abs(d.Value-.05) > 1e-12 ||
		!(width(d) < width(Share(a, .95)[words])/2) {
		t.Errorf("%+v", d)
	}
}

// What has no figure is NaN, and no error but for lines that are not the same.
func TestFewLines(t *testing.T) {
	t.Parallel()
	one := []Counts{{Words: 2, Lines: 1, Back: [4]float64{1, 2, 0, 1}}}
	for m, f := range Share(one, .95) {
		if want := []float64{.5, 1, 0, 1}[m]; f.Value != want || !math.IsNaN(f.Low) {
			t.Errorf("one line: %+v, want %v", f, want)
		}
	}
	for _, f := range Share(nil, .95) {
		if !math.IsNaN(f.Value) || !math.IsNaN(f.High) {
			t.Errorf("no line: %+v", f)
		}
	}
	if _, err := Less(one, nil, .95); !errors.Is(err, ErrUnpaired) {
		t.Errorf("%v", err)
	}
	other := []Counts{{Words: 3, Lines: 1}}
	if _, err := Less(one, other, .95); !errors.Is(err, ErrUnpaired) {
		t.Errorf("%v", err)
	}
}
