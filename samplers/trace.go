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
	// Weight[k][t] is the weight of that state in averages (Chains.Weight); nil
	// while all were 1, as they are for every sampler but SGDLD.
	Weight [][]float64
}

// Observe appends the current energies and weights.
func (t *Trace) Observe(r *Run) error {
	if t.Energy == nil {
		t.Energy = make([][]float64, r.Len())
	}
	if t.Weight == nil {
		for _, w := range r.Weight {
			if w != 1 {
				t.startWeights()
				break
			}
		}
	}
	for k, u := range r.U {
		t.Energy[k] = append(t.Energy[k], u)
		if t.Weight != nil {
			t.Weight[k] = append(t.Weight[k], r.Weight[k])
		}
	}
	return nil
}

// startWeights gives the states observed so far the weight 1.
func (t *Trace) startWeights() {
	t.Weight = make([][]float64, len(t.Energy))
	for k, e := range t.Energy {
		for range e {
			t.Weight[k] = append(t.Weight[k], 1)
		}
	}
}

// Diagnosis sums up a run. The effective sample sizes and R-hat are those of
// equally weighted states. They mean nothing for weighted ones (SGDLD), and are
// NaN then; and so they are without a trace.
type Diagnosis struct {
	Stats      Stats   // over all chains, since the last ResetStats
	Acceptance float64 // mean acceptance probability, in [0,1]
	Jump       float64 // accepted Hamming distance per step
	ESS        float64 // of the energy, by ESSChains
	ESSBatch   float64 // the same by batch means, summed over chains
	RHat       float64 // split R-hat of the energy
	// MeanEnergy is the mean of the energies with their weights; NaN without a
	// trace.
	MeanEnergy float64
}

// Diagnose sums up the run with the energies traced.
func (t *Trace) Diagnose(r *Run) Diagnosis {
	var d Diagnosis
	for _, s := range r.Stats {
		d.Stats.Add(s)
	}
	d.Acceptance, d.Jump = d.Stats.MeanProb(), d.Stats.JumpDistance()
	d.ESS, d.ESSBatch, d.RHat = math.NaN(), math.NaN(), math.NaN()
	if len(t.Energy) > 0 && t.Weight == nil {
		d.ESS, d.RHat = ESSChains(t.Energy), SplitRHat(t.Energy)
		d.ESSBatch = 0
		for _, e := range t.Energy {
			d.ESSBatch += ESSBatch(e)
		}
	}
	d.MeanEnergy = t.meanEnergy()
	return d
}

// meanEnergy is the weighted mean over all chains. A state of weight 0 does not
// enter, whatever its energy.
func (t *Trace) meanEnergy() float64 {
	sum, total := 0.0, 0.0
	for k, e := range t.Energy {
		for j, u := range e {
			w := 1.0
			if t.Weight != nil {
				w = t.Weight[k][j]
			}
			if w != 0 {
				sum += w * u
				total += w
			}
		}
	}
	return sum / total
}
