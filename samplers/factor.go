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
	// weights turns Δ_i(v) of the categories v = lo, lo+1, …, with Δ_i(xi) = 0
	// and −∞ outside the support, into log-weights, in place. They need not be
	// normalised. delta holds all categories, lo = 0, unless the rule is local.
	weights(k, i int, xi int32, lo int, delta []float64)
	// local reports whether the weight of a category depends on its own Δ only.
	local() bool
	// linear reports whether the log-weights of a nominal coordinate without a
	// mask are slope·Δ_i(v), slope > 0, and stay ≥ 0 for the current category.
	// They need then not be written down to be summed.
	linear(k, i int) (slope, stay float64, ok bool)
	// scale returns the numbers that the weights of chain k depend on besides
	// (x, ∇U): as long as they stay, weights at the same state do.
	scale(k int) [2]float64
}

// drawCache holds what the draw needs at one state, so that the weights there
// are worked out once and not at every proposal from it: of the leading binary
// coordinates the flip logits l and exp(−|l|); of each other coordinate the
// largest log-weight, the log-normaliser and the cumulative weights at the ends
// of blocks of categories, relative to the largest. Of many weights
// only the block of the drawn category is then worked out again.
type drawCache struct {
	ok    bool
	scale [2]float64
	l, e  []float64
	m     []float64
	lse   []float64 // NaN where the weights make up no distribution
	cum   []float64
}

// blockLen is the number of categories in a block of a drawCache.
const blockLen = 256

// factorised is the proposer of a rule:
//
//	log q(x→y) = Σ_i [lw_i(y_i) − logsumexp_v lw_i(v)]
type factorised struct {
	dom *Domain
	rule
	lw   []float64   // scratch: one coordinate's weights
	lead int         // number of leading coordinates that are binary
	at   []int       // where a coordinate's blocks begin in drawCache.cum, from lead on, and their end
	cur  []drawCache // of the current state of each chain
	next []drawCache // of its proposal
}

// newFactorised makes the proposer for a number of chains.
func newFactorised(d *Domain, r rule, chains int) *factorised {
	f := &factorised{dom: d, rule: r}
	for f.lead < d.Len() && d.coords[f.lead].Kind == Binary {
		f.lead++
	}
	f.lw = make([]float64, d.maxK)
	rest, blocks := d.Len()-f.lead, 0
	for i := f.lead; i < d.Len(); i++ {
		f.at = append(f.at, blocks)
		blocks += (d.coords[i].K + blockLen - 1) / blockLen
	}
	f.at = append(f.at, blocks)
	empty := func() drawCache {
		return drawCache{
			l: make([]float64, f.lead), e: make([]float64, f.lead),
			m: make([]float64, rest), lse: make([]float64, rest), cum: make([]float64, blocks),
		}
	}
	for range chains {
		f.cur, f.next = append(f.cur, empty()), append(f.next, empty())
	}
	return f
}

// fill works out c for state x and returns, for the coordinates from lead on,
// the log-probability of drawing those of y.
func (f *factorised) fill(c *drawCache, k int, x []int32, g []float64, y []int32) (lq float64) {
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
	for i := f.lead; i < len(x); i++ {
		if f.dom.free[i] == 1 {
			continue
		}
		j := i - f.lead
		lw, m := f.sums(c, j, k, i, x[i], y[i], g)
		c.m[j], c.lse[j] = m, math.NaN()
		if !finite(m) {
			lq = math.NaN()
			continue
		}
		c.lse[j] = m + math.Log(c.cum[f.at[j+1]-1])
		lq += lw - c.lse[j]
	}
	return lq
}

// sums fills c.cum for coordinate i, number j of those that are not binary, and
// returns the log-weight of category yi and the largest of all.
func (f *factorised) sums(c *drawCache, j, k, i int, xi, yi int32, g []float64) (lw, m float64) {
	cum, all := c.cum[f.at[j]:f.at[j+1]], f.dom.coords[i].K
	s := 0.0
	if slope, stay, ok := f.linear(k, i); ok && f.dom.coords[i].Kind == Nominal &&
		f.dom.coords[i].Allowed == nil {
		g = f.dom.grad(g, i)
		gx := g[xi]
		if m = max(slope*(maxOf(g)-gx), stay); !finite(m) {
			return 0, m
		}
		for b := range cum {
			from, to, block := b*blockLen, min((b+1)*blockLen, all), 0.0
			if at := int(xi); at >= from && at < to {
				block = addExps(0, g[from:at], gx, slope, m)
				if d := stay - m; d > negligible {
					block += expNeg(d)
				}
				from = at + 1
			}
			s += addExps(block, g[from:to], gx, slope, m)
			cum[b] = s
		}
		if yi == xi {
			return stay, m
		}
		return slope * (g[yi] - gx), m
	}
	w := f.deltas(i, xi, g, 0, all)
	f.weights(k, i, xi, 0, w)
	lw, m = w[yi], maxOf(w)
	if !finite(m) {
		return lw, m
	}
	for b := range cum {
		n := min(blockLen, len(w))
		s += sumExp(w[:n], m)
		cum[b], w = s, w[n:]
	}
	return lw, m
}

// addExps is s + Σ exp(slope·(g − gx) − m) of what is not negligible.
func addExps(s float64, g []float64, gx, slope, m float64) float64 {
	for _, v := range g {
		if d := slope*(v-gx) - m; d > negligible {
			s += expNeg(d)
		}
	}
	return s
}

// Enter implements keeper.
func (f *factorised) Enter(k int, _ []int32, _ []float64) { f.forget(k) }

// Accepted implements keeper: it makes the proposal's cache the current one.
func (f *factorised) Accepted(k int) { f.cur[k], f.next[k] = f.next[k], f.cur[k] }

// forget drops the current cache, for a gradient that changes at equal states.
func (f *factorised) forget(k int) { f.cur[k].ok = false }

// deltas fills scratch with Δ_i of the categories from lo to before hi.
func (f *factorised) deltas(i int, xi int32, g []float64, lo, hi int) []float64 {
	c := &f.dom.coords[i]
	lw := f.lw[:hi-lo]
	if c.Kind == Nominal {
		g = f.dom.grad(g, i)
		gx := g[xi]
		for v, gv := range g[lo:hi] {
			lw[v] = gv - gx
		}
	} else {
		s := g[f.dom.off[i]] * c.Step
		for v := range lw {
			lw[v] = s * float64(int32(lo+v)-xi)
		}
	}
	if c.Allowed != nil {
		for v, ok := range c.Allowed[lo:hi] {
			if !ok {
				lw[v] = negInf
			}
		}
	}
	return lw
}

func (f *factorised) Propose(k int, x []int32, g []float64, rng *rand.Rand, y []int32) float64 {
	var acc logProduct
	c := &f.cur[k]
	if !c.ok || c.scale != f.scale(k) {
		f.fill(c, k, x, g, x)
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
		j := i - f.lead
		if c.lse[j] != c.lse[j] {
			return math.NaN()
		}
		v, lw := f.draw(c, k, i, x[i], g, rng)
		y[i] = int32(v)
		lq += lw - c.lse[j]
	}
	return lq
}

// draw draws a category of coordinate i and returns it with its log-weight. It is
// drawLog in two stages, the block and the category in it: all cumulative weights
// would be a row per chain to keep, or to work out again at every draw.
func (f *factorised) draw(c *drawCache, k, i int, xi int32, g []float64, rng *rand.Rand) (v int,
	lw float64) {
	j := i - f.lead
	cum := c.cum[f.at[j]:f.at[j+1]]
	t := rng.Float64() * cum[len(cum)-1]
	b := searchCum(t, cum)
	if b > 0 {
		t -= cum[b-1]
	}
	w, base := f.block(k, i, xi, g, b)
	s := 0.0
	for n, l := range w {
		if d := l - c.m[j]; d > negligible {
			// By rounding, t can reach the block's total: then its last category that has weight.
			v, lw = base+n, l
			if s += expNeg(d); s > t {
				break
			}
		}
	}
	return v, lw
}

// block is the log-weights of the categories of block b of coordinate i, in
// scratch, and the first of them.
func (f *factorised) block(k, i int, xi int32, g []float64, b int) (lw []float64, base int) {
	all := f.dom.coords[i].K
	base = b * blockLen
	end := min(base+blockLen, all)
	if !f.local() {
		lw = f.deltas(i, xi, g, 0, all)
		f.weights(k, i, xi, 0, lw)
		return lw[base:end], base
	}
	lw = f.deltas(i, xi, g, base, end)
	f.weights(k, i, xi, base, lw)
	return lw, base
}

func (f *factorised) Reverse(k int, x, y []int32, gy []float64) float64 {
	var acc logProduct
	c := &f.next[k]
	lq := f.fill(c, k, y, gy, x)
	for i, l := range c.l {
		acc.mul(1 + c.e[i])
		if (x[i] != y[i]) != (l > 0) {
			acc.add(-math.Abs(l))
		}
	}
	return lq + acc.result()
}
