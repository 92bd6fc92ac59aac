package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
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
	for _, d := range []*Domain{Bits(5), Categories(5, 4), Integers(5, 3, -1)} {
		for _, g := range []Balance{Sqrt, Ratio, Max, Min} {
			run, err := Start(
				context.Background(), &PAS{Balance: g, Flips: 3}, gradFlat{flat{d}},
				[][]int32{make([]int32, 5)}, Options{},
			)
			if err != nil {
				t.Fatal(err)
			}
			p := run.kernel.(*mhKernel).p.(*pasProposer)
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
func weightsByDefinition(d *Domain, b Balance, x, y []int32, grad []float64) (w, wv []float64) {
	g := func(t float64) float64 {
		return map[Balance]float64{Sqrt: math.Sqrt(t), Ratio: t / (1 + t), Max: math.Max(1, t), Min: math.Min(1, t)}[b]
	}
	w, wv = make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		for v := range int32(d.K(i)) {
			gi := grad[d.GradOffset(i):]
			delta := gi[0] * (d.Value(i, v) - d.Value(i, x[i]))
			if d.Coord(i).Kind == Nominal {
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

// gradFlat is the uniform target with its gradients.
type gradFlat struct{ flat }

func (f gradFlat) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range g {
		clear(g[k])
	}
	return f.Energy(ctx, x, u)
}
