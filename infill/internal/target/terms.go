package target

import (
	"context"
	"fmt"
	"math"

	"infill/infill/request"
	"infill/infill/text"
)

// addGuides adds the gradients of terms to those of the states in a bucket, as the model gives
// them: mask × vocabulary values.
func (t *Target) addGuides(ctx context.Context, b *bucket) error {
	if t.Extra == nil {
		return nil
	}
	for _, g := range t.Extra.guides {
		m := len(b.lay.Sentence.Blanks)
		logProb := resized[float32](nil, len(b.states), m)
		wide := resized[float32](nil, len(b.states), m*t.Model.VocabSize())
		err := g.model.Gradient(ctx, b.lay.Sentence, b.states, t.Mode, logProb, wide)
		if err != nil {
			return fmt.Errorf("gradient of a part of the energy: %w", err)
		}
		for j := range wide {
			for i, x := range wide[j] {
				b.wide[j][i] += float32(g.weight) * x
			}
		}
	}
	return nil
}

// AddTerms adds Σ λ_k U_k, in nats, to the energies of states at a temperature. Where u is −∞ it
// stays.
func (t *Target) AddTerms(ctx context.Context, x [][]int32, u []float64, temp float64) error {
	if t.Extra == nil {
		return nil
	}
	var texts []request.Finished
	at := map[string]int{} // chains meet: a state is spelt once
	number := make([]int, len(x))
	for k := range x {
		if math.IsInf(u[k], -1) {
			number[k] = -1
			continue
		}
		key := text.IDsKey(x[k])
		n, seen := at[key]
		if !seen {
			n = len(texts)
			at[key] = n
			texts = append(texts, t.Finished(t.Spell(x[k], t.asModel)))
		}
		number[k] = n
	}
	sums := make([]float64, len(texts))
	if err := t.Extra.Sums(ctx, texts, sums, nil); err != nil {
		return err
	}
	for k, n := range number {
		if n < 0 {
			continue
		}
		u[k] += sums[n] / temp
		if math.IsInf(u[k], -1) { // a term is not a constraint
			u[k] = math.NaN()
		}
	}
	return nil
}

// Finished is a filling as terms judge it.
func (t *Target) Finished(f request.Filling) request.Finished {
	return request.Finished{Text: f.Text, Spans: f.Spans, Original: t.Extra.original}
}

// Energies fills in Filling.Energies.
func (p *Task) Energies(ctx context.Context, fillings []request.Filling) error {
	e := p.Choices[0].Target.Extra
	if e == nil {
		return nil
	}
	texts := make([]request.Finished, len(fillings))
	for k := range fillings {
		texts[k] = p.Choices[0].Target.Finished(fillings[k])
		fillings[k].Energies = map[string]float64{request.ModelEnergy: fillings[k].Score}
	}
	v := make([]float64, len(texts))
	for i, w := range e.Terms {
		clear(v)
		if w.Weight != 0 {
			if err := e.values(ctx, i, texts, v); err != nil {
				return err
			}
		}
		for k := range fillings {
			part := w.Weight*v[k] + 0 // −0 is 0
			fillings[k].Energies[w.Term.Name()] = part
			fillings[k].Energies[request.ModelEnergy] -= part
		}
	}
	if p.Opt.Results.Score == request.ScorePLL {
		for k := range fillings {
			fillings[k].Parts.PLL = fillings[k].Energies[request.ModelEnergy]
		}
	}
	return nil
}
