package verify

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"infill/lab/internal/plot"
	"infill/lab/targets"
	"infill/report/draw"
)

// batchBias is what mini-batches do to DULA, beside theorem 6.1 of DLP. Maxima are over all
// states and sites.
type batchBias struct {
	sigma, most float64 // σ and L of the theorem
	step        float64 // the largest ‖E q̂_i − q_i‖₁
	paper       float64 // 2σ exp(−1/(2α) + L)
	derived     float64 // σ²/4 min(exp(−1/(2α) + L/2), 1/(6√3))
	added       float64 // ‖π̂_α − π_α‖₁
	own, bias   float64 // ‖π_α − π‖₁ and ‖π̂_α − π‖₁
}

// batchTransition is the transition matrix of DULA with mini-batches, and what theorem 6.1 speaks
// of.
func (t *leastSquares) batchTransition(ctx context.Context, e *targets.Exact, alpha float64,
	batch int) (q [][]float64, b batchBias, err error) {
	d := t.Domain()
	x, u, g := [][]int32{make([]int32, d.Len())}, []float64{0}, [][]float64{make([]float64, d.Len())}
	flip, whole := make([]float64, d.Len()), make([]float64, d.Len())
	mean, spread := make([]float64, d.Len()), make([]float64, d.Len())
	q = make([][]float64, len(e.P))
	for s := range q {
		e.State(s, x[0])
		if err := t.EnergyGrad(ctx, x, u, g); err != nil {
			return nil, b, err
		}
		leaving(d, x[0], g[0], alpha, dulaBeta, whole)
		clear(mean)
		clear(spread)
		q[s] = make([]float64, len(e.P))
		t.eachBatch(x[0], batch, func(p float64, hat []float64) {
			leaving(d, x[0], hat, alpha, dulaBeta, flip)
			addStep(e, x[0], flip, p, q[s])
			for i, v := range hat {
				mean[i] += p * flip[i]
				spread[i] += p * (v - g[0][i]) * (v - g[0][i])
				b.most = max(b.most, math.Abs(v), math.Abs(g[0][i]))
			}
		})
		for i := range mean {
			b.sigma = max(b.sigma, math.Sqrt(spread[i]))
			b.step = max(b.step, 2*math.Abs(mean[i]-whole[i]))
		}
	}
	b.paper = 2 * b.sigma * math.Exp(b.most-1/(2*alpha))
	b.derived = b.sigma * b.sigma / 4 * min(math.Exp(b.most/2-1/(2*alpha)), 1/(6*math.Sqrt(3)))
	return q, b, nil
}

// biasOf compares the stationary law with mini-batches with that without, and with the target.
func (t *leastSquares) biasOf(ctx context.Context, alpha float64, batch int) (b batchBias,
	err error) {
	e, err := targets.Enumerate(ctx, t)
	if err != nil {
		return b, err
	}
	q, b, err := t.batchTransition(ctx, e, alpha, batch)
	if err != nil {
		return b, err
	}
	full, err := transition(ctx, t, e, alpha)
	if err != nil {
		return b, err
	}
	law, own := stationary(q), stationary(full)
	for s, p := range law {
		b.added += math.Abs(p - own[s])
	}
	b.own, b.bias = 2*e.TV(own), 2*e.TV(law)
	return b, nil
}

// batchTarget is the target of the tables.
func batchTarget() *leastSquares { return newLeastSquares(rand.New(rand.NewPCG(1, 61)), 8, 4) }

// biasOfBatch is theorem 6.1.
func biasOfBatch(ctx context.Context, w io.Writer) (p plot.Panel, err error) {
	fmt.Fprint(w, text("bias_batch"))
	rows := [][]string{{"α", "observations", "σ", "largest L1(E q̂_i, q_i)", "paper's bound",
		"derived bound", "L1(π̂_α, π_α)", "L1(π_α, π)", "L1(π̂_α, π)"}}
	p = plot.Panel{Title: "mini-batches of a sum of 8 (theorem 6.1)", X: "α",
		Y: "‖π̂_α − π‖₁", LogX: true}
	target := batchTarget()
	alphas, batches := []float64{.02, .05, .1, .2, .5, 1}, []int{1, 2, 4, 8}
	all := make([][]batchBias, len(batches))
	best := make([]int, len(batches)) // the step of least bias
	for j, batch := range batches {
		line := draw.Line{Name: fmt.Sprint(batch), Series: j, Marks: true}
		for i, alpha := range alphas {
			b, err := target.biasOf(ctx, alpha, batch)
			if err != nil {
				return p, err
			}
			rows = append(rows, []string{fmt.Sprint(alpha), fmt.Sprint(batch), fmt.Sprintf("%.3g", b.sigma),
				num(b.step), num(b.paper), num(b.derived), num(b.added), num(b.own), num(b.bias)})
			line.X, line.Y = append(line.X, alpha), append(line.Y, b.bias)
			all[j] = append(all[j], b)
			if b.bias < all[j][best[j]].bias {
				best[j] = i
			}
		}
		p.Lines = append(p.Lines, line)
	}
	lines(w, rows...)
	one, last := all[0], len(batches)-1
	full := draw.Line{Name: "all", Series: len(batches), Marks: true}
	for i, b := range one {
		full.X, full.Y = append(full.X, alphas[i]), append(full.Y, b.own)
	}
	p.Lines = append(p.Lines, full)
	fmt.Fprint(w, text("bias_batch_note", one[0].bias, alphas[0], one[1].bias, alphas[1], one[1].own,
		all[1][0].bias, all[last][0].bias, alphas[best[0]], alphas[best[last]]))
	return p, nil
}
