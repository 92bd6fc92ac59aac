package diag

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/internal/domain"
	"infill/lab/targets"
	"infill/samplers"
)

// linear is U = Σ b_i x_i on bits, with its exact ratios as estimates.
type linear struct {
	dom *samplers.Domain
	b   []float64
}

func (l linear) Domain() *samplers.Domain { return l.dom }

func (l linear) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = 0
		for i, v := range x[k] {
			u[k] += l.b[i] * float64(v)
		}
	}
	return nil
}

func (l linear) EstimateRatios(
	_ context.Context, x [][]int32, _ int, _ []*rand.Rand, num, den [][]float64,
) error {
	for k := range x {
		for i, v := range x[k] {
			num[k][i], den[k][i] = l.b[i]*float64(1-2*v), 0
		}
	}
	return nil
}

func (l linear) RatioKind() (ofMeans, cheap bool) { return true, false }

// TestTraceWeighsStates: the states of SGDLD count with their weights, with
// which the mean energy is π's; without them it is far from it.
func TestTraceWeighsStates(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l := linear{domain.Bits(3), []float64{2, -1, 1.5}}
	exact := 0.0
	for _, b := range l.b {
		exact += b / (1 + math.Exp(-b))
	}
	x0 := make([][]int32, 20)
	for k := range x0 {
		x0[k] = make([]int32, 3)
	}
	run, err := samplers.Start(ctx, &samplers.SGDLD{Jump: 0.5}, l, x0, samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var tr Trace
	plain, n := 0.0, 0.0
	if err := run.Steps(ctx, 100, nil); err != nil {
		t.Fatal(err)
	}
	if err := run.Steps(ctx, 4000, func(r *samplers.Run) error {
		if err := r.Refresh(ctx); err != nil {
			return err
		}
		for _, u := range r.U {
			plain += u
			n++
		}
		return tr.Observe(r)
	}); err != nil {
		t.Fatal(err)
	}
	d := tr.Diagnose(run)
	// The chains move every other step; 80000 states.
	if !(math.Abs(d.Mean-exact) < 0.05) || math.Abs(plain/n-exact) < 0.2 {
		t.Errorf("mean energy %.4f weighted, %.4f without weights, exact %.4f", d.Mean, plain/n, exact)
	}
	if !math.IsNaN(d.ESS) || !math.IsNaN(d.ESSBatch) || !math.IsNaN(d.RHat) {
		t.Errorf(
			"weighted states have ESS %g, %g by batches, and R-hat %g; want NaN", d.ESS, d.ESSBatch, d.RHat,
		)
	}
}

// TestTraceByHand: weights that begin late count as 1 before, and states of
// weight 0 do not enter.
func TestTraceByHand(t *testing.T) {
	t.Parallel()
	r := &samplers.Run{
		Chains: &samplers.Chains{X: make([][]int32, 2), U: make([]float64, 2),
			LogWeight: make([]float64, 2)},
	}
	var tr Trace
	d := tr.Diagnose(r)
	for _, v := range []float64{d.ESS, d.ESSBatch, d.RHat, d.Mean} {
		if !math.IsNaN(v) {
			t.Errorf("without a trace: %+v", d)
		}
	}
	for _, s := range []struct{ u, w [2]float64 }{
		{[2]float64{1, 2}, [2]float64{1, 1}},
		{[2]float64{4, 8}, [2]float64{1, 3}},
		{[2]float64{math.NaN(), 16}, [2]float64{0, 0.5}},
	} {
		copy(r.U, s.u[:])
		for k, w := range s.w {
			r.LogWeight[k] = math.Log(w)
		}
		if err := tr.Observe(r); err != nil {
			t.Fatal(err)
		}
		if first := tr.LogWeight == nil; first != (len(tr.Value[0]) == 1) {
			t.Errorf("after %d states the weights are %v", len(tr.Value[0]), tr.LogWeight)
		}
	}
	// (1 + 2 + 4 + 3·8 + ½·16) / (1 + 1 + 1 + 3 + ½)
	if got := tr.Diagnose(r).Mean; !(math.Abs(got-6) < 1e-14) {
		t.Errorf("weighted mean %g, want 6", got)
	}
}

// TestTraceOfEqualWeights: the diagnosis has what its parts compute.
func TestTraceOfEqualWeights(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target, err := targets.NewPotts(1, 2, 3, false, 0.4, []float64{0.5, 0, -1})
	if err != nil {
		t.Fatal(err)
	}
	run, err := samplers.Start(ctx, &samplers.DMALA{StepSize: 1}, target, [][]int32{{0, 0}, {1, 1}},
		samplers.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var tr Trace
	if err := run.Steps(ctx, 200, tr.Observe); err != nil {
		t.Fatal(err)
	}
	d := tr.Diagnose(run)
	mean := 0.0
	for _, e := range tr.Value {
		for _, u := range e {
			mean += u / 400
		}
	}
	if tr.LogWeight != nil || d.ESS != essChains(tr.Value) || d.RHat != SplitRHat(tr.Value) ||
		d.ESSError != essChainsError(tr.Value) ||
		d.ESSBatch != ESSBatch(tr.Value[0])+ESSBatch(tr.Value[1]) ||
		!(math.Abs(d.Mean-mean) < 1e-12) ||
		d.Stats.Steps != 400 {
		t.Errorf("%+v, weights %v, mean %g", d, tr.LogWeight, mean)
	}
}
