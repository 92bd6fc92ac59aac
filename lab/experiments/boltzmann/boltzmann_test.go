package boltzmann

import (
	"context"
	"math"
	"testing"

	"infill/lab/experiments/contrast"
	"infill/lab/experiments/images"
	"infill/lab/papers"
	"infill/lab/targets"
	"infill/samplers"
)

// small is a machine of few units with strong weights, binary or not.
func small(t *testing.T, k int) *papers.RBM {
	t.Helper()
	r, err := papers.NewRBM(6, k, 4, k == 2)
	if err != nil {
		t.Fatal(err)
	}
	r.Randomise(samplers.NewStream(uint64(k), "small", 0), 1, 0.5)
	return r
}

// states are n independent draws of uniform pixels.
func states(r *papers.RBM, n int) [][]int32 {
	return images.Random(samplers.NewStream(1, "states", 0), n, r.D, r.K)
}

// TestLogZ holds the estimate of log Z against the sum over hidden states.
func TestLogZ(t *testing.T) {
	t.Parallel()
	for _, k := range []int{2, 3} {
		r := small(t, k)
		want, err := r.LogZ()
		if err != nil {
			t.Fatal(err)
		}
		got, err := LogZ(context.Background(), r, states(r, 50), 400, 60, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !(got.Error > 0 && got.Error < 0.1) || math.Abs(got.LogZ-want) > 4*got.Error {
			t.Errorf("k=%d: log Z %v ± %v, exact %v", k, got.LogZ, got.Error, want)
		}
	}
}

// TestLearn: all kinds of learning climb the exact log-likelihood nearly as far as the exact
// gradient does.
func TestLearn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var data [][]int32 // two patterns, and noise of one in ten
	rng := samplers.NewStream(5, "data", 0)
	for range 300 {
		v := make([]int32, 6)
		which := rng.IntN(2)
		for i := range v {
			v[i] = int32((which + i%2) % 2)
			if rng.Float64() < 0.1 {
				v[i] = 1 - v[i]
			}
		}
		data = append(data, v)
	}
	set := &images.Set{Side: 1, Levels: 2, Train: data}
	fit := Fit{Iters: 400, Batch: 100, Rate: 0.02, Seed: 1}
	likelihood := func(learn func(r *papers.RBM) contrast.Negative) float64 {
		r, err := papers.NewRBM(6, 2, 4, true)
		if err != nil {
			t.Fatal(err)
		}
		r.Randomise(samplers.NewStream(4, "weights", 0), 0.05, 0)
		copy(r.B, Base(r, set.Train))
		if learn != nil {
			if err := fit.Learn(ctx, r, data, learn(r)); err != nil {
				t.Fatal(err)
			}
		}
		z, err := r.LogZ()
		if err != nil {
			t.Fatal(err)
		}
		l, err := LogLikelihood(ctx, r, data, z)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	start := likelihood(nil)
	exact := likelihood(func(r *papers.RBM) contrast.Negative { // independent draws of the present machine
		return func(ctx context.Context, it int, _ [][]int32) ([][]int32, error) {
			e, err := targets.Enumerate(ctx, r)
			if err != nil {
				return nil, err
			}
			rng := samplers.NewStream(9, "exact", it)
			x := make([][]int32, 100)
			for k := range x {
				u, at := rng.Float64(), 0
				for ; at < len(e.P)-1 && u >= e.P[at]; at++ {
					u -= e.P[at]
				}
				x[k] = make([]int32, r.D)
				e.State(at, x[k])
			}
			return x, nil
		}
	})
	if exact < start+0.1 {
		t.Fatalf("exact learning goes from %v to %v", start, exact)
	}
	starts := images.Random(samplers.NewStream(6, "starts", 0), 100, 6, 2)
	for name, learn := range map[string]func(r *papers.RBM) contrast.Negative{
		"CD-5": func(r *papers.RBM) contrast.Negative {
			return Divergence(r, 5, 7)
		},
		"PCD with DMALA": func(r *papers.RBM) contrast.Negative {
			neg, err := contrast.Persistent(ctx, r, &samplers.DMALA{StepSize: 0.4}, starts, 20,
				samplers.Options{Seed: 8})
			if err != nil {
				t.Fatal(err)
			}
			return neg
		},
	} {
		if got := likelihood(learn); got < exact-0.15*(exact-start) {
			t.Errorf("%s: log-likelihood %v from %v, with independent draws %v", name, got, start, exact)
		}
	}
}
