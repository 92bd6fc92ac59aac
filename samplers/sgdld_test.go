package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// ratios is a target on bits with given ratios of neighbours to the state, the
// same at every state, and with faults at chosen calls.
type ratios struct {
	flat
	r     []float64
	fault map[int]func(num, den []float64)
	calls int
}

func (t *ratios) EstimateRatios(_ context.Context, x [][]int32, _ int, _ []*rand.Rand, num, den [][]float64) error {
	for k := range x {
		for i, r := range t.r {
			num[k][i], den[k][i] = r/2, 0.5
		}
		if f := t.fault[t.calls]; f != nil {
			f(num[k], den[k])
		}
	}
	t.calls++
	return nil
}

// noisyTable is a table with faults at chosen calls of StochasticGrad.
type noisyTable struct {
	*tableTarget
	fault map[int]float64
	calls int
}

func (t *noisyTable) StochasticGrad(ctx context.Context, x [][]int32, batch int, rng []*rand.Rand, u []float64, g [][]float64) error {
	err := t.tableTarget.StochasticGrad(ctx, x, batch, rng, u, g)
	if e, bad := t.fault[t.calls]; bad {
		g[0][len(g[0])-1] = e
	}
	t.calls++
	return err
}

// TestSGDLDLeavesOutSickEstimates: an estimate that is no number is counted
// once, and the chain goes on as if the mini-batch had not been drawn.
func TestSGDLDLeavesOutSickEstimates(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for _, d := range []*Domain{Categories(3, 3), Bits(4), Integers(3, 3, 0)} {
		for _, noCache := range []bool{false, true} {
			tab := newTable(rng, d, 0.5, 0)
			faults := map[int]float64{20: math.NaN(), 60: math.Inf(1), 61: math.Inf(-1), 100: math.NaN()}
			target := &noisyTable{tableTarget: tab, fault: faults}
			run, err := Start(context.Background(), &SGDLD{NoCache: noCache}, target, [][]int32{make([]int32, d.Len())}, Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			err = run.Steps(context.Background(), 1000, func(r *Run) error {
				w := r.Weight[0]
				_, bad := faults[r.Done()]
				if math.IsNaN(w) || math.IsInf(w, 0) || w < 0 || w == 0 && !bad {
					t.Errorf("after step %d the weight is %g", r.Done(), w)
				}
				if bad && r.Last[0].Accepted && r.Last[0].Moved {
					t.Errorf("step %d ends at a state without an estimate", r.Done())
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if st := run.Stats[0]; st.NonFinite != len(faults) || st.Moved < 100 || st.Steps != 1000 || st.Hamming > st.Moved {
				t.Errorf("no cache %v: %+v after %d sick estimates", noCache, st, len(faults))
			}
		}
	}
}

// TestSGDLDSickCacheKeepsItsMean: with h so small that the chain stays, a sick
// ratio changes nothing of the weight, which the cached mean gives.
func TestSGDLDSickCacheKeepsItsMean(t *testing.T) {
	for what, fault := range map[string]func(num, den []float64){
		"NaN":       func(num, _ []float64) { num[1] = math.NaN() },
		"infinite":  func(num, _ []float64) { num[0] = math.Inf(1) },
		"NaN below": func(_, den []float64) { den[0] = math.NaN() },
	} {
		target := &ratios{flat: flat{Bits(2)}, r: []float64{3, 1. / 3}, fault: map[int]func(num, den []float64){3: fault}}
		run, err := Start(context.Background(), &SGDLD{Jump: 1e-9}, target, [][]int32{{0, 0}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Steps(context.Background(), 6, func(r *Run) error {
			// g(3) + g(1/3) = 3/4 + 1/4.
			if w := r.Weight[0]; math.Abs(w-1e-9) > 1e-20 {
				t.Errorf("%s: weight %g after step %d, want h", what, w, r.Done())
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSGDLDWithoutFirstEstimate: a chain whose start has no estimate yet stays,
// with weight 0, until it has one.
func TestSGDLDWithoutFirstEstimate(t *testing.T) {
	sick := func(num, _ []float64) { num[0] = math.NaN() }
	target := &ratios{flat: flat{Bits(2)}, r: []float64{1, 1}, fault: map[int]func(num, den []float64){0: sick, 1: sick}}
	run, err := Start(context.Background(), &SGDLD{Jump: 1}, target, [][]int32{{0, 0}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []struct {
		weight float64
		moved  int
	}{{0, 0}, {0, 0}, {1, 0}, {1, 1}} {
		if n > 0 {
			if err := run.Step(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if run.Weight[0] != want.weight || run.Stats[0].Hamming != want.moved {
			t.Errorf("after %d steps: weight %g and %d moves, want %+v", n, run.Weight[0], run.Stats[0].Hamming, want)
		}
	}
	if run.Stats[0].NonFinite != 2 {
		t.Errorf("%d sick estimates counted, want 2", run.Stats[0].NonFinite)
	}
}
