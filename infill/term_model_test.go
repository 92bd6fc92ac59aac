package infill

import (
	"context"
	"errors"
	"math"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// Samplers leave the product of two models as it is, the second of another tokenizer, enumerated by
// scores of single pieces.
func TestSecondModelInvariant(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const weight, temp = 0.7, 2.0
	first, second := openSmall(t), tiny(t)
	e, other := New(first), New(second)
	tm, err := text.Parse(e.Tokenizer(), "The [MASK|dog|cat|fish|bird|horse] saw the [MASK|dog|fish|bear|river].")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Sampling: SamplingOptions{Temperature: temp},
		Words: WordOptions{Terms: []Weighted{{Term: NewSecondModel("tiny", second), Weight: weight}}}}
	tgt := targetOf(t, e, tm, opt)
	x, texts := allStates(tgt)
	p, sum, spread := make([]float64, len(x)), 0.0, 0.0
	for i := range x {
		spans := tgt.Spell(x[i], false).Spans
		u, _ := oracle(t, e, texts[i], spans)
		v, pieces := oracle(t, other, texts[i], spans)
		if pieces != 2 {
			t.Fatalf("%q: %d pieces", texts[i], pieces)
		}
		p[i] = math.Exp((u + weight*v) / temp)
		sum += p[i]
		spread = max(spread, math.Abs(v))
	}
	for i := range p {
		p[i] /= sum
	}
	guides := NewSecondModel("tiny", second).Gradients(e.Tokenizer(), true) != nil
	if spread < 2 || guides {
		t.Fatalf("spread %v, gradients: %v", spread, guides)
	}
	if _, err := started(ctx, tgt, 1, "", 1); err != nil {
		t.Fatal(err)
	}
	table := newTabled(tgt)
	for _, s := range []samplers.Sampler{&samplers.Rows{}, &samplers.DMALA{}, &samplers.GibbsMH{}} {
		if z, moved := leave(t, ctx, s, table, x, p, 3); !(z < threshold) || moved == 0 {
			t.Errorf("%s: leaves π of %d states (score %.1f, %d moved)", s.Info().Name, len(p), z, moved)
		}
	}
}

// The product of a model with itself has twice its energy and its gradient. With a model of the
// same vocabulary the gradient is the sum of both, with the weight.
func TestSecondModelGradient(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tinyAgain, err := mlm.OpenDir(ctx, tinyFolder, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tinyAgain.Close() }()
	e := New(tiny(t))
	for _, line := range []string{
		"the [MASK] sleeps in the [MASK] .", "the [MASK:a] and the [MASK|big dog|old cat] saw the [MASK:a] .",
	} {
		tm, err := text.Parse(e.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		const weight = -2.5
		plain := targetOf(t, e, tm, Options{Sampling: SamplingOptions{Temperature: 2}})
		both := targetOf(t, e, tm, Options{Sampling: SamplingOptions{Temperature: 2},
			Words: WordOptions{Terms: []Weighted{{Term: NewSecondModel("again", tinyAgain), Weight: weight}}}})
		x, err := started(ctx, plain, 4, "", 6)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := started(ctx, both, 4, "", 6); err != nil {
			t.Fatal(err)
		}
		n := plain.Product.GradLen()
		u, v := make([]float64, len(x)), make([]float64, len(x))
		g, h := zeros[float64](len(x), n), zeros[float64](len(x), n)
		if err := plain.EnergyGrad(ctx, x, u, g); err != nil {
			t.Fatal(err)
		}
		if err := both.EnergyGrad(ctx, x, v, h); err != nil {
			t.Fatal(err)
		}
		for k := range x {
			if want := (1 + weight) * u[k]; math.Abs(v[k]-want) > 1e-4 {
				t.Errorf("%q: U is %v, want %v", line, v[k], want)
			}
			for i := range g[k] {
				if want := (1 + weight) * g[k][i]; math.Abs(h[k][i]-want) > 1e-3 {
					t.Fatalf("%q: ∇U[%d] is %v, want %v", line, i, h[k][i], want)
				}
			}
		}
	}
}

// DULA, which goes by the gradient alone, takes a model whose gradient it has, and only that.
func TestSecondModelUncorrected(t *testing.T) {
	t.Parallel()
	e := New(tiny(t))
	tm, err := text.Parse(e.Tokenizer(), "the [MASK] saw the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	again := Weighted{Term: NewSecondModel("again", tiny(t)), Weight: 1}
	far := Weighted{Term: NewSecondModel("far", openSmall(t)), Weight: 1}
	idle := Weighted{Term: &toyTerm{name: "toy"}, Weight: 0}
	for _, c := range []struct {
		sampler samplers.Sampler
		terms   []Weighted
		ok      bool
	}{
		{&samplers.DULA{}, []Weighted{again}, true},
		{&samplers.DULA{}, []Weighted{again, idle}, true},
		{&samplers.DULA{}, []Weighted{again, far}, false},
		{&samplers.DULA{Batch: 2}, []Weighted{again}, false},
		{&samplers.Gibbs{}, []Weighted{again}, false},
		{&samplers.SGDLD{}, []Weighted{again}, false},
	} {
		_, err := e.Fill(context.Background(), tm,
			Options{Sampling: SamplingOptions{Sampler: c.sampler, Steps: 2, Chains: 2},
				Words: WordOptions{Terms: c.terms}, Results: ResultOptions{Score: ScorePLL}})
		if c.ok != (err == nil) || err != nil && !errors.Is(err, samplers.ErrUnsupported) {
			t.Errorf("%s of %d terms: %v", c.sampler.Info().Name, len(c.terms), err)
		}
	}
}
