package samplers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// noisyField is a target on bits whose estimates for a neighbour are normal around those of a
// field, at a temperature that may change.
type noisyField struct {
	flat
	field   []float64
	temp    float64
	affords bool
	quiet   bool // no noise
}

func (t *noisyField) EstimateRatios(_ context.Context, x [][]int32, _ int, rng []*rand.Rand,
	logRatio, _ [][]float64) error {
	for k, s := range x {
		for i, v := range s {
			u := t.field[i]
			if !t.quiet {
				u += rng[k].NormFloat64()
			}
			logRatio[k][i] = u * float64(1-2*v) / t.temp
		}
	}
	return nil
}

func (t *noisyField) RatioKind() (ofMeans, cheap bool) { return false, t.affords }

// After a change of temperature the cache of SGDLD has the estimates of all steps before, as if
// they had been made at the new one. Retarget would leave the last of them alone.
func TestRescaleKeepsTheCache(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	weights := func(s SGDLD, temps []float64, tell func(r *Run, f float64) error) float64 {
		target := &noisyField{flat{Bits(3)}, []float64{1, -2, .5}, temps[0], true, false}
		run, err := Start(ctx, &s, target, [][]int32{{0, 1, 0}}, Options{Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, next := range temps[1:] {
			if err := run.Steps(ctx, 5, nil); err != nil {
				t.Fatal(err)
			}
			f := target.temp / next
			target.temp = next
			if err := tell(run, f); err != nil {
				t.Fatal(err)
			}
		}
		// One step more, at the last temperature.
		if err := run.Step(ctx); err != nil {
			t.Fatal(err)
		}
		if run.Stats[0].Moved > 0 {
			t.Fatal("the chain jumped")
		}
		if s.Time > 0 { // the weight is constant, the probability of a jump is not
			return math.Exp(run.kernel.(*sgdldKernel).logZ[0])
		}
		return math.Exp(run.LogWeight[0])
	}
	rescale := func(r *Run, f float64) error { return r.Rescale(ctx, f) }
	retarget := func(r *Run, _ float64) error { return r.Retarget(ctx) }
	changes, none := []float64{9, 3, 7, .5}, []float64{.5, .5, .5, .5}
	for _, s := range []SGDLD{{Jump: 1e-9}, {Time: 1e-9}} {
		want := weights(s, none, func(*Run, float64) error { return nil })
		if got := weights(s, changes, rescale); !(math.Abs(got/want-1) < 1e-12) {
			t.Errorf("%+v: %v after changes of temperature, want %v of a run without them", s, got, want)
		}
		if got := weights(s, changes, retarget); math.Abs(got/want-1) < 1e-3 {
			t.Errorf("%+v: %v with an emptied cache, near %v", s, got, want)
		}
	}
}

// Between the change and the next step the chain jumps at the new temperature.
func TestRescaleJumpsAtTheNewTemperature(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const chains = 4000
	target := &noisyField{flat{Bits(2)}, []float64{1, -1}, 1, true, true}
	for _, s := range []SGDLD{{Jump: 1}, {Time: .05}} {
		target.temp = 1
		run, err := Start(ctx, &s, target, matrix[int32](chains, 2), Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		target.temp = .5
		if err := run.Rescale(ctx, 2); err != nil {
			t.Fatal(err)
		}
		if err := run.Step(ctx); err != nil {
			t.Fatal(err)
		}
		// The ratios are now e² and e⁻², so the rates are e and 1/e.
		e := math.E
		want := []float64{e / (e + 1/e), 1 / e / (e + 1/e), 0}
		if s.Time > 0 {
			want = []float64{.05 * e, .05 / e, 1 - .05*(e+1/e)}
		}
		count := make([]float64, 3)
		for _, x := range run.X {
			switch {
			case x[0] != 0:
				count[0]++
			case x[1] != 0:
				count[1]++
			default:
				count[2]++
			}
		}
		checkFrequencies(t, "jumps after a change", count, want, chains)
	}
}

// Rescale is Retarget for the other kernels, and for the ratios of means.
func TestRescaleRetargets(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a, b := changedTables()
	target := &changing{a}
	run, err := Start(ctx, &DMALA{}, target, [][]int32{{1, 2}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	target.tableTarget = b
	if err := run.Rescale(ctx, 2); err != nil {
		t.Fatal(err)
	}
	want := []float64{0}
	if err := b.Energy(ctx, run.X, want); err != nil || run.U[0] != want[0] {
		t.Errorf("U is %v after a change, want %v (%v)", run.U[0], want[0], err)
	}
	quenched := &ratios{flat: flat{Bits(2)}, r: []float64{1, 1}}
	run, err = Start(ctx, &SGDLD{}, quenched, [][]int32{{0, 0}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := quenched.calls
	if err := run.Rescale(ctx, 2); err != nil || quenched.calls != calls+1 {
		t.Errorf("%d estimates for another temperature, want 1 (%v)", quenched.calls-calls, err)
	}
	for _, f := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if err := run.Rescale(ctx, f); !errors.Is(err, ErrParam) {
			t.Errorf("factor %v: %v, want ErrParam", f, err)
		}
	}
}

// A target that affords its neighbours may have any number of them.
func TestManyAffordableNeighbours(t *testing.T) {
	t.Parallel()
	const n = maxNeighbours + 1
	for _, affords := range []bool{true, false} {
		target := &noisyField{flat{Bits(n)}, make([]float64, n), 1, affords, false}
		_, err := Start(context.Background(), &SGDLD{Rates: ratioRates}, target,
			[][]int32{make([]int32, n)}, Options{})
		if affords != (err == nil) || !affords && !errors.Is(err, ErrTooMany) {
			t.Errorf("affordable %v: %v", affords, err)
		}
	}
}
