package kernels

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// base draws log q of every category.
func base(rng *rand.Rand, d *samplers.Domain) [][]float64 {
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
			for _, target := range []samplers.Target{tab, rowTable{tab}} {
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

// A support holds whatever the target says of states outside it, on both ways.
func TestAISOfASupport(t *testing.T) {
	t.Parallel()
	eachTable(t, 4, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		inside := func(x []int32) bool { return tab.index(x)%3 != 1 }
		within := *tab // as tab is on the support
		within.u = slices.Clone(tab.u)
		for s := 1; s < len(tab.u); s += 3 {
			tab.u[s] += 2 // where more would be drawn if it counted
			within.u[s] = negInf
		}
		want := logSumExp(within.u)
		for _, target := range []samplers.Target{tab, rowTable{tab}} {
			r, err := AIS(context.Background(), target, base(rng, tab.dom), AISOptions{Chains: 2000,
				Rungs: 12, Seed: rng.Uint64(), Support: inside, From: within.draws(rng, 2000)})
			if err != nil {
				t.Fatal(err)
			}
			if z := math.Expm1(r.LogZ-want) / r.Error; !(math.Abs(z) < 4.5) {
				t.Errorf("%T: log Z is %.4f ± %.4f, want %.4f", target, r.LogZ, r.Error, want)
			}
			for _, x := range r.X {
				if !inside(x) {
					t.Fatalf("%T: a chain ends at %v, outside the support", target, x)
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
	tab := newTable(rng, domain.Categories(3, 4), 1, .3)
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

// draws are n independent draws of π.
func (t *tableTarget) draws(rng *rand.Rand, n int) [][]int32 {
	lw := make([]float64, len(t.u))
	out := make([][]int32, n)
	for k := range out {
		s, _ := drawLog(rng, append([]float64(nil), t.u...), lw)
		out[k] = t.states[s]
	}
	return out
}

// The way back has weights whose mean of 1/w is 1/Z, also with ties that are known beforehand.
func TestAISBackIsUnbiased(t *testing.T) {
	t.Parallel()
	eachTable(t, 4, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		q := base(rng, tab.dom)
		for s := 1; s < len(tab.u); s += 3 {
			tab.u[s] = negInf
		}
		tab.logZ = logSumExp(tab.u)
		for _, rungs := range []int{1, 12} {
			for _, target := range []samplers.Target{tab, rowTable{tab}} {
				o := AISOptions{Chains: 1, Rungs: rungs, Seed: rng.Uint64(), From: tab.draws(rng, 4000),
					Support: func(x []int32) bool { return !math.IsInf(tab.u[tab.index(x)], -1) }}
				r, err := AIS(context.Background(), target, q, o)
				if err != nil {
					t.Fatal(err)
				}
				sum, square := 0.0, 0.0
				for _, w := range r.LogBack {
					v := math.Exp(tab.logZ - w)
					sum += v / 4000
					square += v * v / 4000
				}
				if z := (sum - 1) / math.Sqrt((square-sum*sum)/4000+1e-4); !(math.Abs(z) < 4.5) ||
					math.Abs(tab.logZ-r.Above-math.Log(sum)) > 1e-9 {
					t.Errorf("%d rungs, %T: mean of Z/w is %.4f, z %.1f, above %.4f", rungs, target, sum, z, r.Above)
				}
			}
		}
	})
}

// Where chains from q miss modes, their standard errors are far too small. Those of both ways are
// as large as their errors, and the errors smaller.
func TestAISBothWays(t *testing.T) {
	t.Parallel()
	for _, rungs := range []int{2, 25} {
		var z2, square [2]float64
		n := 0.0
		for number := range uint64(3) {
			rng := rand.New(rand.NewPCG(number, 2))
			tab := newTable(rng, domain.Categories(3, 6), 3, .3)
			q := base(rng, tab.dom)
			for seed := range uint64(60) {
				o := AISOptions{Chains: 25, Rungs: rungs, Seed: seed}
				n++
				for i, from := range [][][]int32{nil, tab.draws(rng, 25)} {
					o.From = from
					r, err := AIS(context.Background(), rowTable{tab}, q, o)
					if err != nil {
						t.Fatal(err)
					}
					e := r.LogZ - tab.logZ
					z2[i] += e * e / (r.Error * r.Error)
					square[i] += e * e
				}
			}
		}
		t.Logf("%d rungs: mean square of z %.2f, both ways %.2f; error %.3f, both ways %.3f", rungs, z2[0]/n,
			z2[1]/n, math.Sqrt(square[0]/n), math.Sqrt(square[1]/n))
		if !(z2[0]/n > 4) || !(z2[1]/n > .6 && z2[1]/n < 1.5) || !(square[1] < .3*square[0]) {
			t.Errorf("%d rungs: mean square of z %.2f, both ways %.2f", rungs, z2[0]/n, z2[1]/n)
		}
	}
}

// Draws that miss what the chains from q found, or nothing in common, have large errors.
func TestAISFromElsewhere(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	tab := newTable(rng, domain.Categories(1, 6), 1, 0)
	q := [][]float64{make([]float64, 6)}
	for s := range tab.u { // π is q but for its first state, which no chain comes from
		tab.u[s] = 0
	}
	tab.u[0] = 4
	logZ := math.Log(5 + math.Exp(4))
	from := make([][]int32, 40)
	for k := range from {
		from[k] = []int32{int32(1 + k%5)}
	}
	r, err := AIS(context.Background(), tab, q, AISOptions{Chains: 40, Rungs: 1, From: from})
	if err != nil || !(math.Abs(r.LogZ-logZ) < 2*r.Error) || !(r.Error > 1) || !(r.Below > r.LogZ) {
		t.Errorf("%+v, %v, want %.2f", r, err, logZ)
	}
	tab.u[0] = 400
	for k := range from {
		from[k][0] = 0
	}
	q[0][0] = -60
	if r, err = AIS(context.Background(), tab, q, AISOptions{Chains: 40, Rungs: 1, From: from}); err != nil ||
		!(r.Error > 20) || !(r.Below < 3 && r.Above > 390) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A chain's weight depends on its number alone, and where q is π all weights are Z.
func TestAISStreams(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	tab := newTable(rng, domain.Categories(2, 5), 1, .3)
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
	tab := newTable(rng, domain.Categories(2, 3), 1, .3)
	q := base(rng, tab.dom)
	none := func([]int32) bool { return false }
	for _, c := range []struct {
		q    [][]float64
		o    AISOptions
		want error
	}{
		{q, AISOptions{Chains: 0, Rungs: 1}, samplers.ErrParam},
		{q, AISOptions{Chains: 1, Rungs: 0}, samplers.ErrParam},
		{q[:1], AISOptions{Chains: 1, Rungs: 1}, samplers.ErrState},
		{[][]float64{q[0], {0}}, AISOptions{Chains: 1, Rungs: 1}, samplers.ErrState},
		{[][]float64{q[0], {0, math.NaN(), 0}}, AISOptions{Chains: 1, Rungs: 1}, samplers.ErrState},
		{q, AISOptions{Chains: 1, Rungs: 1, Support: none}, ErrRare},
		{q, AISOptions{Chains: 1, Rungs: 1, From: [][]int32{{1}}}, samplers.ErrState},
		{q, AISOptions{Chains: 1, Rungs: 1, From: [][]int32{{1, 3}}}, samplers.ErrState},
		{q, AISOptions{Chains: 1, Rungs: 1, From: [][]int32{{1, 1}},
			Support: func(x []int32) bool { return x[0] != 1 }}, samplers.ErrState},
		{[][]float64{{0, math.Inf(-1), 0}, q[1]}, AISOptions{Chains: 1, Rungs: 1, From: [][]int32{{1, 1}}},
			samplers.ErrState},
	} {
		if _, err := AIS(context.Background(), tab, c.q, c.o); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, err, c.want)
		}
	}
	r, err := AIS(context.Background(), tab, q, AISOptions{Chains: 1, Rungs: 2, From: [][]int32{}})
	if err != nil || !math.IsNaN(r.Error) || r.ESS != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
