package verify

import (
	"context"
	"math"

	"infill/lab/targets"
	"infill/samplers"
)

// transition is DULA's transition matrix on all states of a target, row by row:
//
//	q(θ'|θ) = Π_i softmax_{v}(½∇U(θ)_i(v − θ_i) − (v − θ_i)²/(2α)) at θ'_i
//
// (DLP, equation 2).
func transition(ctx context.Context, t samplers.Gradienter, e *targets.Exact, alpha float64) (
	[][]float64, error) {
	return proposals(ctx, t, e, alpha, dulaBeta)
}

// proposals is transition with β in the place of ½ (ACS, equation 6).
func proposals(ctx context.Context, t samplers.Gradienter, e *targets.Exact, alpha, beta float64) (
	[][]float64, error) {
	d := t.Domain()
	x := [][]int32{make([]int32, d.Len())}
	u, g := make([]float64, 1), [][]float64{make([]float64, d.GradLen())}
	flip := make([]float64, d.Len())
	q := make([][]float64, len(e.P))
	for s := range q {
		e.State(s, x[0])
		if err := t.EnergyGrad(ctx, x, u, g); err != nil {
			return nil, err
		}
		leaving(d, x[0], g[0], alpha, beta, flip)
		q[s] = make([]float64, len(e.P))
		addStep(e, x[0], flip, 1, q[s])
	}
	return q, nil
}

// dulaBeta is the balancing exponent of DULA and DMALA, where that of ACS is a setting.
const dulaBeta = .5

// leaving is q(θ'_i ≠ θ_i | θ) for every site, with a gradient g at θ.
func leaving(d *samplers.Domain, x []int32, g []float64, alpha, beta float64, out []float64) {
	for i, v := range x {
		by := d.Value(i, 1-v) - d.Value(i, v)
		out[i] = 1 / (1 + math.Exp(by*by/(2*alpha)-beta*g[i]*by))
	}
}

// addStep adds the law of a step from x to a row of the transition matrix, times weight.
func addStep(e *targets.Exact, x []int32, flip []float64, weight float64, row []float64) {
	y := make([]int32, len(x))
	for r := range row {
		e.State(r, y)
		p := weight
		for i, v := range y {
			if v != x[i] {
				p *= flip[i]
			} else {
				p *= 1 - flip[i]
			}
		}
		row[r] += p
	}
}

// stationary is the stationary law of a transition matrix, by the elimination of Grassmann,
// Taksar and Heyman, which subtracts nothing and so is right to the last digits. The matrix
// is overwritten.
func stationary(q [][]float64) []float64 {
	n := len(q)
	for k := n - 1; k > 0; k-- {
		out := 0.0
		for j := range k {
			out += q[k][j]
		}
		for i := range k {
			q[i][k] /= out
			for j := range k {
				q[i][j] += q[i][k] * q[k][j]
			}
		}
	}
	p := make([]float64, n)
	p[0] = 1
	sum := 1.0
	for k := 1; k < n; k++ {
		for i := range k {
			p[k] += p[i] * q[i][k]
		}
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// bias is the L1 distance between DULA's stationary law and the target.
func bias(ctx context.Context, t samplers.Gradienter, e *targets.Exact, alpha float64) (float64,
	error) {
	q, err := transition(ctx, t, e, alpha)
	if err != nil {
		return 0, err
	}
	return 2 * e.TV(stationary(q)), nil
}
