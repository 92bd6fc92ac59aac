package bench

import (
	"math"
	"slices"

	"infill/samplers"
)

// apart counts the states of every chain for itself, for the standard errors.
type apart struct {
	domain *samplers.Domain
	sum    []*samplers.Tally // of each chain; coordinate and value, one after the other
}

func newApart(d *samplers.Domain, chains int) *apart {
	a := &apart{domain: d}
	n := 0
	for i := range d.Len() {
		n += d.K(i)
	}
	for range chains {
		a.sum = append(a.sum, samplers.NewTally(n))
	}
	return a
}

func (a *apart) observe(r *samplers.Run) {
	for k, x := range r.X {
		w := a.sum[k].Weigh(r.LogWeight[k])
		at := 0
		for i, v := range x {
			a.sum[k].Sum[at+int(v)] += w
			at += a.domain.K(i)
		}
	}
}

// errors estimates the standard errors by leaving out one chain after the other: the
// jackknife (Efron and Stein, 1981), with the chains as independent samples.
func (a *apart) errors(marginal []float64, far samplers.Trace, run *samplers.Run) SE {
	n := len(a.sum)
	of := func(f func(without int) float64) float64 { return jackknife(n, f) }
	se := SE{Error: math.NaN(), ESS: math.NaN()}
	if marginal != nil {
		se.Error = of(func(k int) float64 { return a.rms(marginal, k) })
	}
	if far.LogWeight == nil {
		// The number of independent draws grows with the number of chains.
		scale := float64(n) / float64(n-1)
		se.ESS = of(func(k int) float64 {
			return scale * samplers.ESSChains(slices.Concat(far.Value[:k], far.Value[k+1:]))
		})
	}
	stats := func(k int) (s samplers.Stats) {
		for j, x := range run.Stats {
			if j != k {
				s.Add(x)
			}
		}
		return s
	}
	se.MeanProb = of(func(k int) float64 { s := stats(k); return s.MeanProb() })
	se.Jump = of(func(k int) float64 { s := stats(k); return s.JumpDistance() })
	return se
}

// rms is the error of the marginal probabilities of all chains but one.
func (a *apart) rms(marginal []float64, without int) float64 {
	all, square := samplers.NewTally(len(marginal)), 0.0
	for k, s := range a.sum {
		if k != without {
			all.Add(s)
		}
	}
	for j, p := range marginal {
		e := all.Sum[j]/all.Total - p
		square += e * e
	}
	return math.Sqrt(square / float64(len(marginal)))
}

// jackknife is the standard error of a figure of n parts, NaN for fewer than two. f gives
// the figure without one of them.
func jackknife(n int, f func(without int) float64) float64 {
	if n < 2 {
		return math.NaN()
	}
	v := make([]float64, n)
	mean := 0.0
	for k := range v {
		v[k] = f(k)
		mean += v[k] / float64(n)
	}
	square := 0.0
	for _, x := range v {
		square += (x - mean) * (x - mean)
	}
	return math.Sqrt(square * float64(n-1) / float64(n))
}
