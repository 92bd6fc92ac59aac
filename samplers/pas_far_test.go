package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// logPathByDefinition is log q of drawing the sites in this order without
// replacement, from log-weights of any size: each draw has the probability
// 1/Σ_j exp(lw_j − lw_u) over the sites j that are left.
func logPathByDefinition(order []int32, lw []float64) float64 {
	gone := make([]bool, len(lw))
	lq := 0.0
	for _, u := range order {
		top := negInf
		for j, w := range lw {
			if !gone[j] {
				top = math.Max(top, w)
			}
		}
		sum := 0.0
		for j, w := range lw {
			if !gone[j] {
				sum += math.Exp(w - top)
			}
		}
		lq += lw[u] - top - math.Log(sum)
		gone[u] = true
	}
	return lq
}

// farTable is a target of three bits whose gradients mislead: from every state
// the log-weights of the three changes are apart by up to 2000 nats. Its energies
// are moderate.
func farTable(rng *rand.Rand) *tableTarget {
	tab := newTable(rng, Bits(3), 0.7, 0)
	for s, x := range tab.states {
		for i := range x {
			delta := -2000*float64(rng.IntN(3)) + rng.NormFloat64()
			tab.grad[s][i] = delta * float64(1-2*x[i]) // lw = Δ/2
		}
	}
	return tab
}

// TestPASOfWeightsFarApart: what PAS says of a path is the probability with which
// it draws it, and π is left as it is, where log-weights on and off the path are
// more than 700 nats apart. (A sum relative to the largest weight of all would
// lose those off the path.)
func TestPASOfWeightsFarApart(t *testing.T) {
	t.Parallel()
	bridged := 0
	for seed := range uint64(60) {
		tab := farTable(rand.New(rand.NewPCG(seed, 700)))
		run, err := Start(context.Background(), &PAS{Flips: 2}, tab, [][]int32{tab.states[0]}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := run.kernel.(*mhKernel)
		p := m.p.(*pasProposer)
		next := make([]float64, len(tab.states)) // π after a step
		for a, x := range tab.states {
			stay := 1.0
			for b, y := range tab.states {
				if a == b {
					continue
				}
				paths(m, x, y, func(prob float64) {
					said := forward(m, x, y, tab.grad[a])
					drawn := logPathByDefinition(p.path[0], p.lw) // lw is that of x
					if !(math.Abs(said-drawn) < 1e-9*math.Max(1, math.Abs(drawn))) {
						t.Errorf(
							"seed %d: log q of %v from %v is %g, by definition %g", seed, p.path[0], p.lw, said, drawn,
						)
					}
					copy(run.X[0], x)
					copy(run.Grad[0], tab.grad[a])
					copy(m.y[0], y)
					copy(m.gy[0], tab.grad[b])
					run.U[0], m.fwd[0] = tab.u[a], said
					run.Last[0] = Move{Moved: true}
					m.decide(0, tab.u[b])
					q := prob * math.Exp(drawn) * run.Last[0].Prob
					next[b] += tab.pi(a) * q
					stay -= q
					if q > 1e-3 && len(p.path[0]) == 2 && math.Abs(p.lw[0]-p.lw[1]) > 700 {
						bridged++
					}
				})
			}
			next[a] += tab.pi(a) * stay
		}
		for s := range next {
			if !(math.Abs(next[s]-tab.pi(s)) < 1e-9) {
				t.Errorf("seed %d: a step takes π of state %d from %g to %g", seed, s, tab.pi(s), next[s])
			}
		}
	}
	if bridged < 3 {
		t.Errorf("%d moves of such paths: the test has no power", bridged)
	}
}
