package verify

import (
	"context"
	"fmt"
	"io"
	"math"

	"infill/lab/targets"
	"infill/samplers"
)

// A pace is a step size with its balancing exponent.
type pace struct{ alpha, beta float64 }

// corrected is the transition matrix of a proposal q with the test of Metropolis and Hastings
// (ACS, equation 12).
func corrected(e *targets.Exact, q [][]float64) [][]float64 {
	p := make([][]float64, len(q))
	for s := range q {
		p[s] = make([]float64, len(q))
		p[s][s] = q[s][s]
		for r := range q {
			if r != s {
				p[s][r] = min(q[s][r], q[r][s]*e.P[r]/e.P[s])
				p[s][s] += q[s][r] - p[s][r] // never negative, which 1 − Σ may be
			}
		}
	}
	return p
}

// product is the matrix a·b.
func product(a, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = make([]float64, len(b[0]))
		for k, v := range a[i] {
			for j, w := range b[k] {
				out[i][j] += v * w
			}
		}
	}
	return out
}

// cycleOf is the transition matrix of a cycle of ACS, one step after the other.
func cycleOf(ctx context.Context, t samplers.Gradienter, e *targets.Exact, cycle []pace) (
	[][]float64, error) {
	var out [][]float64
	for k, c := range cycle {
		q, err := proposals(ctx, t, e, c.alpha, c.beta)
		if err != nil {
			return nil, err
		}
		if p := corrected(e, q); k == 0 {
			out = p
		} else {
			out = product(out, p)
		}
	}
	return out, nil
}

// farthest is the largest total variation between a row of p and the target.
func farthest(e *targets.Exact, p [][]float64) float64 {
	far := 0.0
	for _, row := range p {
		far = max(far, e.TV(row))
	}
	return far
}

// stepsTo is how often p must be applied until all starts are within tv of the target. It is
// found by squaring, since the distance never grows.
func stepsTo(e *targets.Exact, p [][]float64, tv float64) int {
	if farthest(e, p) <= tv {
		return 1
	}
	powers := [][][]float64{p}
	for farthest(e, powers[len(powers)-1]) > tv {
		last := powers[len(powers)-1]
		powers = append(powers, product(last, last))
	}
	n, at := 1<<(len(powers)-2), powers[len(powers)-2]
	for k := len(powers) - 3; k >= 0; k-- {
		if next := product(at, powers[k]); farthest(e, next) > tv {
			n, at = n+1<<k, next
		}
	}
	return n + 1
}

// ergodic is what theorems 5.4 and 5.5 of ACS say of a chain, beside the truth.
type ergodic struct {
	epsilon float64 // theirs, of the last step
	lemma   float64 // the largest for which lemma 5.3 holds: min p(θ'|θ)/ν(θ'), ν ∝ exp(βU)
	any     float64 // the largest for any ν: Σ_θ' min_θ p(θ'|θ)
	steps   int     // until a total variation of closeTo
	bound   float64 // such steps by the theorems
}

// closeTo is the total variation that chains are asked to come to.
const closeTo = .01

// curvature is M and m of assumptions 5.1 and 5.2: the largest and smallest eigenvalue of −∇²U.
func (q *quadratic) curvature() (largest, smallest float64) {
	minus := &quadratic{w: make([][]float64, len(q.w))}
	for i, row := range q.w {
		minus.w[i] = make([]float64, len(row))
		for j, w := range row {
			minus.w[i][j] = -w
		}
	}
	return -2 * q.smallest(), 2 * minus.smallest()
}

// ergodicOf compares both sides on a log-quadratic target.
func ergodicOf(ctx context.Context, t samplers.Gradienter, cycle []pace) (b ergodic, err error) {
	e, err := targets.Enumerate(ctx, t)
	if err != nil {
		return b, err
	}
	p, err := cycleOf(ctx, t, e, cycle)
	if err != nil {
		return b, err
	}
	q, err := quadraticOf(ctx, t)
	if err != nil {
		return b, err
	}
	last := cycle[len(cycle)-1]
	d, n := t.Domain(), t.Domain().Len()
	x, u, g := [][]int32{make([]int32, n)}, []float64{0}, [][]float64{make([]float64, n)}
	flattest := math.Inf(1)
	nu, z := make([]float64, len(e.P)), 0.0
	for s := range nu {
		e.State(s, x[0])
		if err := t.EnergyGrad(ctx, x, u, g); err != nil {
			return b, err
		}
		norm := 0.0
		for _, v := range g[0] {
			norm += v * v
		}
		flattest = min(flattest, math.Sqrt(norm))
		nu[s] = math.Exp(last.beta * u[0])
		z += nu[s]
	}
	square := 0.0 // diam²
	for i := range n {
		by := d.Value(i, 1) - d.Value(i, 0)
		square += by * by
	}
	most, least := q.curvature()
	b.epsilon = math.Exp(-(1/(2*last.alpha)+last.beta*most-last.beta*least/2)*square -
		flattest*math.Sqrt(square))
	b.lemma = math.Inf(1)
	for r := range nu {
		lowest := math.Inf(1)
		for s := range p {
			lowest = min(lowest, p[s][r])
		}
		b.lemma = min(b.lemma, lowest*z/nu[r])
		b.any += lowest
	}
	b.steps = stepsTo(e, p, closeTo)
	b.bound = math.Log(closeTo) / math.Log1p(-b.epsilon)
	return b, nil
}

// ergodicCycle is a cycle of ACS whose step sizes keep the theorem's condition α < 1/(βM): those
// of its cosine between the two, with β from .95 down to .5.
func ergodicCycle(most float64, steps int) []pace {
	out := make([]pace, steps)
	for k := range out {
		part := (math.Cos(math.Pi*float64(k)/float64(steps)) + 1) / 2
		beta := .5 + .45*part
		out[k] = pace{alpha: max(.99*part, .1) / (.95 * most), beta: beta}
	}
	return out
}

func figErgodic(ctx context.Context, w io.Writer, _ *env) error {
	t := batchTarget()
	q, err := quadraticOf(ctx, t)
	if err != nil {
		return err
	}
	most, least := q.curvature()
	cycle := ergodicCycle(most, 20)
	fmt.Fprint(w, text("ergodic", most, least, cycle[0].alpha, cycle[len(cycle)-1].alpha))
	rows := [][]string{{"chain", "ε of the theorem", "largest ε of lemma 5.3", "of any ν",
		"until TV ≤ .01", "by the theorem"}}
	add := func(name string, cycle []pace) error {
		b, err := ergodicOf(ctx, t, cycle)
		row := []string{name}
		for _, v := range []float64{b.epsilon, b.lemma, b.any} {
			row = append(row, fmt.Sprintf("%.3g", v))
		}
		rows = append(rows, append(row, fmt.Sprint(b.steps), fmt.Sprintf("%.2g", b.bound)))
		return err
	}
	for _, beta := range []float64{.5, .95} {
		for _, part := range []float64{.1, .5, .99} {
			alpha := part / (beta * most)
			if err := add(fmt.Sprintf("α = %.3g, β = %g", alpha, beta), []pace{{alpha, beta}}); err != nil {
				return err
			}
		}
	}
	if err := add("cycles", cycle); err != nil {
		return err
	}
	lines(w, rows...)
	fmt.Fprint(w, text("ergodic_note"))
	return nil
}
