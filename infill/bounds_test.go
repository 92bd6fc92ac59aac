package infill

import (
	"math"
	"testing"

	"infill/infill/text"
	"infill/samplers"
)

// At the least and the largest temperature every sampler still works, and texts keep their scores.
// At 1e-320 the starts had energies of −∞, and the error spoke of the model.
func TestTemperaturesAtTheBounds(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := text.Parse(e.Tokenizer(), "The [MASK] sat on the [MASK].")
	if err != nil {
		t.Fatal(err)
	}
	for _, temperature := range []float64{Ranges.Temperature.Min, Ranges.Temperature.Max} {
		for _, name := range samplers.Names() {
			s, err := samplers.New(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Fill(t.Context(), tm,
				Options{Sampling: SamplingOptions{Chains: 2, Steps: 4, Temperature: temperature, Sampler: s},
					Results: ResultOptions{Score: ScorePLL}})
			if err != nil {
				t.Errorf("%s at %g: %v", name, temperature, err)
				continue
			}
			f := r.Fillings[0]
			want, err := e.ScoreSpans(t.Context(), f.Text, f.Spans, ScorePLL)
			if err != nil || math.Abs(f.Score-want.Score) > 1e-6 {
				t.Errorf("%s at %g: score %v, want %v, %v", name, temperature, f.Score, want, err)
			}
		}
	}
}
