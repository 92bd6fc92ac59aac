package compare

import (
	"math"

	"infill/lab/internal/diag"
	"infill/samplers"
)

// apart counts the states of every chain for itself, for the standard errors.
type apart struct {
	domain *samplers.Domain
	sum    []*diag.Tally // of each chain; coordinate and value, one after the other
}

func newApart(d *samplers.Domain, chains int) *apart {
	a := &apart{domain: d}
	n := 0
	for i := range d.Len() {
		n += d.K(i)
	}
	for range chains {
		a.sum = append(a.sum, diag.NewTally(n))
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

// errors estimates the standard errors by the jackknife, with the chains as independent samples.
func (a *apart) errors(marginal []float64, far diag.Trace, run *samplers.Run) SE {
	n := len(a.sum)
	of := func(f func(without int) float64) float64 { return diag.Jackknife(n, f) }
	se := SE{Error: math.NaN(), ESS: math.NaN()}
	if marginal != nil {
		se.Error = of(func(k int) float64 { return a.rms(marginal, k) })
	}
	if far.LogWeight == nil {
		se.ESS = far.Diagnose(run).ESSError
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
	all, square := diag.NewTally(len(marginal)), 0.0
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
