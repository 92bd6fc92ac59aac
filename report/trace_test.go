package report_test

import (
	"math"
	"slices"
	"testing"

	"infill/report/measure"
)

// Traces that know their evaluations are averaged at equal evaluations, however
// many steps they took.
func TestTracesByEvaluations(t *testing.T) {
	t.Parallel()
	c := small()
	c.Sources = append(c.Sources, c.Sources[0])
	for i := range c.Samplers {
		c.Samplers[i].Sentences = append(c.Samplers[i].Sentences, c.Samplers[i].Sentences[0])
	}
	c.Samplers[0].Chains = []measure.ChainTrace{
		{
			Sentence: 0, Evaluations: []float64{2, 3, 4}, Energy: []float64{-4, -3, -2},
			Accepted: []float64{math.NaN(), 0, 1},
		},
		{
			Sentence: 1, Evaluations: []float64{1.5, 1.5, 2.5, 4.5},
			Energy: []float64{-9, -8, math.Inf(1), -6}, Accepted: []float64{math.NaN(), 0, 1, 1},
		},
	}
	r, err := compare(c, nil, measure.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tr := r.Traces[0]
	// At 2: −4 and −8. At 3: −3 and nothing finite. At 4: −2, the other as it was. At 4.5: −2 and −6.
	for name, c := range map[string]struct{ got, want []float64 }{
		"x":          {tr.X, []float64{2, 3, 4, 4.5}},
		"energy":     {tr.Energy, []float64{-6, -3, -2, -4}},
		"acceptance": {tr.Acceptance, []float64{0, 0.5, 1, 1}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s %v, want %v", name, c.got, c.want)
		}
	}
	if !tr.Evaluations {
		t.Error("the axis is not evaluations")
	}
}

// A few chains that go on past the budget do not bend the course of acceptance.
func TestAcceptanceEndsWithHalfTheChains(t *testing.T) {
	t.Parallel()
	c := small()
	var chains []measure.ChainTrace
	for k := range 10 {
		steps := 20
		if k >= 7 {
			steps = 30 // and accept nothing from then on
		}
		tr := measure.ChainTrace{}
		for s := range steps {
			tr.Energy = append(tr.Energy, -1)
			tr.Accepted = append(tr.Accepted, float64(min(1, max(0, 20-s))))
			tr.Evaluations = append(tr.Evaluations, float64(s+1))
		}
		chains = append(chains, tr)
	}
	c.Samplers[0].Chains = chains
	r, err := compare(c, nil, measure.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Traces[0].Acceptance
	if len(got) != 30 || len(r.Traces[0].Energy) != 30 {
		t.Fatalf("%d acceptances", len(got))
	}
	for k, a := range got {
		if k < 20 && a != 1 || k >= 20 && !math.IsNaN(a) {
			t.Errorf("acceptance %v at step %d", a, k+1)
		}
	}
}
