package target

import (
	"context"
	"math"
	"slices"
)

// Alone is what the model says of every coordinate with all blanks masked: log f of its categories,
// tempered, and cum for draws by bisection, the sums of f from the first category on. Gradients of
// lists need it to be asked.
func (t *Target) Alone(ctx context.Context) (cum, logp [][]float64, err error) {
	m := len(t.Coords)
	if logp, err = t.AllMasked(ctx); err != nil {
		return nil, nil, err
	}
	t.prior = make([][]float64, m)
	cum = make([][]float64, m)
	for i, lp := range logp {
		if t.Coords[i].Slot < 0 {
			t.prior[i] = make([]float64, len(lp))
			for v := range lp {
				t.prior[i][v] = lp[v] * t.Temp
			}
		}
		if err := t.Finite(i, lp); err != nil {
			return nil, nil, err
		}
		top := slices.Max(lp)
		sum := 0.0
		cum[i] = make([]float64, len(lp))
		for v, l := range lp {
			sum += math.Exp(l - top)
			cum[i][v] = sum
		}
	}
	return cum, logp, nil
}
