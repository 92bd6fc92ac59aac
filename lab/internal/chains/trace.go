// Package chains has what the programs of bench share that measure samplers on text: the states
// of chains, what is to be said of them, the spelling of samplers, processor time.
package chains

import (
	"slices"

	"infill/infill"
)

// A Trace has the states of chains, the start included. The first index is the chain, the second
// the step.
type Trace struct {
	Energy [][]float64 // U in nats
	Tokens [][][]int32 // of all blanks
}

// Add enters a step of all chains.
func (t *Trace) Add(s infill.Step) {
	if t.Energy == nil {
		t.Energy, t.Tokens = make([][]float64, len(s.Energy)), make([][][]int32, len(s.Energy))
	}
	for k, u := range s.Energy {
		t.Energy[k] = append(t.Energy[k], u)
		t.Tokens[k] = append(t.Tokens[k], slices.Clone(s.Tokens(k)))
	}
}

// Steps is the number of steps that were made.
func (t *Trace) Steps() int { return len(t.Energy[0]) - 1 }

// Moves is how often a chain changed its state after a step, in the mean.
func (t *Trace) Moves(after int) float64 {
	n := 0
	for _, c := range t.Tokens {
		for s := after + 1; s < len(c); s++ {
			if !slices.Equal(c[s], c[s-1]) {
				n++
			}
		}
	}
	return float64(n) / float64(len(t.Tokens))
}

// A Quality says how good and how different states are.
type Quality struct {
	Mean     float64 `json:"mean"`     // U of all states
	Best     float64 `json:"best"`     // mean U of the five best different ones, or of all if fewer
	Distinct int     `json:"distinct"` // different states
}

// At is the quality of the chains' states after a step.
func (t *Trace) At(step int) Quality { return t.quality(step, step+1) }

// Visited is the quality of all states of the chains.
func (t *Trace) Visited() Quality { return t.Until(t.Steps()) }

// Until is the quality of all states of the chains up to a step and with it.
func (t *Trace) Until(step int) Quality { return t.quality(0, step+1) }

func (t *Trace) quality(from, to int) Quality {
	var q Quality
	seen := map[string]bool{}
	var all []float64
	for k := range t.Energy {
		for s := from; s < to; s++ {
			u := t.Energy[k][s]
			q.Mean += u / float64(len(t.Energy)*(to-from))
			if key := spelling(t.Tokens[k][s]); !seen[key] {
				seen[key] = true
				all = append(all, u)
			}
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	top := all[:min(5, len(all))]
	for _, u := range top {
		q.Best += u / float64(len(top))
	}
	q.Distinct = len(all)
	return q
}

func spelling(ids []int32) string {
	var b []byte
	for _, id := range ids {
		b = append(b, byte(id), byte(id>>8), byte(id>>16))
	}
	return string(b)
}

// EnergyESS is the effective number of draws of U among the states from a step on.
func (t *Trace) EnergyESS(from int) float64 {
	var u [][]float64
	for _, e := range t.Energy {
		u = append(u, e[from:])
	}
	return ESS(u)
}

// TokenESS is the effective sample size of the tokens: of the one-hot vectors of all blanks
// together.
func (t *Trace) TokenESS(from int) float64 {
	type place struct {
		blank int
		id    int32
	}
	var places []place
	known := map[place]bool{}
	for _, c := range t.Tokens {
		for _, state := range c[from:] {
			for i, id := range state {
				if p := (place{i, id}); !known[p] {
					known[p] = true
					places = append(places, p)
				}
			}
		}
	}
	var features [][][]float64
	for _, p := range places {
		features = append(features, t.is(p.blank, p.id, from))
	}
	return ESS(features...)
}

// is says, from a step on, when a blank holds a token.
func (t *Trace) is(blank int, id int32, from int) [][]float64 {
	out := make([][]float64, len(t.Tokens))
	for k, c := range t.Tokens {
		for _, state := range c[from:] {
			v := 0.0
			if state[blank] == id {
				v = 1
			}
			out[k] = append(out[k], v)
		}
	}
	return out
}

// BlankESS is the effective number of draws of “the blank holds this token”.
func (t *Trace) BlankESS(blank int, id int32, from int) float64 {
	return ESS(t.is(blank, id, from))
}
