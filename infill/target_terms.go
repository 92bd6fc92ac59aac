package infill

import (
	"context"
	"fmt"
	"math"
	"slices"

	"infill/infill/text"
	"infill/samplers"
)

// addTerms adds Σ λ_k U_k, in nats, to the energies of states at a temperature. Where u is −∞ it
// stays.
func (t *target) addTerms(ctx context.Context, x [][]int32, u []float64, temp float64) error {
	if t.extra == nil {
		return nil
	}
	var texts []Finished
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
			texts = append(texts, t.finished(t.spell(x[k], t.asModel)))
		}
		number[k] = n
	}
	sums := make([]float64, len(texts))
	if err := t.extra.sums(ctx, texts, sums, nil); err != nil {
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

// finished is a filling as terms judge it.
func (t *target) finished(f Filling) Finished {
	return Finished{Text: f.Text, Spans: f.Spans, Original: t.extra.original}
}

// energies fills in Filling.Energies.
func (p *plan) energies(ctx context.Context, fillings []Filling) error {
	e := p.parts[0].tgt.extra
	if e == nil {
		return nil
	}
	texts := make([]Finished, len(fillings))
	for k := range fillings {
		texts[k] = p.parts[0].tgt.finished(fillings[k])
		fillings[k].Energies = map[string]float64{ModelEnergy: fillings[k].Score}
	}
	v := make([]float64, len(texts))
	for i, w := range e.terms {
		clear(v)
		if w.Weight != 0 {
			if err := e.values(ctx, i, texts, v); err != nil {
				return err
			}
		}
		for k := range fillings {
			part := w.Weight*v[k] + 0 // −0 is 0
			fillings[k].Energies[w.Term.Name()] = part
			fillings[k].Energies[ModelEnergy] -= part
		}
	}
	if p.opt.Results.Score == ScorePLL {
		for k := range fillings {
			fillings[k].Parts.PLL = fillings[k].Energies[ModelEnergy]
		}
	}
	return nil
}

// honest refuses samplers that would leave terms out: those that draw from what the model says
// alone, without an acceptance step or energies to correct it.
func (p *plan) honest() error {
	e, info := p.parts[0].tgt.extra, p.opt.sampler()
	if e == nil || len(info.Needs) == 0 || info.Exact ||
		e.guided && slices.Equal(info.Needs, []samplers.Need{samplers.NeedGradients}) {
		return nil // or it goes by the gradient of the whole energy
	}
	return fmt.Errorf("%w: the sampler %s has no acceptance step, so it would leave out the parts of "+
		"the energy besides the model's; rows, dmala and gibbs-mh keep to them", samplers.ErrUnsupported,
		info.Name)
}
