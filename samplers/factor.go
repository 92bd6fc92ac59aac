package samplers

import (
	"math"
	"math/rand/v2"
)

// rule gives the weights of a proposal that changes all coordinates in
// parallel and independently given (x, ∇U). k is the chain and i the
// coordinate, so that a rule can hold scales of either.
type rule interface {
	// flips turns Δ of flipping each of the binary coordinates lo.. into the
	// logit of that flip, in place.
	flips(k, lo int, delta []float64)
	// weights turns Δ_i(v) of all categories, with Δ_i(xi) = 0 and −∞ outside
	// the support, into log-weights, in place. They need not be normalised.
	weights(k, i int, xi int32, delta []float64)
	// scale returns the numbers that the weights of chain k depend on besides
	// (x, ∇U): as long as they stay, weights at the same state do.
	scale(k int) [2]float64
}

// flipCache holds what the draw needs of the leading binary coordinates at one
// state: the flip logits l and exp(−|l|), so that the weights at a state are
// worked out once and not at every proposal from it.
type flipCache struct {
	ok    bool
	scale [2]float64
	l, e  []float64
}

// factorised is the proposer of a rule:
//
//	log q(x→y) = Σ_i [lw_i(y_i) − logsumexp_v lw_i(v)]
type factorised struct {
	dom *Domain
	rule
	lw   []float64   // scratch: one coordinate's weights or a run of flips
	cum  []float64   // scratch of drawLog
	lead int         // number of leading coordinates that are binary
	cur  []flipCache // of the current state of each chain
	next []flipCache // of its proposal
}

// newFactorised makes the proposer for a number of chains.
func newFactorised(d *Domain, r rule, chains int) *factorised {
	f := &factorised{dom: d, rule: r}
	for f.lead < d.Len() && d.coords[f.lead].Kind == Binary {
		f.lead++
	}
	f.lw = make([]float64, d.maxK)
	for range chains {
		f.cur = append(f.cur, flipCache{l: make([]float64, f.lead), e: make([]float64, f.lead)})
		f.next = append(f.next, flipCache{l: make([]float64, f.lead), e: make([]float64, f.lead)})
	}
	f.cum = make([]float64, d.maxK)
	return f
}

// fill works out c for state x.
func (f *factorised) fill(c *flipCache, k int, x []int32, g []float64) {
	c.ok, c.scale = true, f.scale(k)
	for i := range c.l {
		d := g[i] * f.dom.coords[i].Step
		if x[i] != 0 {
			d = -d
		}
		c.l[i] = d
	}
	f.flips(k, 0, c.l)
	for i, l := range c.l {
		c.e[i] = math.Exp(-math.Abs(l))
	}
}

// accepted makes the proposal's cache the current one.
func (f *factorised) accepted(k int) { f.cur[k], f.next[k] = f.next[k], f.cur[k] }

// forget drops the current cache, for a gradient that changes at equal states.
func (f *factorised) forget(k int) { f.cur[k].ok = false }

// deltas fills lw with Δ_i of all categories.
func (f *factorised) deltas(i int, xi int32, g []float64) []float64 {
	c := &f.dom.coords[i]
	lw := f.lw[:c.K]
	if c.Kind == Nominal {
		g = f.dom.grad(g, i)
		gx := g[xi]
		for v, gv := range g {
			lw[v] = gv - gx
		}
	} else {
		s := g[f.dom.off[i]] * c.Step
		for v := range lw {
			lw[v] = s * float64(int32(v)-xi)
		}
	}
	if c.Allowed != nil {
		for v, ok := range c.Allowed {
			if !ok {
				lw[v] = negInf
			}
		}
	}
	return lw
}

func (f *factorised) propose(k int, x []int32, g []float64, rng *rand.Rand, y []int32) float64 {
	var acc logProduct
	c := &f.cur[k]
	if !c.ok || c.scale != f.scale(k) {
		f.fill(c, k, x, g)
	}
	for i, l := range c.l {
		// exp(−|l|) gives the flip's probability and both normalisers without
		// overflow.
		e := c.e[i]
		likely := rng.Float64()*(1+e) < 1 // the likelier outcome
		acc.mul(1 + e)
		if !likely {
			acc.add(-math.Abs(l))
		}
		if likely == (l > 0) {
			y[i] = 1 - x[i]
		}
	}
	lq := acc.result()
	for i := f.lead; i < len(x); i++ {
		if f.dom.free[i] == 1 {
			continue
		}
		lw := f.deltas(i, x[i], g)
		f.weights(k, i, x[i], lw)
		v, lse := drawLog(rng, lw, f.cum)
		if v < 0 {
			return math.NaN()
		}
		y[i] = int32(v)
		lq += lw[v] - lse
	}
	return lq
}

func (f *factorised) reverse(k int, x, y []int32, gy []float64) float64 {
	var acc logProduct
	c := &f.next[k]
	f.fill(c, k, y, gy)
	for i, l := range c.l {
		acc.mul(1 + c.e[i])
		if (x[i] != y[i]) != (l > 0) {
			acc.add(-math.Abs(l))
		}
	}
	lq := acc.result()
	for i := f.lead; i < len(y); i++ {
		if f.dom.free[i] == 1 {
			continue
		}
		lw := f.deltas(i, y[i], gy)
		f.weights(k, i, y[i], lw)
		lq += lw[x[i]] - logSumExp(lw)
	}
	return lq
}

// logProduct accumulates Σ add − log Π mul with few logarithms.
type logProduct struct {
	sum, prod float64
}

// mul divides the result by f, 1 ≤ f ≤ 2.
func (a *logProduct) mul(f float64) {
	if a.prod == 0 {
		a.prod = 1
	}
	a.prod *= f
	if a.prod > 1e290 {
		a.sum -= math.Log(a.prod)
		a.prod = 1
	}
}

// add adds the logarithm l.
func (a *logProduct) add(l float64) { a.sum += l }

func (a *logProduct) result() float64 {
	if a.prod == 0 {
		return a.sum
	}
	return a.sum - math.Log(a.prod)
}
