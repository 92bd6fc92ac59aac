package infill

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/mlm"
	"infill/samplers"
)

// The ratios of a state's neighbours from all coordinates are the differences of U, those
// from one coordinate at a time have them as their mean.
func TestEstimateRatios(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := tiny(t)
	for _, c := range []struct {
		text string
		opt  Options
	}{
		{"a [MASK|dog|cat|fox|red] and [MASK|old|big] in the [MASK|house|garden|tree] .", Options{}},
		{"a [MASK:a|dog|cat|fox] and [MASK|old|big red] near a [MASK:a] .",
			Options{Sampling: SamplingOptions{Temperature: 1.7}}},
		{"the [MASK|dog|cat|fox] saw the [MASK|dog|cat] .", Options{Words: WordOptions{NoRepeat: text.RepeatText}}},
		{"the [MASK|dog|cat] saw [MASK|a|the] [MASK|dog|fox] .", Options{}},
	} {
		tm, err := text.Parse(m.Tokenizer(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		engine := New(m)
		if c.opt.Sampling.Temperature > 0 {
			engine = New(m).WithMemo(0)
		}
		tgt := targetOf(t, engine, tm, c.opt)
		d := tgt.Product
		x := make([]int32, len(tgt.Coords))
		x[0] = 2 % int32(d.K(0))
		var states [][]int32
		var entries []int
		for i := range x {
			for v := range d.K(i) {
				y := append([]int32(nil), x...)
				y[i] = int32(v)
				states, entries = append(states, y), append(entries, d.GradOffset(i)+v)
			}
		}
		u, here := make([]float64, len(states)), make([]float64, 1)
		if err := tgt.Energy(ctx, states, u); err != nil {
			t.Fatal(err)
		}
		if err := tgt.Energy(ctx, [][]int32{x}, here); err != nil {
			t.Fatal(err)
		}
		estimate := func(batch int, seed uint64) []float64 {
			got := make([]float64, d.GradLen())
			err := tgt.EstimateRatios(ctx, [][]int32{x}, batch,
				[]*rand.Rand{rand.New(rand.NewPCG(seed, 1))}, [][]float64{got}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		mean, seen := make([]float64, d.GradLen()), map[int]bool{}
		for seed := uint64(0); len(seen) < len(x); seed++ { // every coordinate is the batch once
			s := rand.New(rand.NewPCG(seed, 1)).Perm(len(x))[0]
			if seen[s] {
				continue
			}
			seen[s] = true
			for j, v := range estimate(1, seed) {
				mean[j] += v / float64(len(x))
			}
		}
		full := estimate(len(x)+3, 5)
		impossible := 0
		for n, e := range entries {
			want := u[n] - here[0]
			for what, got := range map[string]float64{"all": full[e], "mean of single": mean[e]} {
				if math.Abs(got-want) > 1e-4 && !(math.IsInf(want, -1) && math.IsInf(got, -1)) {
					t.Errorf("%q: %s coordinates: log-ratio of %v is %.6f, want %.6f", c.text, what,
						states[n], got, want)
				}
			}
			if math.IsInf(want, -1) {
				impossible++
			}
		}
		if (c.opt.Words.NoRepeat == text.RepeatText) != (impossible > 0) {
			t.Errorf("%q: %d impossible neighbours", c.text, impossible)
		}
	}
}

// With ratios from all coordinates a chain of SGDLD is a jump process with the exact rates,
// also at h = 1: its weighted states have the enumerated law, with constraints between
// blanks too. Taylor rates have another.
func TestSGDLDOnTextIsExactWithRatios(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const line = "the [MASK|dog|cat|fox] saw [MASK|a|the|in] [MASK|dog|cat|fox] ."
	m := tiny(t)
	for _, c := range []struct {
		name  string
		s     samplers.SGDLD
		opt   Options
		exact bool
	}{
		{"ratios", samplers.SGDLD{Jump: 1, Batch: 3}, Options{}, true},
		{"ratios, no word twice", samplers.SGDLD{Jump: 1, Batch: 3},
			Options{Words: WordOptions{NoRepeat: text.RepeatText}}, true},
		{"taylor", samplers.SGDLD{Jump: 1, Batch: 3, Rates: samplers.TaylorRates}, Options{}, false},
	} {
		tm, err := text.Parse(m.Tokenizer(), line)
		if err != nil {
			t.Fatal(err)
		}
		c.opt.Sampling.Gradient = mlm.Forward // far from the gradient, so that the difference is seen
		tgt := targetOf(t, New(m), tm, c.opt)
		want, sum := map[[3]int32]float64{}, 0.0
		for n := range int32(27) {
			x := [3]int32{n % 3, n / 3 % 3, n / 9}
			u := make([]float64, 1)
			if err := tgt.Energy(ctx, [][]int32{x[:]}, u); err != nil {
				t.Fatal(err)
			}
			want[x] = math.Exp(u[0])
			sum += want[x]
		}
		starts := make([][]int32, 20)
		for k := range starts {
			starts[k] = []int32{int32(k % 3), 0, int32((k + 1) % 3)}
		}
		run, err := samplers.Start(ctx, &c.s, tgt, starts, samplers.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		got, total := [27]float64{}, 0.0
		err = run.Steps(ctx, 1800, func(r *samplers.Run) error {
			if r.Done() < 300 {
				return nil
			}
			for k, x := range r.X {
				w := math.Exp(r.LogWeight[k]) // of a few words, so that it is a number
				got[x[0]+3*x[1]+9*x[2]] += w
				total += w
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		tv := 0.0
		for x, p := range want {
			tv += math.Abs(p/sum-got[x[0]+3*x[1]+9*x[2]]/total) / 2
		}
		t.Logf("%s: total variation %.4f", c.name, tv)
		if c.exact != (tv < 0.03) {
			t.Errorf("%s: total variation %.4f", c.name, tv)
		}
	}
}

func TestSGDLDRefusesTheRatiosOfAVocabulary(t *testing.T) {
	t.Parallel()
	tm, err := text.Parse(tiny(t).Tokenizer(), "the [MASK] and the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	tgt := targetOf(t, New(tiny(t)), tm, Options{})
	if _, cheap := tgt.RatioKind(); cheap {
		t.Error("the ratios of a vocabulary are called affordable")
	}
	wide, err := samplers.NewDomain(samplers.Coord{K: 20000})
	if err != nil {
		t.Fatal(err)
	}
	_, err = samplers.Start(context.Background(), named(t, "sgdld", map[string]string{"rates": "ratios"}),
		wideTarget{tgt, wide}, [][]int32{{0}}, samplers.Options{})
	if !errors.Is(err, samplers.ErrTooMany) {
		t.Errorf("the ratios of 20000 words: %v", err)
	}
}

// wideTarget is a target with a vocabulary.
type wideTarget struct {
	*target.Target
	domain *samplers.Domain
}

func (w wideTarget) Domain() *samplers.Domain { return w.domain }
