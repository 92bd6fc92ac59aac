package infill

import (
	"context"
	"fmt"

	"infill/mlm"
	"infill/samplers"
)

// target is the energy of one sentence as the samplers see it: coordinate i is
// blank i, category v of it is token support[i][v], and U is the
// pseudo-log-likelihood divided by the temperature.
type target struct {
	model    *mlm.Model
	sentence *mlm.Sentence
	support  [][]int32 // tokens that may fill each blank
	domain   *samplers.Domain
	temp     float64
	mode     mlm.GradientMode

	// Scratch, grown once: what goes to the model and what comes back.
	states  [][]int32
	logProb [][]float32
	wide    [][]float32 // m·V gradients or V conditionals per state
}

var (
	_ samplers.Gradienter        = (*target)(nil)
	_ samplers.MaskedConditioner = (*target)(nil)
)

func newTarget(m *mlm.Model, s *mlm.Sentence, support [][]int32, temp float64, mode mlm.GradientMode) (*target, error) {
	coords := make([]samplers.Coord, len(support))
	for i := range support {
		coords[i] = samplers.Coord{Kind: samplers.Nominal, K: len(support[i])}
	}
	d, err := samplers.NewDomain(coords...)
	if err != nil {
		return nil, fmt.Errorf("%d blanks: %w", len(support), err)
	}
	return &target{model: m, sentence: s, support: support, domain: d, temp: temp, mode: mode}, nil
}

// Domain implements samplers.Target.
func (t *target) Domain() *samplers.Domain { return t.domain }

// Energy implements samplers.Target.
func (t *target) Energy(ctx context.Context, x [][]int32, u []float64) error {
	t.prepare(x, 0)
	if err := t.model.LogProb(ctx, t.sentence, t.states, t.logProb); err != nil {
		return err
	}
	t.sum(u)
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (t *target) EnergyGrad(ctx context.Context, x [][]int32, u []float64, grad [][]float64) error {
	vocab := t.model.VocabSize()
	t.prepare(x, len(t.support)*vocab)
	if err := t.model.Gradient(ctx, t.sentence, t.states, t.mode, t.logProb, t.wide); err != nil {
		return err
	}
	t.sum(u)
	for k := range x {
		for i, ids := range t.support {
			t.gather(grad[k][t.domain.GradOffset(i):], t.wide[k][i*vocab:(i+1)*vocab], ids)
		}
	}
	return nil
}

// MaskedConditional implements samplers.MaskedConditioner.
func (t *target) MaskedConditional(ctx context.Context, x [][]int32, i []int, logp [][]float64) error {
	t.prepare(x, t.model.VocabSize())
	if err := t.model.Conditional(ctx, t.sentence, t.states, i, t.wide); err != nil {
		return err
	}
	for k := range x {
		t.gather(logp[k], t.wide[k], t.support[i[k]])
	}
	return nil
}

// prepare translates categories into tokens and makes room for the results,
// width values a state.
func (t *target) prepare(x [][]int32, width int) {
	m := len(t.support)
	t.states = rows(t.states, len(x), m)
	t.logProb = rows(t.logProb, len(x), m)
	t.wide = rows(t.wide, len(x), width)
	for k, xs := range x {
		for i, v := range xs {
			t.states[k][i] = t.support[i][v]
		}
	}
}

// rows returns n rows of the given width, reusing those there are.
func rows[T any](s [][]T, n, width int) [][]T {
	s = s[:cap(s)]
	for len(s) < n {
		s = append(s, nil)
	}
	s = s[:n]
	for k := range s {
		if cap(s[k]) < width {
			s[k] = make([]T, width)
		}
		s[k] = s[k][:width]
	}
	return s
}

// sum sets u to the tempered energies of the log-probabilities at hand.
func (t *target) sum(u []float64) {
	for k := range u {
		u[k] = total(t.logProb[k]) / t.temp
	}
}

// gather picks the entries of the support out of a row over the vocabulary.
func (t *target) gather(dst []float64, row []float32, ids []int32) {
	for v, id := range ids {
		dst[v] = float64(row[id]) / t.temp
	}
}

func total(logProb []float32) float64 {
	var s float64
	for _, l := range logProb {
		s += float64(l)
	}
	return s
}
