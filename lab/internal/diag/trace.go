// Package diag observes the runs of package samplers: traces, weighted averages, effective sample
// sizes and R-hat.
package diag

import (
	"math"

	"infill/samplers"
)

// Trace records a number of every chain at every step. Its Observe is a visit
// function for samplers.Run.Sample and samplers.Run.Steps:
//
//	var energy diag.Trace
//	err := run.Sample(ctx, 1000, energy.Observe)
//	fmt.Println(energy.Diagnose(run).ESS)
type Trace struct {
	// Scalar is what is recorded of chain k. nil records its energy, NaN where it is not known.
	Scalar func(r *samplers.Run, k int) float64
	Value  [][]float64 // the number of each chain after each observed step
	// LogWeight has the logarithms of the states' weights (Chains.LogWeight), nil while all were 0.
	LogWeight [][]float64
}

// Observe appends the current numbers and weights.
func (t *Trace) Observe(r *samplers.Run) error {
	if t.Value == nil {
		t.Value = make([][]float64, r.Len())
	}
	if t.LogWeight == nil {
		for _, w := range r.LogWeight {
			if w != 0 {
				t.startWeights()
				break
			}
		}
	}
	for k, v := range r.U {
		if t.Scalar != nil {
			v = t.Scalar(r, k)
		}
		t.Value[k] = append(t.Value[k], v)
		if t.LogWeight != nil {
			t.LogWeight[k] = append(t.LogWeight[k], r.LogWeight[k])
		}
	}
	return nil
}

// startWeights gives the states observed so far the weight 1.
func (t *Trace) startWeights() {
	t.LogWeight = make([][]float64, len(t.Value))
	for k, e := range t.Value {
		t.LogWeight[k] = make([]float64, len(e))
	}
}

// diagnosis sums up a run. The effective sample sizes and R-hat suppose equally weighted states.
// For weighted ones ([samplers.SGDLD]) and without a trace they are NaN.
type diagnosis struct {
	Stats    samplers.Stats // over all chains, since the last ResetStats
	ESS      float64        // of the scalar: that of all chains, over RHat² if above 1
	ESSError float64        // its standard error by Jackknife; NaN for a single chain
	ESSBatch float64        // the same by batch means, summed over chains
	RHat     float64        // split R-hat of the scalar
	Mean     float64        // of the scalar with the weights of the states; NaN without a trace
}

// Diagnose sums up the run with the numbers traced.
func (t *Trace) Diagnose(r *samplers.Run) diagnosis {
	var d diagnosis
	for _, s := range r.Stats {
		d.Stats.Add(s)
	}
	d.ESS, d.ESSError, d.ESSBatch, d.RHat = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if len(t.Value) > 0 && t.LogWeight == nil {
		d.ESS, d.ESSError = essChains(t.Value), essChainsError(t.Value)
		d.RHat = SplitRHat(t.Value)
		d.ESSBatch = 0
		for _, e := range t.Value {
			d.ESSBatch += ESSBatch(e)
		}
	}
	d.Mean = t.mean()
	return d
}

// mean is the weighted mean over all chains. A state of weight 0 does not enter,
// whatever its number.
func (t *Trace) mean() float64 {
	sum := NewTally(1)
	for k, e := range t.Value {
		for j, u := range e {
			log := 0.0
			if t.LogWeight != nil {
				log = t.LogWeight[k][j]
			}
			if w := sum.Weigh(log); w != 0 {
				sum.Sum[0] += w * u
			}
		}
	}
	return sum.Sum[0] / sum.Total
}
