package samplers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// base draws log q of every category.
func base(rng *rand.Rand, d *Domain) [][]float64 {
	out := make([][]float64, d.Len())
	for i := range out {
		out[i] = make([]float64, d.K(i))
		for v := range out[i] {
			out[i][v] = rng.NormFloat64()
		}
	}
	return out
}

// On small targets of every kind of domain the mean weight is Z: with rows and without, with ties
// that are known beforehand and with states of probability 0 that are not.
func TestAISIsUnbiased(t *testing.T) {
	t.Parallel()
	eachTable(t, 6, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		q := base(rng, tab.dom)
		for _, rungs := range []int{1, 4, 12} {
			for _, target := range []Target{tab, rowTable{tab}} {
				for _, tied := range []bool{false, true} {
					o := AISOptions{Chains: 4000, Rungs: rungs, Seed: rng.Uint64()}
					if tied {
						o.Support = func(x []int32) bool { return !math.IsInf(tab.u[tab.index(x)], -1) }
					}
					r, err := AIS(context.Background(), target, q, o)
					if err != nil {
						t.Fatal(err)
					}
					if z := math.Expm1(r.LogZ-tab.logZ) / r.Error; !(math.Abs(z) < 4.5) {
						t.Errorf("%d rungs, %T, tied %v: log Z is %.4f ± %.4f, want %.4f", rungs, target,
							tied, r.LogZ, r.Error, tab.logZ)
					}
				}
			}
		}
	})
}

// The standard errors of few chains are as large as their errors are, and more rungs make them
// smaller.
func TestAISStandardError(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	tab := newTable(rng, Categories(3, 4), 1, .3)
	q := base(rng, tab.dom)
	var ess [2]float64
	for i, rungs := range []int{40, 160} {
		sum, n := 0.0, 60
		for seed := range n {
			r, err := AIS(context.Background(), rowTable{tab}, q,
				AISOptions{Chains: 50, Rungs: rungs, Seed: uint64(seed)})
			if err != nil {
				t.Fatal(err)
			}
			z := (r.LogZ - tab.logZ) / r.Error
			sum += z * z / float64(n)
			ess[i] += r.ESS / float64(n)
		}
		t.Logf("%d rungs: mean square of z %.2f, ESS %.1f", rungs, sum, ess[i])
		if !(sum > .5 && sum < 1.7) {
			t.Errorf("%d rungs: mean square of z %.2f", rungs, sum)
		}
	}
	if !(ess[1] > 1.2*ess[0] && ess[1] <= 50) {
		t.Errorf("ESS %.1f, then %.1f of 50", ess[0], ess[1])
	}
}

// A chain's weight depends on its number alone, and where q is π all weights are Z.
func TestAISStreams(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	tab := newTable(rng, Categories(2, 5), 1, .3)
	q := base(rng, tab.dom)
	run := func(q [][]float64, chains int) *AISResult {
		r, err := AIS(context.Background(), rowTable{tab}, q, AISOptions{Chains: chains, Rungs: 9, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	few, many := run(q, 3), run(q, 30)
	for k, w := range few.LogW {
		if w != many.LogW[k] {
			t.Errorf("chain %d: %v and %v", k, w, many.LogW[k])
		}
	}
	for s := range tab.u {
		tab.u[s] = 1 + q[0][s%5] + q[1][s/5]
	}
	if tab.index([]int32{1, 0}) != 1 {
		for s := range tab.u {
			tab.u[s] = 1 + q[0][s/5] + q[1][s%5]
		}
	}
	want := 1 + logSumExp(q[0]) + logSumExp(q[1])
	if r := run(q, 10); math.Abs(r.LogZ-want) > 1e-9 || !(r.Error < 1e-6) || math.Abs(r.ESS-10) > 1e-6 {
		t.Errorf("%+v, want log Z %v", r, want)
	}
}

func TestAISRefuses(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	tab := newTable(rng, Categories(2, 3), 1, .3)
	q := base(rng, tab.dom)
	none := func([]int32) bool { return false }
	for _, c := range []struct {
		q    [][]float64
		o    AISOptions
		want error
	}{
		{q, AISOptions{Chains: 0, Rungs: 1}, ErrParam},
		{q, AISOptions{Chains: 1, Rungs: 0}, ErrParam},
		{q[:1], AISOptions{Chains: 1, Rungs: 1}, ErrState},
		{[][]float64{q[0], {0}}, AISOptions{Chains: 1, Rungs: 1}, ErrState},
		{[][]float64{q[0], {0, math.NaN(), 0}}, AISOptions{Chains: 1, Rungs: 1}, ErrState},
		{q, AISOptions{Chains: 1, Rungs: 1, Support: none}, ErrRare},
	} {
		if _, err := AIS(context.Background(), tab, c.q, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, err, c.want)
		}
	}
	r, err := AIS(context.Background(), tab, q, AISOptions{Chains: 1, Rungs: 2})
	if err != nil || !math.IsNaN(r.Error) || r.ESS != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
