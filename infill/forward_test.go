package infill

import (
	"context"
	"reflect"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// TestForwardModel: a model that was opened without its backward pass gives the same results, and is
// opened again for a sampler that needs gradients.
func TestForwardModel(t *testing.T) {
	t.Parallel()
	whole := tiny(t)
	without, err := mlm.OpenDir(t.Context(), tinyFolder, mlm.Options{Forward: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = without.Close() }()
	for name, c := range map[string]struct {
		text  string
		opt   Options
		needs bool
	}{
		"default": {"the [MASK] sees the [MASK] .", Options{}, false},
		"rows": {"the [MASK] sees the [MASK] .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.Rows{}}}, false},
		"gibbs-mh": {"the [MASK] sees the [MASK] .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.GibbsMH{}}}, false},
		"one's own": {"the [MASK] sees the [MASK] .",
			Options{Sampling: SamplingOptions{Sampler: randomWalk{}}}, false},
		"tied":      {"the [MASK:a] sees the [MASK:a] .", Options{}, false},
		"one state": {"the [MASK|red] sees the [MASK|dogs] .", Options{Method: MethodSample}, false},
		"dmala, forward": {"the [MASK] sees the [MASK] .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.DMALA{}, Gradient: mlm.Forward}}, false},
		"dmala": {"the [MASK] sees the [MASK] .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.DMALA{}}}, true},
		"sgdld": {"the [MASK] sees the [MASK] .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.SGDLD{}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.opt.Seed, c.opt.Sampling.Chains, c.opt.Sampling.Steps, c.opt.Results.Score = 3, 6, 8, ScorePLL
			if got := c.opt.NeedsGradient(); got != c.needs {
				t.Fatalf("needs a gradient: %v", got)
			}
			var results [2]*Result
			for i, m := range []*mlm.Model{whole, without} {
				tm, err := text.Parse(m.Tokenizer(), c.text)
				if err != nil {
					t.Fatal(err)
				}
				if results[i], err = New(m).Fill(context.Background(), tm, c.opt); err != nil {
					t.Fatalf("model %d: %v", i, err)
				}
			}
			if !reflect.DeepEqual(results[0].Fillings, results[1].Fillings) ||
				results[0].Rows != results[1].Rows || results[0].Repeated != results[1].Repeated {
				t.Errorf("%+v\nand without a backward pass\n%+v", results[0], results[1])
			}
		})
	}
	for method, needs := range map[Method]bool{MethodAuto: false, MethodSearch: false, MethodExact: true,
		MethodSample: true} {
		if o := (Options{Method: method,
			Words: WordOptions{Terms: []Weighted{{}}}}); o.NeedsGradient() != needs {
			t.Errorf("%v: terms may have gradients, which samplers ask for: want %v", method, needs)
		}
	}
	if o := (Options{Method: MethodSearch,
		Sampling: SamplingOptions{Sampler: &samplers.DMALA{}}}); o.NeedsGradient() {
		t.Error("a search has no sampler")
	}
}
