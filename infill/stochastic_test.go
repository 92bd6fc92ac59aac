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

// The estimate of U and ∇U, averaged over all subsets of a size, is U and ∇U.
func TestStochasticGradUnbiased(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := tiny(t)
	for _, c := range []struct {
		text string
		mode mlm.GradientMode
	}{
		{"the [MASK] [MASK] in the [MASK] .", mlm.Full},
		{"the [MASK] [MASK] in the [MASK] .", mlm.Forward},
		{"a [MASK:a] and [MASK] near a [MASK:a] and a [MASK|dog|cat|fox] .", mlm.Full},
	} {
		tm, err := text.Parse(m.Tokenizer(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		tgt := targetOf(t, New(m), tm, Options{Sampling: SamplingOptions{Gradient: c.mode}})
		x := make([]int32, len(tgt.Coords))
		for i := range x {
			x[i] = int32((5*i + 3) % tgt.Coords[i].K())
		}
		u, grad := make([]float64, 1), zeros[float64](1, tgt.Product.GradLen())
		if err := tgt.EnergyGrad(ctx, [][]int32{x}, u, grad); err != nil {
			t.Fatal(err)
		}
		l := tgt.LayoutOf(x, nil)
		n := len(l.Sentence.Blanks)
		for size := 2; size <= n; size++ {
			meanU, mean, subsets := 0.0, make([]float64, len(grad[0])), 0
			for set := range 1 << n {
				var s []int
				for i := range n {
					if set>>i&1 == 1 {
						s = append(s, i)
					}
				}
				if len(s) != size {
					continue
				}
				g := make([]float64, len(mean))
				e, err := tgt.Estimate(ctx, tgt.Model, x, l, s, g)
				if err != nil {
					t.Fatal(err)
				}
				subsets++
				meanU += e
				for i := range g {
					mean[i] += g[i]
				}
			}
			if d := math.Abs(meanU/float64(subsets) - u[0]); d > 1e-4 {
				t.Errorf("%q: subsets of %d: mean energy off by %v", c.text, size, d)
			}
			worst := 0.0
			for i := range mean {
				worst = max(worst, math.Abs(mean[i]/float64(subsets)-grad[0][i]))
			}
			if worst > 1e-3 {
				t.Errorf("%q: subsets of %d: mean gradient off by %v", c.text, size, worst)
			}
		}
	}
}

func TestStochasticGradRefusesJointConstraints(t *testing.T) {
	t.Parallel()
	m := tiny(t)
	tm, err := text.Parse(m.Tokenizer(), "the [MASK] and the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(m).Fill(context.Background(), tm,
		Options{Sampling: SamplingOptions{Sampler: &samplers.SGDLD{}},
			Words: WordOptions{NoRepeat: text.RepeatText}})
	if !errors.Is(err, samplers.ErrUnsupported) {
		t.Errorf("no-repeat with sgdld: %v", err)
	}
}

// A shortlist is the likeliest candidates with all blanks masked.
func TestShortlist(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := tiny(t)
	tm, err := text.Parse(m.Tokenizer(), "the [MASK] sleeps in the [MASK] .")
	if err != nil {
		t.Fatal(err)
	}
	plain := targetOf(t, New(m), tm, Options{})
	all := zeros[float32](2, m.VocabSize())
	if err := m.Independent(ctx, &mlm.Sentence{IDs: tm.IDs, Blanks: tm.Positions()}, all); err != nil {
		t.Fatal(err)
	}
	cut := targetOf(t, New(m), tm, Options{})
	if err := cut.Restrict(ctx, 7); err != nil {
		t.Fatal(err)
	}
	for i := range cut.Coords {
		kept := map[int32]bool{}
		worst := math.Inf(1)
		for _, id := range cut.Coords[i].IDs {
			kept[id] = true
			worst = min(worst, float64(all[i][id]))
		}
		if len(kept) != 7 || cut.Product.K(i) != 7 {
			t.Fatalf("blank %d: %d candidates", i+1, len(kept))
		}
		for _, id := range plain.Coords[i].IDs {
			if !kept[id] && float64(all[i][id]) > worst {
				t.Errorf("blank %d: %s is left out though it is likelier", i+1, m.Tokenizer().Token(id))
			}
		}
	}
	// Every filling of a run comes from the shortlist.
	allowed := map[string]bool{}
	for _, id := range cut.Coords[0].IDs {
		allowed[m.Tokenizer().Token(id)] = true
	}
	r, err := New(
		m,
	).Fill(ctx, tm, Options{Sampling: SamplingOptions{Sampler: &samplers.GWG{}, Shortlist: 7,
		Steps: 10, Chains: 12}, Results: ResultOptions{All: true,
		Score: ScorePLL}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fillings {
		if !allowed[f.Tokens[0]] {
			t.Errorf("%q is not on the shortlist", f.Tokens[0])
		}
	}
	if r.Shortlist != 7 {
		t.Errorf("the result says %d candidates", r.Shortlist)
	}
}
