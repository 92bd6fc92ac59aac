package infill

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
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

// A model that states what stays exact is in 8 bits for a search, and in float32 altogether for a
// sampler that needs gradients, second models too. Where 8 bits are named that sampler is refused.
func TestGradientsOfAModelInInt8(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tinyFolder)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	config, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config = bytes.Replace(config, []byte("{"), []byte(`{"int8_exact":[],`), 1)
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	opened := func(o mlm.Options) *mlm.Model {
		m, err := mlm.OpenDir(t.Context(), dir, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		return m
	}
	auto := opened(mlm.Options{Precision: mlm.Auto, Forward: true})
	named, exact := opened(mlm.Options{Precision: mlm.Int8}), opened(mlm.Options{})
	fill := func(m *mlm.Model, opt Options) (*Result, error) {
		opt.Words.Terms = []Weighted{{Term: NewSecondModel("second", m), Weight: 0.5}}
		return New(m).FillText(t.Context(), "the [MASK] sees the [MASK] .", opt)
	}
	langevin := Options{Seed: 3, Results: ResultOptions{Score: ScorePLL},
		Sampling: SamplingOptions{Sampler: &samplers.DMALA{}, Chains: 6, Steps: 8}}
	for _, c := range []struct {
		opt  Options
		like *mlm.Model
		p    mlm.Precision
	}{{Options{}, named, mlm.Int8}, {langevin, exact, mlm.Float32}, {Options{}, named, mlm.Int8}} {
		got, err := fill(auto, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		want, err := fill(c.like, c.opt)
		if err != nil || !reflect.DeepEqual(got.Fillings, want.Fillings) {
			t.Errorf("%v: %+v, want %+v (%v)", c.p, got.Fillings, want.Fillings, err)
		}
	}
	if p, ok := auto.Gradients(); auto.Precision() != mlm.Int8 || p != mlm.Float32 || !ok {
		t.Errorf("%v, gradients in %v: %v", auto.Precision(), p, ok)
	}
	if _, _, gradients := auto.Work(); gradients.Rows == 0 {
		t.Error("the work of the gradients is not counted")
	}
	if _, ok := named.Gradients(); ok {
		t.Error("there are gradients in 8 bits")
	}
	if _, err := fill(named, langevin); !errors.Is(err, mlm.ErrNoGradient) {
		t.Errorf("gradients in 8 bits: %v", err)
	}
}
