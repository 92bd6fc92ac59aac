package samplers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// weigh is a proposal of a paper, written out: the weights of the categories of coordinate i, given
// Δ of each, −∞ outside the support, and the squared distances to the present category at.
type weigh func(i, at int, delta, dist2 []float64) []float64

// balances are the functions of Balance.
var balances = map[Balance]func(t float64) float64{
	Sqrt:  math.Sqrt,
	Ratio: func(t float64) float64 { return t / (1 + t) },
	Max: func(t float64) float64 {
		if t == 0 {
			return 0 // impossible stays impossible
		}
		return max(1, t)
	},
	Min: func(t float64) float64 { return min(1, t) },
}

// langevin is equation 2 of DLP, and for categories that of its appendix B, with a balancing
// function and the preconditioner of section 6, nil for none.
func langevin(g Balance, alpha float64, precondition []float64) weigh {
	return func(i, _ int, delta, dist2 []float64) []float64 {
		w, a := make([]float64, len(delta)), alpha
		if precondition != nil {
			a *= precondition[i]
		}
		for v, d := range delta {
			w[v] = balances[g](math.Exp(d)) * math.Exp(-dist2[v]/(2*a))
		}
		return w
	}
}

// tilted is equation 6 of ACS, whatever chooses α and β.
func tilted(beta, alpha float64) weigh {
	return func(_, _ int, delta, dist2 []float64) []float64 {
		w := make([]float64, len(delta))
		for v, d := range delta {
			w[v] = math.Exp(beta*d - dist2[v]/(2*alpha))
		}
		return w
	}
}

// flowRates are the rates and the stationary law of one coordinate (DLMC, equations 36 and 38).
func flowRates(g Balance, at int, delta []float64) (rate, nu []float64) {
	rate, nu = make([]float64, len(delta)), make([]float64, len(delta))
	sum := 0.0
	for v, d := range delta {
		nu[v] = math.Exp(d)
		sum += nu[v]
		if v != at {
			rate[v] = balances[g](nu[v])
		}
	}
	for v := range nu {
		nu[v] /= sum
	}
	return rate, nu
}

// interpolated is equation 39 of DLMC.
func interpolated(g Balance, h float64) weigh {
	return func(_, at int, delta, _ []float64) []float64 {
		q, nu := flowRates(g, at, delta)
		w := make([]float64, len(delta))
		w[at] = nu[at]
		for v := range w {
			if v != at && nu[v] > 0 {
				left := nu[v] * math.Exp(-h*q[v]/nu[v])
				w[v] = nu[v] - left
				w[at] += left
			}
		}
		return w
	}
}

// euler is equations 94 and 95 of DLMC. Staying has at least the probability of the stationary law.
func euler(g Balance, h float64) weigh {
	return func(_, at int, delta, _ []float64) []float64 {
		q, nu := flowRates(g, at, delta)
		w := make([]float64, len(delta))
		w[at] = 1
		for v := range w {
			if v != at {
				w[v] = h * q[v]
				w[at] -= h * q[v]
			}
		}
		w[at] = max(w[at], nu[at])
		return w
	}
}

// slopes are Δ_i(v) of all coordinates and the squared distances: 2 between categories, those of
// the values otherwise.
func slopes(d *Domain, x []int32, g []float64) (delta, dist2 [][]float64) {
	for i, at := range x {
		own := make([]float64, d.K(i))
		far := make([]float64, d.K(i))
		gi := d.grad(g, i)
		for v := range own {
			switch by := d.Value(i, int32(v)) - d.Value(i, at); {
			case d.coords[i].Kind != Nominal:
				own[v], far[v] = gi[0]*by, by*by
			case v != int(at):
				own[v], far[v] = gi[v]-gi[at], 2
			}
			if !d.Allows(i, int32(v)) {
				own[v] = negInf
			}
		}
		delta, dist2 = append(delta, own), append(dist2, far)
	}
	return delta, dist2
}

// product is the probability of going from x to y where all coordinates move by themselves.
func product(w weigh) func(d *Domain, x, y []int32, g []float64) float64 {
	return func(d *Domain, x, y []int32, g []float64) float64 {
		delta, dist2 := slopes(d, x, g)
		p := 1.0
		for i, v := range y {
			all, sum := w(i, int(x[i]), delta[i], dist2[i]), 0.0
			for _, a := range all {
				sum += a
			}
			p *= all[v] / sum
		}
		return p
	}
}

// pairs are the weights g(exp Δ_i(v)) of all changes of one coordinate, and their sum for each.
func pairs(g Balance, d *Domain, x []int32, grad []float64) (w [][]float64, sums []float64) {
	delta, _ := slopes(d, x, grad)
	for i, own := range delta {
		rate, _ := flowRates(g, int(x[i]), own)
		sum := 0.0
		for _, r := range rate {
			sum += r
		}
		w, sums = append(w, rate), append(sums, sum)
	}
	return w, sums
}

// draws is GWG-X: changes drawn from one softmax with replacement, of which the last of each
// coordinate counts.
func draws(g Balance, n int) func(d *Domain, x, y []int32, grad []float64) float64 {
	return func(d *Domain, x, y []int32, grad []float64) float64 {
		w, sums := pairs(g, d, x, grad)
		total := 0.0
		for _, s := range sums {
			total += s
		}
		var walk func(left int, at []int32) float64
		walk = func(left int, at []int32) (p float64) {
			if left == 0 {
				if hamming(at, y) == 0 {
					return 1
				}
				return 0
			}
			for i := range w {
				for v, a := range w[i] {
					if a > 0 {
						next := append([]int32(nil), at...)
						next[i] = int32(v)
						p += a / total * walk(left-1, next)
					}
				}
			}
			return p
		}
		return walk(n, x)
	}
}

// TestProposalsOfThePapers compares what the samplers propose with the formulas of the papers,
// written out in plain probabilities. Detailed balance holds for any proposal, so it cannot tell a
// wrong formula.
func TestProposalsOfThePapers(t *testing.T) {
	t.Parallel()
	type proposal struct {
		s Sampler
		q func(d *Domain, x, y []int32, g []float64) float64
	}
	pre := []float64{0.3, 2, 1, 4}
	all := func(n int) []proposal {
		out := []proposal{
			{&ACS{AlphaMax: 2, AlphaMin: .5}, product(tilted(.95, 2))},
			{&ACS{AlphaMax: 3, AlphaMin: .5, BetaMax: .7}, product(tilted(.7, 3))},
			{&ACS{Scale: func(int) (float64, float64, bool) { return 3, .8, false }}, product(tilted(.8, 3))},
			{&DMALA{StepSize: 1, Precondition: pre[:n]}, product(langevin(Sqrt, 1, pre))},
			{&DULA{StepSize: .4}, product(langevin(Sqrt, .4, nil))},
			{&GWG{Draws: 2}, draws(Sqrt, 2)},
		}
		for g := range balances {
			out = append(out, proposal{&DMALA{StepSize: .7, Balance: g}, product(langevin(g, .7, nil))},
				proposal{&DLMC{Time: .3, Balance: g}, product(interpolated(g, .3))},
				proposal{&DLMC{Time: 3, Balance: g}, product(interpolated(g, 3))},
				proposal{&DLMC{Euler: true, Time: .05, Balance: g}, product(euler(g, .05))},
				proposal{&DLMC{Euler: true, Time: .8, Balance: g}, product(euler(g, .8))},
				proposal{&GWG{Balance: g}, draws(g, 1)})
		}
		return out
	}
	eachTable(t, 12, func(t *testing.T, rng *rand.Rand, tab *tableTarget) {
		sup := tab.support()
		for _, c := range all(tab.dom.Len()) {
			a := sup[rng.IntN(len(sup))]
			x := tab.states[a]
			run, err := Start(context.Background(), c.s, tab, [][]int32{x}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := run.kernel.(*mhKernel)
			schedule(t, m)
			for _, b := range sup {
				y := tab.states[b]
				got, want := forwardTotal(m, x, y, tab.grad[a]), c.q(tab.dom, x, y, tab.grad[a])
				if math.Abs(got-want) > 1e-10 {
					t.Fatalf("%s: goes from %v to %v with probability %.12f, want %.12f",
						fmt.Sprintf("%s %+v", c.s.Info().Name, c.s), x, y, got, want)
				}
			}
		}
	})
}
