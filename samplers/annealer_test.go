package samplers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// bentPath is a target with a path of its own from q to π,
//
//	log p_β(x) = (1−β) log q(x) + β U(x) + β (1−β) bend(x)
//
// Half of its steps are independent draws of p_β, the others stay.
type bentPath struct {
	*tableTarget
	bend  []float64
	calls int
}

func (p *bentPath) log(logq [][]float64, s int, beta float64) float64 {
	l := beta*p.u[s] + beta*(1-beta)*p.bend[s]
	for i, v := range p.states[s] {
		l += (1 - beta) * logq[i][v]
	}
	return l
}

func (p *bentPath) Anneal(_ context.Context, logq [][]float64, from, to float64, x [][]int32,
	rng []*rand.Rand, gain []float64) error {
	p.calls++
	lp, lw := make([]float64, len(p.u)), make([]float64, len(p.u))
	for s := range lp {
		lp[s] = p.log(logq, s, to)
	}
	for k := range x {
		s := p.index(x[k])
		gain[k] = p.log(logq, s, to) - p.log(logq, s, from)
		if rng[k].IntN(2) == 0 {
			y, _ := drawLog(rng[k], append([]float64(nil), lp...), lw)
			copy(x[k], p.states[y])
		}
	}
	return nil
}

// TestAISAnnealer: with a path of one's own both ways are unbiased, and the last states with their
// weights are a sample of π.
func TestAISAnnealer(t *testing.T) {
	t.Parallel()
	const n = 2500
	for _, d := range []*Domain{Bits(3), Categories(2, 4)} {
		rng := rand.New(rand.NewPCG(11, 3))
		p := &bentPath{tableTarget: newTable(rng, d, 1.2, .3)}
		for range p.u {
			p.bend = append(p.bend, 2*rng.NormFloat64())
		}
		q := base(rng, d)
		for _, rungs := range []int{1, 5, 20} {
			p.calls = 0
			r, err := AIS(context.Background(), p, q, AISOptions{Chains: n, Rungs: rungs, Anneal: p.Anneal,
				Seed: rng.Uint64(), From: p.draws(rng, n)})
			if err != nil {
				t.Fatal(err)
			}
			if p.calls != 2*rungs {
				t.Errorf("%d rungs: %d calls", rungs, p.calls)
			}
			for name, w := range map[string][]float64{"up": shifted(r.LogW, -p.logZ),
				"down": shifted(scaled(r.LogBack, -1), p.logZ)} {
				sum, square := 0.0, 0.0
				for _, l := range w {
					sum += math.Exp(l) / n
					square += math.Exp(2*l) / n
				}
				if z := (sum - 1) / math.Sqrt((square-sum*sum)/n); !(math.Abs(z) < 4.5) {
					t.Errorf("%d rungs, %s: mean of the weights over Z %v, z %v", rungs, name, sum, z)
				}
			}
			if math.Abs(r.LogZ-p.logZ) > 4.5*r.Error {
				t.Errorf("%d rungs: log Z %v ± %v, want %v", rungs, r.LogZ, r.Error, p.logZ)
			}
			share := make([]float64, len(p.u))
			for k, x := range r.X {
				share[p.index(x)] += math.Exp(r.LogW[k] - logSumExp(r.LogW))
			}
			for s, got := range share {
				if math.Abs(got-p.pi(s)) > 4.5*math.Sqrt(.25/r.ESS) {
					t.Errorf("%d rungs: π of state %d is %v by the weights, want %v", rungs, s, got, p.pi(s))
				}
			}
		}
	}
}

// failing is a path whose gains and errors are given.
type failing struct {
	gain float64
	err  error
}

func (f failing) Anneal(_ context.Context, _ [][]float64, _, _ float64, _ [][]int32, _ []*rand.Rand,
	gain []float64) error {
	gain[0], gain[1] = f.gain, 0
	return f.err
}

// TestAISAnnealerFails: a gain that is not a number or infinite is a weight of 0, an error comes
// back, and a Support beside it is refused.
func TestAISAnnealerFails(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(1, 1)), Bits(2), 1, .3)
	q := base(rand.New(rand.NewPCG(1, 2)), tab.dom)
	by := func(f failing) AISOptions { return AISOptions{Chains: 2, Rungs: 3, Anneal: f.Anneal} }
	for _, g := range []float64{math.NaN(), math.Inf(1), negInf} {
		r, err := AIS(context.Background(), tab, q, by(failing{g, nil}))
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsInf(r.LogW[0], -1) || r.LogW[1] != 0 || math.Abs(r.LogZ+math.Ln2) > 1e-12 {
			t.Errorf("gain %v: weights %v, log Z %v", g, r.LogW, r.LogZ)
		}
	}
	bad := errors.New("broken")
	if _, err := AIS(context.Background(), tab, q, by(failing{0, bad})); !errors.Is(err, bad) {
		t.Errorf("up: %v", err)
	}
	both := by(failing{})
	both.Support = func([]int32) bool { return true }
	if _, err := AIS(context.Background(), tab, q, both); !errors.Is(err, ErrParam) {
		t.Errorf("with a support: %v", err)
	}
}
