package report_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"infill/infill"
	"infill/metrics/bleu"
	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

// pairs is a comparison of two samplers on sources of a vocabulary of their own each. The second
// sampler chooses among more words. Scores are of the source, of the sampler and of the filling.
func pairs(rng *rand.Rand, sources int) *measure.Comparison {
	c := &measure.Comparison{Budget: infill.BudgetEvaluations, Samplers: []measure.SamplerRun{
		{Name: "few", MoveShare: math.NaN(), Acceptance: math.NaN(), Evaluations: 1},
		{Name: "many", MoveShare: math.NaN(), Acceptance: math.NaN(), Evaluations: 1},
	}}
	for range sources {
		length, hard := 3+rng.IntN(8), 3*rng.NormFloat64()
		var words []string
		for range length {
			words = append(words, fmt.Sprint("w", rng.IntN(60)))
		}
		start := strings.Join(words, " ")
		c.Sources = append(c.Sources, read.Source{Text: start + " [MASK]"})
		for s, choice := range []int{3, 6} {
			run := measure.SentenceRun{Distinct: 3 + s + rng.IntN(3), Total: 10}
			for range 4 {
				word := fmt.Sprint("x", rng.IntN(choice))
				run.Fillings = append(run.Fillings, infill.Filling{Text: start + " " + word,
					Spans: [][2]int{{len(start) + 1, len(start) + 1 + len(word)}},
					Score: hard - float64(s) + rng.NormFloat64()})
			}
			c.Samplers[s].Sentences = append(c.Samplers[s].Sentences, run)
		}
	}
	return c
}

func paired(t *testing.T, c *measure.Comparison, refs ...read.Input) *measure.CompareResult {
	t.Helper()
	r, err := compare(c, refs, measure.CompareOptions{Options: withIntervals(2, bleu.Confidence{Resamples: 2})})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The difference of two means has the interval of a paired t test: that of the mean of the sources'
// differences.
func TestDifferenceOfMeans(t *testing.T) {
	t.Parallel()
	const n = 20
	c := pairs(rand.New(rand.NewPCG(1, 2)), n)
	r := paired(t, c)
	if len(r.Differences) != 1 || r.Differences[0].Name != "many" {
		t.Fatalf("%d rows of differences", len(r.Differences))
	}
	score := func(s measure.SentenceRun) (v float64) {
		for _, f := range s.Fillings {
			v += f.Score / float64(len(s.Fillings))
		}
		return v
	}
	distinct := func(s measure.SentenceRun) float64 { return 100 * float64(s.Distinct) / 10 }
	for key, of := range map[string]func(measure.SentenceRun) float64{
		"score": score, "score_per_blank": score, "distinct_fillings": distinct} {
		var d []float64
		mean, square := 0.0, 0.0
		for i := range n {
			d = append(d, of(c.Samplers[1].Sentences[i])-of(c.Samplers[0].Sentences[i]))
			mean += d[i] / n
		}
		for _, x := range d {
			square += (x - mean) * (x - mean) / (n - 1)
		}
		half := 2.09302405441 * math.Sqrt(square/n) // scipy.stats.t.ppf(.975, 19)
		m := metric(t, r.Differences[0], key)
		if math.Abs(m.Value-mean) > 1e-9 || math.Abs(m.Low-mean+half) > 1e-8 ||
			math.Abs(m.High-mean-half) > 1e-8 {
			t.Errorf("%s: %v (%v to %v), want %v ± %v", key, m.Value, m.Low, m.High, mean, half)
		}
	}
}

// Differences vary from sample to sample as their intervals say, and less than if their samplers had
// other sentences each.
func TestDifferencesAreWideEnough(t *testing.T) {
	t.Parallel()
	const samples, sources = 30, 12
	rng := rand.New(rand.NewPCG(3, 4))
	var text []string
	for _, s := range pairs(rng, 100).Samplers[1].Sentences {
		text = append(text, s.Fillings[0].Text)
	}
	values, half, alone := map[string][]float64{}, map[string]float64{}, 0.0
	for range samples {
		r := paired(t, pairs(rng, sources), inMemory("text", text))
		for _, m := range r.Differences[0].Metrics {
			values[m.Key] = append(values[m.Key], m.Value)
			half[m.Key] += (m.High - m.Low) / 2 / samples
		}
		m := metric(t, r.Rows[1], "self_bleu")
		alone += (m.High - m.Low) / 2 / samples
	}
	for _, key := range []string{"self_bleu", "unique.self.2", "unique.text.2", "bleu", "score"} {
		v := values[key]
		if len(v) != samples {
			t.Fatalf("%s: %d values", key, len(v))
		}
		mean, square := 0.0, 0.0
		for _, x := range v {
			mean += x / samples
		}
		for _, x := range v {
			square += (x - mean) * (x - mean) / (samples - 1)
		}
		ratio := half[key] / 2.20098516008 / math.Sqrt(square)
		if !(ratio > 0.75 && ratio < 1.5) {
			t.Errorf("%s: %.2f of the half width that samples have", key, ratio)
		}
	}
	// Independent samplers would have √2 of it and more.
	if half["self_bleu"] > 1.1*alone {
		t.Errorf("self-BLEU: a difference has ± %v, a sampler ± %v", half["self_bleu"], alone)
	}
}

// One sampler has no differences, nor has one source. No renderer prints any.
func TestNoDifferences(t *testing.T) {
	t.Parallel()
	few := func() *measure.Comparison { return pairs(rand.New(rand.NewPCG(5, 6)), 3) }
	one := few()
	one.Samplers = one.Samplers[:1]
	single := few()
	for s := range single.Samplers {
		for i := range single.Samplers[s].Sentences[1:] {
			single.Samplers[s].Sentences[i+1] = measure.SentenceRun{Err: "no"}
		}
	}
	for name, c := range map[string]*measure.Comparison{"one sampler": one, "one source": single} {
		r := paired(t, c)
		if r.Differences != nil {
			t.Errorf("%s: %v", name, r.Differences)
		}
		want := name == "one source"
		if got := slices.ContainsFunc(r.Notes, func(n string) bool {
			return n == "no differences of many: "+
				"it has 1 source of sentences in common with few, and two are needed"
		}); got != want {
			t.Errorf("%s: notes %q", name, r.Notes)
		}
		for kind, render := range renderers(r) {
			var b bytes.Buffer
			if err := render(&b); err != nil || strings.Contains(b.String(), "ifference from") {
				t.Errorf("%s, %s: differences, or %v", name, kind, err)
			}
		}
	}
	r, err := compare(few(), nil, measure.CompareOptions{})
	if err != nil || r.Differences != nil {
		t.Errorf("without intervals: %v, %v", r.Differences, err)
	}
}

// A sampler without a filling has no difference, and others keep theirs. The first N sentences are
// others without some of them, so that their self-BLEU has none.
func TestDifferencesWithoutNumbers(t *testing.T) {
	t.Parallel()
	c := pairs(rand.New(rand.NewPCG(7, 8)), 5)
	empty := measure.SamplerRun{Name: "none", Evaluations: 1,
		Sentences: make([]measure.SentenceRun, len(c.Sources))}
	c.Samplers = append(c.Samplers, empty)
	o := withIntervals(2, bleu.Confidence{})
	o.BLEU.Variant, o.BLEU.First = "first", 8
	r, err := compare(c, nil, measure.CompareOptions{Options: o})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Differences[0].Get("self_bleu"); ok {
		t.Error("self-BLEU of the first 8 has a difference")
	}
	if m := metric(t, r.Differences[0], "score"); !m.OK() || !m.HasInterval() {
		t.Errorf("score %v (%v to %v)", m.Value, m.Low, m.High)
	}
	if len(r.Differences) != 1 || !strings.Contains(strings.Join(r.Notes, "\n"),
		"no differences of none: none filled no sentence") {
		t.Errorf("%d rows of differences, notes %q", len(r.Differences), r.Notes)
	}
	for kind, render := range renderers(r) {
		if err := render(&bytes.Buffer{}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Numbers of other signatures are subtracted, and not marked as if they could be compared.
func TestUnlikeDifferences(t *testing.T) {
	t.Parallel()
	marked := func(fillings int) bool {
		c := pairs(rand.New(rand.NewPCG(9, 10)), 12)
		for i := range c.Samplers[1].Sentences {
			s := &c.Samplers[1].Sentences[i]
			s.Fillings = s.Fillings[:fillings]
			for k := range s.Fillings {
				s.Fillings[k].Score -= 1000
			}
		}
		var b bytes.Buffer
		if err := show.Compare(paired(t, c)).Markdown(&b); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(b.String(), "**-1000.")
	}
	if !marked(4) || marked(3) {
		t.Errorf("of 4 fillings each %v, of 4 and 3 %v", marked(4), marked(3))
	}
}
