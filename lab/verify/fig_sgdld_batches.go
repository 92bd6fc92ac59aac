package verify

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"infill/lab/internal/plot"
	"infill/lab/targets"
	"infill/report/draw"
	"infill/samplers"
)

// batchGibbs is the Gibbs sampler of SGDLD's section 6.1: it redraws a random coordinate from the
// conditional that one mini-batch gives.
type batchGibbs struct{ batch int }

// Info implements samplers.Sampler.
func (batchGibbs) Info() samplers.Info { return samplers.Info{Name: "gibbs of a mini-batch"} }

func (s batchGibbs) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	t, ok := c.Target.(samplers.RatioEstimator)
	if !ok {
		return nil, fmt.Errorf("%s: %T has no estimates of ratios", s.Info().Name, c.Target)
	}
	k := &batchGibbsKernel{c: c, t: t, batch: s.batch}
	for range c.X {
		k.num = append(k.num, make([]float64, c.Domain.GradLen()))
		k.den = append(k.den, make([]float64, c.Domain.GradLen()))
	}
	return k, nil
}

type batchGibbsKernel struct {
	c        *samplers.Chains
	t        samplers.RatioEstimator
	batch    int
	num, den [][]float64
}

// Prepare implements samplers.Kernel.
func (k *batchGibbsKernel) Prepare(ctx context.Context) error { return k.c.StartEnergies(ctx) }

// Step implements samplers.Kernel.
func (k *batchGibbsKernel) Step(ctx context.Context) error {
	c := k.c
	if err := k.t.EstimateRatios(ctx, c.X, k.batch, c.RNG, k.num, k.den); err != nil {
		return err
	}
	for j, x := range c.X {
		i := c.RNG[j].IntN(len(x))
		c.Last[j] = samplers.Move{Accepted: true, Prob: 1}
		if c.RNG[j].Float64() < 1/(1+math.Exp(k.den[j][i]-k.num[j][i])) {
			x[i] = 1 - x[i]
			c.U[j] = math.NaN()
			c.Last[j] = samplers.Move{Accepted: true, Prob: 1, Moved: true, Flips: 1, Hamming: 1}
		}
	}
	return nil
}

// batchRuns says how much figSGDLDBatches computes.
type batchRuns struct {
	batches          []int
	h                []float64
	groups, steps    int
	draws, estimates int // of u for a limit, and mini-batches in a cache at most
}

var sgdldBatches = batchRuns{batches: []int{1, 2, 4, 8, 16}, h: []float64{.1, .2, .3, .4, .5, .6},
	groups: 4, steps: 3000, draws: 8_000_000, estimates: 80}

// batchLine is a line of figures 2 and 5, with a value for each h, or one where h is of no meaning.
type batchLine struct {
	name   string
	batch  int
	series int        // of the chart
	groups []estimate // of 100 chains together
	single []estimate // of one chain
	limit  []float64
}

// sgdldLines computes figures 2 and 5 of SGDLD's paper.
func sgdldLines(ctx context.Context, g *targets.GaussianBernoulli, ex *targets.Exact, r batchRuns,
	seed uint64) ([]batchLine, error) {
	var out []batchLine
	for j, b := range r.batches {
		q := newQuenched(rand.New(rand.NewPCG(seed, uint64(b))), ex.P, b, r.estimates,
			r.draws)
		for m, method := range []string{"SGDLD", "noC", "Gibbs"} {
			l := batchLine{name: fmt.Sprintf("%s-%d", method, b), batch: b, series: j + 8*m}
			hs := r.h
			if method == "Gibbs" {
				hs = []float64{0}
			}
			for _, h := range hs {
				var s samplers.Sampler = batchGibbs{b}
				law := q.gibbsLaw
				if h > 0 {
					s = &samplers.SGDLD{Jump: h, Batch: b, NoCache: m == 1}
					law = func() []float64 { return q.law(h, m == 0) }
				}
				tv, err := sgdldChains(ctx, g, ex, s, r.groups, 100, r.steps, seed)
				if err != nil {
					return nil, err
				}
				l.groups, l.single = append(l.groups, over(tv.groups)), append(l.single, over(tv.chains))
				l.limit = append(l.limit, ex.TV(law()))
			}
			out = append(out, l)
		}
	}
	return out, nil
}

// figSGDLDBatches has figures 2 and 5 of the paper.
func figSGDLDBatches(ctx context.Context, w io.Writer, e *env, g *targets.GaussianBernoulli,
	ex *targets.Exact, r batchRuns) error {
	all, err := sgdldLines(ctx, g, ex, r, e.seed)
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("sgdld_batches", r.steps, r.groups))
	table := func(first string, of func(l batchLine, j int) string) {
		rows := [][]string{{first, "figure", "any h"}}
		for _, h := range slices.Backward(r.h) {
			rows[0] = append(rows[0], fmt.Sprintf("h = %g", h))
		}
		for _, l := range all {
			row := []string{l.name, "2", "–"}
			if l.batch > 2 {
				row[1] = "5"
			}
			if len(l.groups) == 1 {
				row[2] = of(l, 0)
			}
			for j := range slices.Backward(r.h) {
				v := "–"
				if len(l.groups) > 1 {
					v = of(l, j)
				}
				row = append(row, v)
			}
			rows = append(rows, row)
		}
		lines(w, rows...)
	}
	table("100 chains together", func(l batchLine, j int) string { return l.groups[j].String() })
	fmt.Fprint(w, text("sgdld_limit"))
	table("an endless chain", func(l batchLine, j int) string {
		return fmt.Sprintf("%.4f", l.limit[j])
	})
	low, high := math.Inf(1), 0.0
	for _, l := range all {
		for _, v := range l.single {
			sd := v.se * math.Sqrt(float64(100*r.groups))
			low, high = min(low, sd), max(high, sd)
		}
	}
	fmt.Fprint(w, text("sgdld_single", r.steps, low, high))
	table("one chain", func(l batchLine, j int) string {
		return fmt.Sprintf("%.4f", l.single[j].mean)
	})
	fmt.Fprint(w, text("sgdld_note"))
	return e.svg("sgdld-figures2and5.svg", sgdldChart(all, r.h).WriteSVG)
}

// sgdldChart has a panel for each figure, of 100 chains together and of one chain.
func sgdldChart(all []batchLine, h []float64) plot.Plot {
	chart := plot.Plot{Title: "Gaussian–Bernoulli model (SGDLD, figures 2 and 5)",
		Notes: []string{"Solid: SGDLD-b. Dashed: noC-b. Dotted: Gibbs-b, which has no h. " +
			"A colour is a size b of mini-batches."}}
	for _, one := range []bool{false, true} {
		for _, figure := range []int{2, 5} {
			p := plot.Panel{Title: fmt.Sprintf("figure %d, 100 chains together", figure), X: "h",
				Y: "total variation"}
			if one {
				p.Title = fmt.Sprintf("figure %d, one chain", figure)
			}
			for _, l := range all {
				if (l.batch > 2) != (figure == 5) {
					continue
				}
				line := draw.Line{Name: l.name, Series: l.series, X: h, Marks: true}
				values := l.groups
				if one {
					values = l.single
				}
				for j := range h {
					v := values[min(j, len(values)-1)]
					line.Y, line.SE = append(line.Y, v.mean), append(line.SE, v.se)
				}
				p.Lines = append(p.Lines, line)
			}
			chart.Panels = append(chart.Panels, p)
		}
	}
	return chart
}
