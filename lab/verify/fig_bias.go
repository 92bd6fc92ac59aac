package verify

import (
	"context"
	"fmt"
	"io"
	"math"

	"infill/lab/internal/domain"
	"infill/lab/internal/plot"
	"infill/lab/targets"
	"infill/report/draw"
	"infill/samplers"
)

// energy1 is a density of one spin θ ∈ {−1, 1},
//
//	U = aθ² + bθ + 2ε sin(θπ/2)
//
// the example of DLP's theorem 5.2 (section 5.2 and appendix I.1).
type energy1 struct{ a, b, eps float64 }

func (t energy1) Domain() *samplers.Domain { return domain.Spins(1) }

func (t energy1) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		theta := float64(2*x[k][0] - 1)
		u[k] = t.a + t.b*theta + 2*t.eps*math.Sin(theta*math.Pi/2)
	}
	return nil
}

func (t energy1) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		theta := float64(2*x[k][0] - 1)
		g[k][0] = 2*t.a*theta + t.b + t.eps*math.Pi*math.Cos(theta*math.Pi/2)
	}
	return t.Energy(ctx, x, u)
}

// bound is what theorem 5.1 says of a bias, beside it.
type bound struct {
	bias    float64 // ‖π_α − π‖₁
	paper   float64 // Z exp(−1/(2α) − λ/2), λ the smallest eigenvalue of W
	derived float64 // 2(|Θ| − 1) exp(−m(1/(2α) + λ/2)), m the smallest ‖θ − θ'‖², for 1 + αλ ≥ 0
}

// biasBound compares both sides of theorem 5.1 on a log-quadratic target.
func biasBound(ctx context.Context, t samplers.Gradienter, alpha float64) (b bound, err error) {
	e, err := targets.Enumerate(ctx, t)
	if err != nil {
		return b, err
	}
	q, err := quadraticOf(ctx, t)
	if err != nil {
		return b, err
	}
	if b.bias, err = bias(ctx, t, e, alpha); err != nil {
		return b, err
	}
	lambda, step := q.smallest(), math.Inf(1)
	for i := range t.Domain().Len() {
		by := t.Domain().Value(i, 1) - t.Domain().Value(i, 0)
		step = math.Min(step, by*by)
	}
	b.paper = math.Exp(e.LogZ - q.c - 1/(2*alpha) - lambda/2) // Z has no constant in U
	b.derived = 2 * float64(len(e.P)-1) * math.Exp(-step*(1/(2*alpha)+lambda/2))
	if 1+alpha*lambda < 0 {
		b.derived = math.NaN()
	}
	return b, nil
}

// num is a distance in a table. Below 1e-14 it is rounding, and there may be none.
func num(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v < 1e-14:
		return "< 1e-14"
	}
	return fmt.Sprintf("%.4g", v)
}

func figBias(ctx context.Context, w io.Writer, e *env) error {
	chart := plot.Plot{Title: "Bias of DULA, exact (DLP, figure 1)"}
	for _, part := range []func(context.Context, io.Writer) (plot.Panel, error){biasOfStep,
		biasOfSine, biasOfBatch} {
		panel, err := part(ctx, w)
		if err != nil {
			return err
		}
		chart.Panels = append(chart.Panels, panel)
	}
	fmt.Fprint(w, "\n![DLP figure 1](verification/dlp-figure1.svg)\n")
	return e.svg("dlp-figure1.svg", chart.WriteSVG)
}

// biasOfStep is figure 1 left, with both sides of theorem 5.1.
func biasOfStep(ctx context.Context, w io.Writer) (p plot.Panel, err error) {
	fmt.Fprint(w, text("bias"))
	rows := [][]string{{"α", "L1 on {0,1}", "paper's bound", "derived bound", "L1 on {±1}",
		"paper's bound", "derived bound"}}
	p = plot.Panel{Title: "2×2 Ising against the step size", X: "α", Y: "‖π_α − π‖₁", LogY: true,
		Lines: []draw.Line{{Name: "on {0,1}", Marks: true}, {Name: "its bound", Series: 8},
			{Name: "on {±1}", Series: 1, Marks: true}, {Name: "its bound", Series: 9}}}
	for _, alpha := range []float64{.1, .15, .2, .25, .3, .4, .5, .6, .8, 1} {
		row := []string{fmt.Sprint(alpha)}
		for j, spins := range []bool{false, true} {
			b, err := biasBound(ctx, must(targets.NewIsing(2, 2, false, .1, []float64{.2}, spins)), alpha)
			if err != nil {
				return p, err
			}
			row = append(row, num(b.bias), num(b.paper), num(b.derived))
			for k, v := range []float64{b.bias, b.paper} {
				l := &p.Lines[2*j+k]
				l.X, l.Y = append(l.X, alpha), append(l.Y, v)
			}
		}
		rows = append(rows, row)
	}
	lines(w, rows...)
	fmt.Fprint(w, text("bias_counter"))
	rows = [][]string{{"α", "L1", "paper's bound", "derived bound"}}
	for _, alpha := range []float64{.1, .15, .2, .25, .3} {
		b, err := biasBound(ctx, energy1{a: -3, b: 1}, alpha)
		if err != nil {
			return p, err
		}
		rows = append(rows, []string{fmt.Sprint(alpha), num(b.bias), num(b.paper), num(b.derived)})
	}
	lines(w, rows...)
	return p, nil
}

// biasOfSine is figure 1 right.
func biasOfSine(ctx context.Context, w io.Writer) (p plot.Panel, err error) {
	fmt.Fprint(w, text("bias_sine"))
	alphas := []float64{.1, 1, 10}
	rows := [][]string{{"ε", "L1(π', π)"}}
	p = plot.Panel{Title: "one spin against the distance to log-quadratic", X: "ε",
		Y: "‖π_α − π‖₁"}
	for i, alpha := range alphas {
		rows[0] = append(rows[0], fmt.Sprintf("L1(π_α, π), α = %g", alpha))
		p.Lines = append(p.Lines, draw.Line{Name: fmt.Sprintf("α = %g", alpha), Series: i,
			Marks: true})
	}
	for _, eps := range []float64{0, .05, .1, .2, .3, .5, .75, 1} {
		exact, err := targets.Enumerate(ctx, energy1{a: 1, b: .1, eps: eps})
		if err != nil {
			return p, err
		}
		near, err := targets.Enumerate(ctx, energy1{a: 1, b: .1})
		if err != nil {
			return p, err
		}
		row := []string{fmt.Sprint(eps), num(2 * exact.TV(near.P))}
		for i, alpha := range alphas {
			l1, err := bias(ctx, energy1{a: 1, b: .1, eps: eps}, exact, alpha)
			if err != nil {
				return p, err
			}
			row = append(row, num(l1))
			p.Lines[i].X, p.Lines[i].Y = append(p.Lines[i].X, eps), append(p.Lines[i].Y, l1)
		}
		rows = append(rows, row)
	}
	lines(w, rows...)
	// The bound of theorem 5.2 for ε = 0, which equals the bound of theorem 5.1 on π'.
	b, err := biasBound(ctx, energy1{a: 1, b: .1}, alphas[0])
	if err != nil {
		return p, err
	}
	l := p.Lines[0]
	fmt.Fprint(w, text("bias_sine_note", b.paper, l.Y[len(l.Y)-1]))
	return p, nil
}
