package samplers

import (
	"context"
	"math"
	"testing"
)

// paths lists every way in which the proposer can go from x to y: for a
// factorised proposal there is one, for GWG one for each order of draws. Each call of visit has the
// proposer's auxiliary state set, and gets the probability of that number.
func paths(m *mhKernel, x, y []int32, visit func(prob float64)) {
	switch p := m.p.(type) {
	case *gwgProposer:
		p.walk(0, x, x, y, func() { visit(1) })
	default:
		visit(1)
	}
}

// walk sets the draws from number r on in every way that leads from x, now at
// at, to y.
func (p *gwgProposer) walk(r int, x, at, y []int32, visit func()) {
	path := p.path[0]
	if r == len(path) {
		visit()
		return
	}
	for _, i := range p.free {
		for v := range int32(p.fac.dom.K(int(i))) {
			if v == x[i] || !p.fac.dom.Allows(int(i), v) {
				continue
			}
			next := append([]int32(nil), at...)
			next[i] = v
			if hamming(next, y) < len(path)-r { // the draws left can do that
				path[r] = pick{i, v}
				p.walk(r+1, x, next, y, visit)
			}
		}
	}
}

// forward is log q(x→y) along the auxiliary state that is set.
func forward(m *mhKernel, x, y []int32, g []float64) float64 {
	switch p := m.p.(type) {
	case *gwgProposer:
		p.score(x, g)
		lse, lq := logSumExp(p.lw), 0.0
		for _, d := range p.path[0] {
			lq += p.pair(int(d.i), x[d.i], d.v, g) - lse
		}
		return lq
	default:
		return m.p.Reverse(0, y, x, g)
	}
}

// balanceError enumerates the one-step kernel of a Metropolis–Hastings
// sampler, as the code itself computes it (proposal probabilities from the
// proposer, acceptance from mhKernel.decide), and returns the largest
// violation of π(x)K(x,y) = π(y)K(y,x), and of Σ_y q(x→y) = 1. With breakIt the
// reverse proposal is left out of the acceptance ratio.
func balanceError(t *testing.T, tab *tableTarget, s Sampler, breakIt bool) (balance, norm float64) {
	t.Helper()
	sup := tab.support()
	run, err := Start(context.Background(), s, tab, [][]int32{tab.states[sup[0]]}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := run.kernel.(*mhKernel)
	schedule(t, m)
	p := m.p
	n := len(tab.states)
	rows := sup
	if len(rows) > 150 { // pairs of some of many states, near and far
		rows = append([]int(nil), sup[:15]...)
		for j := range 10 {
			rows = append(rows, sup[15+j*(len(sup)-15)/10])
		}
	}
	K := matrix[float64](n, n)
	part := make([][]float64, n)
	for a := range part {
		part[a] = partOf(m, tab, a)
	}
	for _, a := range rows {
		x := tab.states[a]
		sum := 0.0
		for b, y := range tab.states {
			if tab.dom.Check(y) != nil {
				if forwardTotal(m, x, y, part[a]) > 0 {
					t.Errorf("%s proposes a state outside the support", s.Info().Name)
				}
				continue
			}
			paths(m, x, y, func(prob float64) {
				lq := forward(m, x, y, part[a])
				sum += prob * math.Exp(lq)
				if a == b {
					return
				}
				copy(run.X[0], x)
				run.U[0] = tab.u[a]
				copy(m.y[0], y)
				if m.gy != nil {
					copy(run.Grad[0], part[a])
					copy(m.gy[0], part[b])
				}
				m.fwd[0] = lq
				run.Last[0] = Move{Moved: true, Flips: 1}
				u := tab.u[b]
				if breakIt {
					m.p = forgetReverse{p}
				}
				m.decide(0, u)
				m.p = p
				K[a][b] += prob * math.Exp(lq) * run.Last[0].Prob
			})
		}
		norm = math.Max(norm, math.Abs(sum-1))
	}
	moves := 0.0
	for _, a := range rows {
		for _, b := range rows {
			moves += tab.pi(a) * K[a][b]
			balance = math.Max(balance, math.Abs(tab.pi(a)*K[a][b]-tab.pi(b)*K[b][a]))
		}
	}
	if moves < 1e-4 { // staying for ever is balanced too
		t.Errorf("%s moves with probability %g", s.Info().Name, moves)
	}
	return balance, norm
}

// partOf is what the kernel's proposal knows of state a besides its energy: the
// gradient or, in a sampler that asks for them, the rows.
func partOf(m *mhKernel, tab *tableTarget, a int) []float64 {
	if m.c.rows != nil {
		out := [][]float64{make([]float64, len(m.c.Grad[0]))}
		err := m.c.evaluate(context.Background(), []int{0}, tab.states[a:a+1],
			make([]float64, 1), out)
		if err != nil {
			panic(err)
		}
		return out[0]
	}
	return tab.grad[a]
}

func forwardTotal(m *mhKernel, x, y []int32, g []float64) float64 {
	sum := 0.0
	paths(m, x, y, func(prob float64) { sum += prob * math.Exp(forward(m, x, y, g)) })
	return sum
}

// forgetReverse is a deliberately wrong sampler: it leaves the reverse
// proposal out of the acceptance ratio.
type forgetReverse struct{ Proposal }

func (f forgetReverse) Reverse(k int, x, y []int32, gy []float64) float64 { return 0 }

// mhSamplers are the Metropolis–Hastings samplers in several settings, on a
// domain of n coordinates that can change.
func mhSamplers(n int) []Sampler {
	out := []Sampler{
		&DMALA{}, &ACS{}, &DLMC{}, &DLMC{Euler: true}, &GWG{},
		&ACS{Scale: func(int) (float64, float64, bool) { return 3, 0.8, false }},
		&ACS{AlphaMax: 2, AlphaMin: 0.5}, &ACS{AlphaMax: 3, AlphaMin: 0.2, Power: 4, Cycle: 5},
		&GWG{Draws: 2}, &GWG{Draws: 3, Balance: Ratio},
		&DMALA{StepSize: 1, Precondition: []float64{0.3, 2, 1, 4}[:n]},
		&Rows{}, &Rows{Rate: 0.05}, &Rows{Rate: 1}, &Rows{Rate: 0.8, TargetAcceptance: 0.7},
	}
	for _, g := range []Balance{Sqrt, Ratio, Max, Min} {
		out = append(out,
			&DMALA{StepSize: 0.7, Balance: g}, &DMALA{StepSize: 4, Balance: g},
			&DLMC{Time: 0.3, Balance: g}, &DLMC{Time: 3, Balance: g},
			&DLMC{Euler: true, Time: 0.2, Balance: g}, &DLMC{Euler: true, Time: 1.5, Balance: g},
			&GWG{Balance: g},
		)
	}
	return out
}

// schedule has the proposal set its scale for the next step.
func schedule(t *testing.T, m *mhKernel) {
	t.Helper()
	if m.sched != nil {
		if err := m.sched.Schedule(context.Background(), 0, m.free); err != nil {
			t.Fatal(err)
		}
	}
}

// fresh is the named sampler with its defaults.
func fresh(t *testing.T, name string) Sampler {
	t.Helper()
	s, err := New(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
