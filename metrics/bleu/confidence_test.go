package bleu

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"infill/metrics/corpus"
	"infill/metrics/interval"
	"infill/metrics/ngram"
)

// fillings are sentences, each with five variants in which every fourth word is another. Words are
// drawn by Zipf's law, so that sentences share n-grams as those of a language do.
func fillings(rng *rand.Rand, sources int) (lines []string, units []int) {
	z := rand.NewZipf(rng, 1.3, 2, 300)
	word := func() string { return "w" + strconv.FormatUint(z.Uint64(), 10) }
	for u := range sources {
		words := make([]string, 12)
		for i := range words {
			words[i] = word()
		}
		for range 5 {
			for i := 1; i < len(words); i += 4 {
				words[i] = word()
			}
			lines, units = append(lines, strings.Join(words, " ")), append(units, u)
		}
	}
	return lines, units
}

func plain(t *testing.T, v *corpus.Vocab, lines []string) *corpus.Corpus {
	t.Helper()
	p, err := corpus.NewPipeline(corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := corpus.New(v, p)
	for _, l := range lines {
		if err := c.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func index(t *testing.T, c *corpus.Corpus) *ngram.Index {
	t.Helper()
	x, err := ngram.NewIndex(2, c.Vocab())
	if err == nil {
		err = addCorpus(x, c, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// An interval is as wide as the score really varies between samples of sources: the half width,
// averaged over samples, is the half width of the normal law with the scores' own standard
// deviation. Drawn one by one, the fillings of a source made both half as wide.
func TestIntervalsAreWideEnough(t *testing.T) {
	t.Parallel()
	const samples, sources = 60, 20
	rng := rand.New(rand.NewPCG(5, 6))
	var v corpus.Vocab
	text, _ := fillings(rng, 200)
	refs := index(t, plain(t, &v, text))
	scores := map[string][]float64{}
	half := map[string]float64{}
	take := func(name string, r *Result, err error) {
		t.Helper()
		if err != nil || r.Interval == nil {
			t.Fatal(err, r)
		}
		scores[name] = append(scores[name], r.Score)
		half[name] += (r.Interval.High - r.Interval.Low) / 2 / samples
	}
	for range samples {
		lines, units := fillings(rng, sources)
		c := plain(t, &v, lines)
		o := Options{Order: 2, Confidence: &Confidence{Units: units, Resamples: 200}}
		r, err := Corpus(c, refs, o)
		take("corpus", r, err)
		for _, variant := range []string{pooled, mean, group} {
			r, err = Self(c, SelfOptions{Options: o, Variant: variant, Groups: units})
			take(string("self "+variant), r, err)
		}
	}
	for name, s := range scores {
		mean, square := 0.0, 0.0
		for _, x := range s {
			mean += x / samples
		}
		for _, x := range s {
			square += (x - mean) * (x - mean) / (samples - 1)
		}
		if ratio := half[name] / 1.96 / math.Sqrt(square); !(ratio > 0.75 && ratio < 1.5) {
			t.Errorf("%s: %.2f of the half width that samples have", name, ratio)
		}
	}
}

// A jackknife is Tukey's formula on the scores without a unit, each computed by itself.
func TestJackknife(t *testing.T) {
	t.Parallel()
	var v corpus.Vocab
	lines, units := fillings(rand.New(rand.NewPCG(7, 8)), 6)
	for i := range units {
		units[i] = 9 - units[i]
	}
	for _, variant := range []string{pooled, mean} {
		score := func(lines []string, c *Confidence) *Result {
			r, err := Self(plain(t, &v, lines), SelfOptions{Variant: variant,
				Options: Options{Order: 2, Confidence: c}})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := score(lines, &Confidence{Units: units, Level: 0.9})
		var without []float64
		mean, square := 0.0, 0.0
		for u := range 6 {
			var rest []string
			for i, l := range lines {
				if units[i] != 9-u {
					rest = append(rest, l)
				}
			}
			without = append(without, score(rest, nil).Score)
			mean += without[u] / 6
		}
		for _, x := range without {
			square += (x - mean) * (x - mean)
		}
		half := interval.Student(0.9, 5) * math.Sqrt(square*5/6)
		if iv := r.Interval; math.Abs(iv.Low-(r.Score-half)) > 1e-12 ||
			math.Abs(iv.High-(r.Score+half)) > 1e-12 || math.Abs(iv.Mean-mean) > 1e-12 {
			t.Errorf("%s: %+v, want %v ± %v", variant, iv, r.Score, half)
		}
		if want := "|jk:6|units:6|ci:0.9|v:1"; !strings.HasSuffix(r.Signature, want) {
			t.Errorf("signature %s does not end in %s", r.Signature, want)
		}
	}
}

// Copies of a sentence say nothing new: with them as units a bootstrap is what it is without them.
func TestBootstrapDrawsWholeUnits(t *testing.T) {
	t.Parallel()
	var v corpus.Vocab
	rng := rand.New(rand.NewPCG(9, 10))
	text, _ := fillings(rng, 100)
	refs := index(t, plain(t, &v, text))
	lines, _ := fillings(rng, 8)
	var copies []string
	var units []int
	for i, l := range lines {
		copies, units = append(copies, l, l, l), append(units, i, i, i)
	}
	interval := func(lines []string, units []int) *Result {
		r, err := Corpus(plain(t, &v, lines), refs, Options{Order: 2,
			Confidence: &Confidence{Units: units, Resamples: 100, Seed: 4}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	once, thrice := interval(lines, nil), interval(copies, units)
	if a, b := once.Interval, thrice.Interval; math.Abs(a.Low-b.Low) > 1e-12 ||
		math.Abs(a.High-b.High) > 1e-12 || a.Units != 40 || b.Units != 40 {
		t.Errorf("%+v of the sentences, %+v of three copies of each", a, b)
	}
	if want := "|bs:100|rs:4|units:40|ci:0.95|v:1"; !strings.HasSuffix(thrice.Signature, want) {
		t.Errorf("signature %s does not end in %s", thrice.Signature, want)
	}
}

// Many units are left out in blocks. Too few leave the score without an interval, with a warning.
func TestUnits(t *testing.T) {
	t.Parallel()
	var v corpus.Vocab
	lines, units := fillings(rand.New(rand.NewPCG(11, 12)), 120)
	self := func(n int, o SelfOptions, units []int) (*Result, error) {
		o.Order, o.Confidence = 2, &Confidence{Units: units}
		return Self(plain(t, &v, lines[:n]), o)
	}
	r, err := self(600, SelfOptions{}, units)
	if err != nil || r.Interval.Blocks != MaxBlocks || r.Interval.Units != 120 {
		t.Errorf("%v, %+v", err, r.Interval)
	}
	if r, err = self(600, SelfOptions{Variant: firstN, First: 50}, units); err != nil ||
		r.Interval.Units != 10 || r.Interval.Blocks != 10 {
		t.Errorf("the first 50: %v, %+v", err, r)
	}
	for name, c := range map[string]struct {
		n     int
		o     SelfOptions
		units []int
	}{
		"one source":              {5, SelfOptions{}, units[:5]},
		"two sentences":           {2, SelfOptions{}, nil},
		"one source, mean":        {5, SelfOptions{Variant: mean}, units[:5]},
		"one source, group":       {5, SelfOptions{Variant: group, Groups: units[:5]}, units[:5]},
		"one source of the first": {20, SelfOptions{Variant: firstN, First: 5}, units[:20]},
	} {
		r, err := self(c.n, c.o, c.units)
		if err != nil || r.Interval != nil || count(r.Warnings, ErrFewUnits) != 1 ||
			strings.Contains(r.Signature, "ci:") {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
	if _, err := self(20, SelfOptions{}, units[:7]); !errors.Is(err, ErrUnequal) {
		t.Errorf("20 sentences and 7 units: %v", err)
	}
}
