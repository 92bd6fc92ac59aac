package boltzmann

import (
	"math"
	"math/rand/v2"

	"infill/samplers"
	"infill/samplers/targets"
)

// Normaliser is log Z of a machine, estimated.
type Normaliser struct {
	LogZ float64 // in nats
	SE   float64 // standard error from chain to chain, by the delta method
	X    [][]int32
}

// AIS estimates log Z by annealed importance sampling with block Gibbs (Salakhutdinov and Murray,
// ICML 2008), as ACS's appendix D.4 does. From a machine without weights and with the biases
// base, whose normaliser is known, chains go in rungs steps of β to the wanted one,
//
//	log p_β(v) = (1−β) base·v + β b·v + Σ_j log(1 + exp(β (c_j + W_j v)))
//
// and make one sweep at every β. samplers.AIS, which knows nothing of hidden units, redraws one
// pixel at every β in its place.
func AIS(r *targets.RBM, base []float64, chains, rungs int, seed uint64) Normaliser {
	a := annealing{r: r, base: base, act: make([]float64, r.H), logit: make([]float64, len(base)),
		row: make([]float64, r.K)}
	start := float64(r.H) * math.Ln2
	for i := range r.D {
		start += logSumExp(a.rowOf(base, i))
	}
	res := Normaliser{X: make([][]int32, chains)}
	logw := make([]float64, chains)
	for k := range logw {
		rng := samplers.NewStream(seed, "AIS", k)
		v := make([]int32, r.D)
		copy(a.logit, base)
		a.draw(rng, v)
		logw[k] = start
		for n := 1; n <= rungs; n++ {
			a.activate(v)
			before, beta := float64(n-1)/float64(rungs), float64(n)/float64(rungs)
			logw[k] += a.log(v, beta) - a.log(v, before)
			a.sweep(rng, v, beta)
		}
		res.X[k] = v
	}
	mean := logSumExp(logw) - math.Log(float64(chains))
	spread := 0.0
	for _, l := range logw {
		spread += (math.Exp(l-mean) - 1) * (math.Exp(l-mean) - 1)
	}
	n := float64(chains)
	res.LogZ, res.SE = mean, math.Sqrt(spread/(n-1)/n)
	return res
}

// annealing is the state of one chain.
type annealing struct {
	r          *targets.RBM
	base       []float64
	act, logit []float64 // c + Wv, and the logits of the visible units
	row        []float64
	list       []int // entries of the state
}

// activate computes c + Wv.
func (a *annealing) activate(v []int32) {
	a.list = a.list[:0]
	for i, s := range v {
		if e := entry(a.r, i, s); e >= 0 {
			a.list = append(a.list, e)
		}
	}
	for j, sum := range a.r.C {
		row := a.r.W[j*len(a.base) : (j+1)*len(a.base)]
		for _, e := range a.list {
			sum += row[e]
		}
		a.act[j] = sum
	}
}

// log is log p_β(v), up to its constant, after activate.
func (a *annealing) log(v []int32, beta float64) float64 {
	sum := 0.0
	for i, s := range v {
		if e := entry(a.r, i, s); e >= 0 {
			sum += (1-beta)*a.base[e] + beta*a.r.B[e]
		}
	}
	for _, t := range a.act {
		sum += math.Log1p(math.Exp(-math.Abs(beta*t))) + math.Max(0, beta*t)
	}
	return sum
}

// sweep leaves p_β invariant, after activate.
func (a *annealing) sweep(rng *rand.Rand, v []int32, beta float64) {
	for e, b := range a.base {
		a.logit[e] = (1-beta)*b + beta*a.r.B[e]
	}
	for j, t := range a.act {
		if rng.Float64() < 1/(1+math.Exp(-beta*t)) {
			for e, w := range a.r.W[j*len(a.base) : (j+1)*len(a.base)] {
				a.logit[e] += beta * w
			}
		}
	}
	a.draw(rng, v)
}

// draw draws the visible units from their logits.
func (a *annealing) draw(rng *rand.Rand, v []int32) {
	for i := range v {
		row := a.rowOf(a.logit, i)
		t, top := rng.Float64(), logSumExp(row)
		v[i] = int32(len(row) - 1)
		for s, l := range row {
			if t -= math.Exp(l - top); t < 0 {
				v[i] = int32(s)
				break
			}
		}
	}
}

// rowOf are the logits of all categories of visible unit i.
func (a *annealing) rowOf(logit []float64, i int) []float64 {
	if width(a.r) == 1 {
		a.row[0], a.row[1] = 0, logit[i]
		return a.row
	}
	return logit[i*a.r.K : (i+1)*a.r.K]
}

func logSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = math.Max(top, v)
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}
