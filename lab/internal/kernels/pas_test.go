package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// pathByDefinition is log q of changing the sites in the order given, at the
// weights w (sum over the values of a site) and wv (of the value that the site
// takes):
//
//	Σ_r log[ w_{u_r} / (Σ_all w − Σ_{s<r} w_{u_s}) ] + Σ_r log[ wv_{u_r} / w_{u_r} ]
func pathByDefinition(order []int, w, wv []float64) float64 {
	rest, lq := 0.0, 0.0
	for _, v := range w {
		rest += v
	}
	for _, u := range order {
		lq += math.Log(w[u]/rest) + math.Log(wv[u]/w[u])
		rest -= w[u]
	}
	return lq
}

// TestPASReversePathIsTheOppositeOrder pins both directions to the definition:
// the sites as drawn with the weights at θ, and in the opposite order with the
// weights at θ'. The other order would give another probability, which is told
// apart here.
func TestPASReversePathIsTheOppositeOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 8))
	for _, d := range []*samplers.Domain{domain.Bits(5), domain.Categories(5, 4), domain.Integers(5, 3, -1)} {
		for _, g := range []samplers.Balance{samplers.Sqrt, samplers.Ratio, samplers.Max, samplers.Min} {
			p := proposerOf(t, &PAS{Balance: g, Flips: 3}, d).(*pasProposer)
			x, y := make([]int32, 5), make([]int32, 5)
			gx, gy := make([]float64, d.GradLen()), make([]float64, d.GradLen())
			for j := range gx {
				gx[j], gy[j] = rng.NormFloat64(), rng.NormFloat64()
			}
			for i := range x {
				x[i] = int32(rng.IntN(d.K(i)))
			}
			order := []int{}
			for len(order) != 3 { // one proposal in sixteen changes one site
				copy(y, x)
				lq := p.Propose(0, x, gx, rng, y)
				order = order[:0]
				for _, j := range p.path[0] {
					order = append(order, int(j)) // all five can change
				}
				w, wv := weightsByDefinition(d, g, x, y, gx)
				if want := pathByDefinition(order, w, wv); !(math.Abs(lq-want) < 1e-12) {
					t.Errorf("log q along %v is %.14g, by definition %.14g", order, lq, want)
				}
			}
			w, wv := weightsByDefinition(d, g, y, x, gy)
			back := p.Reverse(0, x, y, gy)
			opposite := []int{order[2], order[1], order[0]}
			if want := pathByDefinition(opposite, w, wv); !(math.Abs(back-want) < 1e-12) {
				t.Errorf("log q back from %v is %.14g, by definition %.14g", order, back, want)
			}
			if same := pathByDefinition(order, w, wv); math.Abs(back-same) < 1e-6 {
				t.Errorf(
					"the orders %v and %v have the same probability: the test has no power", order, opposite,
				)
			}
		}
	}
}

// weightsByDefinition are w_i = Σ_{v≠x_i} g(exp(Δ_i(v))) and g(exp(Δ_i(y_i))),
// with g written out.
func weightsByDefinition(d *samplers.Domain, b samplers.Balance, x, y []int32, grad []float64) (w, wv []float64) {
	g := func(t float64) float64 {
		return map[samplers.Balance]float64{samplers.Sqrt: math.Sqrt(t), samplers.Ratio: t / (1 + t), samplers.Max: math.Max(1, t), samplers.Min: math.Min(1, t)}[b]
	}
	w, wv = make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		for v := range int32(d.K(i)) {
			gi := grad[d.GradOffset(i):]
			delta := gi[0] * (d.Value(i, v) - d.Value(i, x[i]))
			if d.Coord(i).Kind == samplers.Nominal {
				delta = gi[v] - gi[x[i]]
			}
			if v != x[i] {
				w[i] += g(math.Exp(delta))
			}
			if v == y[i] {
				wv[i] = g(math.Exp(delta))
			}
		}
	}
	return w, wv
}

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
	tab := newTable(rng, domain.Bits(3), 0.7, 0)
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
		p := proposerOf(t, &PAS{Flips: 2}, tab.dom).(*pasProposer)
		next := make([]float64, len(tab.states)) // π after a step
		for a, x := range tab.states {
			stay := 1.0
			for b, y := range tab.states {
				if a == b {
					continue
				}
				paths(p, x, y, func(prob float64) {
					said := forward(p, x, y, tab.grad[a])
					drawn := logPathByDefinition(p.path[0], p.lw) // lw belongs to x
					if !(math.Abs(said-drawn) < 1e-9*math.Max(1, math.Abs(drawn))) {
						t.Errorf(
							"seed %d: log q of %v from %v is %g, by definition %g", seed, p.path[0], p.lw, said, drawn,
						)
					}
					la := tab.u[b] - tab.u[a] + p.Reverse(0, x, y, tab.grad[b]) - said
					q := prob * math.Exp(drawn) * math.Min(1, math.Exp(la))
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
