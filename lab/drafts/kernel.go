package drafts

import (
	"context"
	"math"
	"slices"
)

// A model gives U of a state in nats and the logarithms of its rows: for every blank a
// distribution over what it may take, up to a constant, that does not depend on what it holds.
type model interface {
	rows(ctx context.Context, x []int32) (u float64, rows [][]float32, err error)
}

// A pick draws an index with probabilities proportional to weights.
type pick func(weights []float64) int

// drafts is a surrogate transition (Liu, "Monte Carlo strategies in scientific computing", 2001,
// chapter 9; with one step: Christen and Fox, "Markov chain Monte Carlo using an
// approximation", 2005). The small model makes steps that are reversible for π̃ ∝ exp(Ũ/T̃).
// Where they lead, y, is accepted with probability
//
//	min(1, π(y) π̃(x) / (π(x) π̃(y))),    π ∝ exp(U)
//
// All steps are one reversible kernel, so that their product is reversible for π̃, too.
type drafts struct {
	large, small model
	steps        int     // k
	blanks       int     // that each of them draws again
	temp         float64 // T̃
}

// step goes from x to the next state. prob is the acceptance probability, NaN where the small model
// ended in x itself, which asks the large one nothing.
func (d *drafts) step(ctx context.Context, x []int32, draw pick) (
	next []int32, prob float64, err error) {
	y := x
	for range d.steps {
		if y, err = d.move(ctx, y, draw); err != nil {
			return nil, 0, err
		}
	}
	if slices.Equal(x, y) {
		return x, math.NaN(), nil
	}
	var from, to [2]float64 // U, Ũ
	for i, m := range []model{d.large, d.small} {
		if from[i], _, err = m.rows(ctx, x); err != nil {
			return nil, 0, err
		}
		if to[i], _, err = m.rows(ctx, y); err != nil {
			return nil, 0, err
		}
	}
	prob = math.Min(1, math.Exp(to[0]-from[0]-(to[1]-from[1])/d.temp))
	if draw([]float64{1 - prob, prob}) == 1 {
		return y, prob, nil
	}
	return x, prob, nil
}

// move is a step of the small model: some blanks, chosen uniformly, are drawn from their rows, and
// a Metropolis–Hastings test makes that reversible for π̃. With one blank it is gibbs-mh.
func (d *drafts) move(ctx context.Context, x []int32, draw pick) ([]int32, error) {
	u, rows, err := d.small.rows(ctx, x)
	if err != nil {
		return nil, err
	}
	free := make([]float64, len(x))
	for i := range free {
		free[i] = 1
	}
	y := slices.Clone(x)
	var chosen []int
	la := 0.0
	for range min(d.blanks, len(x)) {
		i := draw(free)
		free[i] = 0
		chosen = append(chosen, i)
		w, norm := weights(rows[i], d.temp)
		y[i] = int32(draw(w))
		la -= float64(rows[i][y[i]])/d.temp - norm
	}
	if slices.Equal(x, y) {
		return x, nil
	}
	v, back, err := d.small.rows(ctx, y)
	if err != nil {
		return nil, err
	}
	for _, i := range chosen {
		_, norm := weights(back[i], d.temp)
		la += float64(back[i][x[i]])/d.temp - norm
	}
	p := math.Min(1, math.Exp(la+(v-u)/d.temp))
	if draw([]float64{1 - p, p}) == 1 {
		return y, nil
	}
	return x, nil
}

// weights returns the weights of a row at a temperature, and the logarithm of its normaliser.
func weights(row []float32, temp float64) (w []float64, norm float64) {
	most, sum := float64(slices.Max(row)), 0.0
	w = make([]float64, len(row))
	for v, l := range row {
		w[v] = math.Exp((float64(l) - most) / temp)
		sum += w[v]
	}
	return w, most/temp + math.Log(sum)
}
