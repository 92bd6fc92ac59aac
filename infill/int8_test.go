package infill

import (
	"context"
	"math"
	"slices"
	"testing"

	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// Samplers are exact for a model in 8 bits: chains that start from its enumerated distribution stay
// there.
func TestInt8KeepsItsDistribution(t *testing.T) {
	t.Parallel()
	const text = "the [MASK] sleeps in the [MASK] ."
	en, _, _ := enumerate(t, text)
	m, err := mlm.OpenDir(
		context.Background(), tinyFolder, mlm.Options{Threads: 2, Precision: mlm.Int8},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	rounded, _, _ := enumerateWith(t, m, text)
	if slices.Equal(en.u, rounded.u) {
		t.Fatal("energies do not differ")
	}
	en = rounded
	const chains, steps = 4000, 10
	p := en.probabilities()
	for _, s := range []samplers.Sampler{&samplers.GibbsMH{}, &samplers.Rows{}} {
		x0 := en.draw(p, chains, samplers.NewStream(3, s.Info().Name, 0))
		run, err := samplers.Start(
			context.Background(), s, rounded, x0, samplers.Options{Seed: 2, ID: s.Info().Name},
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(context.Background(), steps, nil); err != nil {
			t.Fatal(err)
		}
		if z := chiSquare(en.count(run.X), p); !(math.Abs(z) < threshold) ||
			hamming(run.Stats) == 0 {
			t.Errorf("%s: score %.1f, %d coordinates changed", s.Info().Name, z, hamming(run.Stats))
		}
	}
}

// What is rounded depends on nothing but the row: a whole
// filling is the same for any number of threads and any batches.
func TestInt8SameForAnyBatches(t *testing.T) {
	t.Parallel()
	var want []Filling
	for _, o := range []mlm.Options{{Threads: 1, BatchTokens: 1}, {Threads: 2}, {Threads: 3, BatchTokens: 100}} {
		o.Precision = mlm.Int8
		m, err := mlm.OpenDir(context.Background(), tinyFolder, o)
		if err != nil {
			t.Fatal(err)
		}
		tm, err := text.Parse(m.Tokenizer(), "the [MASK] sleeps in the [MASK] and the [MASK] sees it .")
		if err != nil {
			t.Fatal(err)
		}
		r, err := New(
			m,
		).Fill(context.Background(), tm,
			Options{Sampling: SamplingOptions{Sampler: &samplers.GibbsMH{}, Chains: 6, Steps: 10}, Seed: 5,
				Results: ResultOptions{All: true, Score: ScorePLL}})
		_ = m.Close()
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = r.Fillings
		}
		if !slices.EqualFunc(
			r.Fillings, want,
			func(a, b Filling) bool { return a.Text == b.Text && a.Score == b.Score && a.Chain == b.Chain },
		) {
			t.Errorf("%+v: %v, want %v", o, r.Fillings, want)
		}
	}
}
