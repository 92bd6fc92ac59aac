package samplers

import "math"

// Trace records the energy of every chain at every step. Its Observe is a
// visit function for Run.Steps:
//
//	var tr samplers.Trace
//	err := run.Steps(ctx, 1000, tr.Observe)
//	fmt.Println(tr.Diagnose(run))
type Trace struct {
	// Energy[k][t] is U of chain k after the t-th observed step; NaN where the
	// sampler left it unknown and Chains.Refresh was not called before.
	Energy [][]float64
}

// Observe appends the current energies.
func (t *Trace) Observe(r *Run) error {
	if t.Energy == nil {
		t.Energy = make([][]float64, r.Len())
	}
	for k, u := range r.U {
		t.Energy[k] = append(t.Energy[k], u)
	}
	return nil
}

// Diagnosis sums up a run.
type Diagnosis struct {
	Stats      Stats   // over all chains, since the last ResetStats
	Acceptance float64 // mean acceptance probability, in [0,1]
	Jump       float64 // accepted Hamming distance per step
	ESS        float64 // of the energy, by ESSChains; NaN without a trace
	ESSBatch   float64 // the same by batch means, summed over chains
	RHat       float64 // split R-hat of the energy
	MeanEnergy float64
}

// Diagnose sums up the run with the energies traced.
func (t *Trace) Diagnose(r *Run) Diagnosis {
	var d Diagnosis
	for _, s := range r.Stats {
		d.Stats.Add(s)
	}
	d.Acceptance, d.Jump = d.Stats.MeanProb(), d.Stats.JumpDistance()
	d.ESS, d.RHat = math.NaN(), math.NaN()
	if len(t.Energy) > 0 {
		d.ESS, d.RHat = ESSChains(t.Energy), SplitRHat(t.Energy)
	}
	n := 0
	for _, e := range t.Energy {
		d.ESSBatch += ESSBatch(e)
		for _, u := range e {
			d.MeanEnergy += u
			n++
		}
	}
	d.MeanEnergy /= float64(n)
	return d
}
