package verify

import (
	"context"
	"math"

	"infill/samplers"
)

// quadratic is a log-quadratic energy U(θ) = c + bᵀθ + θᵀWθ in the values of the domain, W
// symmetric (DLP, equation 5, and a constant).
type quadratic struct {
	c float64
	b []float64
	w [][]float64
}

// quadraticOf reads c, b and W off a target of binary coordinates, from U at one state and from
// ∇U = 2Wθ + b there and at its neighbours. It is right for log-quadratic targets only.
func quadraticOf(ctx context.Context, t samplers.Gradienter) (*quadratic, error) {
	d := t.Domain()
	n := d.Len()
	x, u, g := make([][]int32, n+1), make([]float64, n+1), make([][]float64, n+1)
	for k := range x {
		x[k], g[k] = make([]int32, n), make([]float64, d.GradLen())
		if k > 0 {
			x[k][k-1] = 1
		}
	}
	if err := t.EnergyGrad(ctx, x, u, g); err != nil {
		return nil, err
	}
	q := &quadratic{b: append([]float64(nil), g[0]...), w: make([][]float64, n)}
	theta := values(d, x[0])
	for i := range q.w {
		q.w[i] = make([]float64, n)
		for j := range q.w[i] {
			q.w[i][j] = (g[j+1][i] - g[0][i]) / (2 * (d.Value(j, 1) - d.Value(j, 0)))
			q.b[i] -= 2 * q.w[i][j] * theta[j]
		}
	}
	q.c = u[0] - q.energy(theta, nil)
	return q, nil
}

// values are the numbers of a state's categories.
func values(d *samplers.Domain, x []int32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = d.Value(i, v)
	}
	return out
}

// energy is U at any point of space. It fills grad, if not nil, with ∇U.
func (q *quadratic) energy(theta, grad []float64) float64 {
	u := q.c
	for i, row := range q.w {
		wt := 0.0
		for j, w := range row {
			wt += w * theta[j]
		}
		u += theta[i] * (q.b[i] + wt)
		if grad != nil {
			grad[i] = q.b[i] + 2*wt
		}
	}
	return u
}

// smallest is the smallest eigenvalue of W, by power iteration on sI − W, whose eigenvalues
// are not negative for s the largest sum of a row's absolute values.
func (q *quadratic) smallest() float64 {
	n := len(q.w)
	s := 0.0
	for _, row := range q.w {
		sum := 0.0
		for _, w := range row {
			sum += math.Abs(w)
		}
		s = math.Max(s, sum)
	}
	v, next := make([]float64, n), make([]float64, n)
	for i := range v {
		v[i] = 1 / (1 + float64(i*i)) // no symmetry that would hide an eigenvector
	}
	lambda := 0.0
	for range 5000 {
		norm := 0.0
		for i, row := range q.w {
			next[i] = s * v[i]
			for j, w := range row {
				next[i] -= w * v[j]
			}
			norm += next[i] * next[i]
		}
		if norm = math.Sqrt(norm); norm == 0 {
			return s
		}
		lambda = 0
		for i := range v {
			lambda += v[i] * next[i]
		}
		len2 := 0.0
		for i := range v {
			len2 += v[i] * v[i]
			v[i], next[i] = next[i]/norm, 0
		}
		lambda /= len2
	}
	return s - lambda
}
