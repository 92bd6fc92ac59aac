package verify

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"infill/lab/internal/kernels"
	"infill/lab/internal/plot"
	"infill/lab/relaxed"
	"infill/report/draw"
	"infill/samplers"
)

// dlpSampler is one of DLP's figures 2 and 3.
type dlpSampler struct {
	name      string
	exact     bool
	particles int // chains that are one system, 1 for all but DSVGD
	steps     int // in figure 7, those of appendix I.2 for the four that it has
	s         samplers.Sampler
}

// dlpSamplers are all of them, with the step sizes of appendix I.2. ext is U at real values.
func dlpSamplers(ext relaxed.Extension) []dlpSampler {
	return []dlpSampler{
		{"Gibbs-1", true, 1, 125000, &samplers.Gibbs{}},
		{"GWG-1", true, 1, 50000, &samplers.GWG{}},
		{"GWG-4", true, 1, 50000, &samplers.GWG{Draws: 4}},
		{"HB-10-1", true, 1, 50000, &kernels.HammingBall{Block: 10, Radius: 1}},
		{"LB-1", true, 1, 50000, &kernels.LB1{}},
		{"DULA", false, 1, 125000, &samplers.DULA{StepSize: .2}},
		{"DMALA", true, 1, 50000, &samplers.DMALA{StepSize: .4}},
		{"RMALA", true, 1, 50000, &relaxed.RMALA{StepSize: rmalaStep, Temperature: rmalaTemperature,
			Extension: ext}},
		{"DSVGD", false, particles, 500, &relaxed.DSVGD{Rate: dsvgdRate,
			Temperature: dsvgdTemperature, Extension: ext}},
	}
}

const (
	dlpChains  = 16
	dlpSteps   = 50000
	dsvgdSteps = 2000
	dsvgdRuns  = 4
)

// dlpMarks are the steps at which errors are taken, up to a number of steps.
func dlpMarks(steps int) (marks []int) {
	for m := 10; m < steps; m *= 10 {
		marks = append(marks, m)
		for _, f := range []int{2, 5} {
			if f*m < steps {
				marks = append(marks, f*m)
			}
		}
	}
	return append(marks, steps)
}

func figDLP(ctx context.Context, w io.Writer, e *env) error {
	seconds, err := dlpSeconds(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("dlp"))
	for _, part := range []func(context.Context, io.Writer, *env, []float64) error{dlpFlips,
		dlpParameters, dlpErrors, dlpConnectivity} {
		if err := part(ctx, w, e, seconds); err != nil {
			return err
		}
	}
	return nil
}

// dlpFlips is figure 2 left.
func dlpFlips(ctx context.Context, w io.Writer, e *env, _ []float64) error {
	m, mean, err := dlpIsing(.1)
	if err != nil {
		return err
	}
	type one struct {
		name, paper string
		line        int
		s           samplers.Sampler
	}
	var all []one
	for _, alpha := range []float64{.2, .3, .4, .6, .8, 1} {
		c := one{fmt.Sprintf("DMALA, α = %g", alpha), "–", 0, &samplers.DMALA{StepSize: alpha}}
		if alpha == .6 {
			c.paper = "6, 52 %"
		}
		all = append(all, c)
	}
	for _, draws := range []int{1, 2, 3, 4, 5, 6, 8} {
		c := one{fmt.Sprintf("GWG-%d", draws), "–", 1, &samplers.GWG{Draws: draws}}
		if draws == 6 {
			c.paper = "at most 6, 43 %"
		}
		all = append(all, c)
	}
	runs := make([]*dlpRun, len(all))
	err = parallel(len(all), func(i int) (err error) {
		runs[i], err = runDLP(ctx, all[i].s, m, mean, dlpChains, []int{4000}, false, e.seed)
		return err
	})
	if err != nil {
		return err
	}
	rows := [][]string{{"sampler", "paper", "sites that a proposal changes", "mean probability",
		"sites that a step changes"}}
	panel := plot.Panel{Title: "Figure 2 left", X: "sites that a proposal changes",
		Y: "mean probability", Lines: []draw.Line{{Name: "DMALA", Marks: true},
			{Name: "GWG", Series: 1, Marks: true}}}
	for i, c := range all {
		flips, acc := over(runs[i].flips), over(runs[i].acc)
		rows = append(rows, []string{c.name, c.paper, flips.String(), acc.String(),
			over(runs[i].jumps).String()})
		l := &panel.Lines[c.line]
		l.X, l.Y, l.SE = append(l.X, flips.mean), append(l.Y, acc.mean), append(l.SE, acc.se)
	}
	lines(w, rows...)
	fmt.Fprint(w, text("dlp_flips"))
	return e.svg("dlp-figure2.svg", plot.Plot{
		Title:  "Ising 5×5, mean probability against the length of jumps",
		Panels: []plot.Panel{panel},
	}.WriteSVG)
}

// dlpErrors is figures 2 right and 3. seconds has the time of a step of each sampler.
func dlpErrors(ctx context.Context, w io.Writer, e *env, seconds []float64) error {
	m, mean, err := dlpIsing(.1)
	if err != nil {
		return err
	}
	ext, err := extended(ctx, m)
	if err != nil {
		return err
	}
	all := dlpSamplers(ext)
	runs := make([]*dlpRun, len(all))
	err = parallel(len(runs), func(i int) (err error) {
		if all[i].particles > 1 {
			runs[i], err = runParticles(ctx, all[i].s, m, mean, dsvgdRuns, dlpMarks(dsvgdSteps), e.seed)
		} else {
			runs[i], err = runDLP(ctx, all[i].s, m, mean, dlpChains, dlpMarks(dlpSteps), true, e.seed)
		}
		e.progress("%s", all[i].name)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("dlp_errors", dlpChains, dlpSteps, dsvgdRuns, dsvgdSteps))
	rows := [][]string{{"sampler", "log RMSE after 1000 steps", "at the end",
		"evaluations a step", "calls a step", "ESS a step", "ESS an evaluation", "ESS a call",
		"µs a step", "ESS a second"}}
	chart := plot.Plot{Title: "Ising 5×5, error of the mean (DLP, figure 3)",
		Notes: []string{"bands: one standard error either way, from chain to chain"}}
	for _, x := range []string{"steps", "evaluations", "seconds"} {
		chart.Panels = append(chart.Panels, plot.Panel{Title: "against " + x, X: x, Y: "log RMSE",
			LogX: true})
	}
	for i, r := range runs {
		c := all[i]
		row := []string{c.name}
		for j, mark := range r.marks {
			if mark == 1000 || j == len(r.marks)-1 {
				row = append(row, fixed(logRMSE(r.mse[j])))
			}
		}
		for j, unit := range []float64{1, r.evals, seconds[i]} {
			chart.Panels[j].Lines = append(chart.Panels[j].Lines, r.line(c.name, i, unit))
		}
		ess := []string{"–", "–", "–", "–"}
		if c.exact {
			each := over(r.ess)
			ess = []string{each.String(), fmt.Sprintf("%.3g", each.mean/r.evals),
				fmt.Sprintf("%.3g", each.mean/r.calls), fmt.Sprintf("%.0f", each.mean/seconds[i])}
		}
		row = append(row, fmt.Sprintf("%.4g", r.evals), fmt.Sprintf("%.4g", r.calls), ess[0], ess[1],
			ess[2], fmt.Sprintf("%.2f", 1e6*seconds[i]), ess[3])
		rows = append(rows, row)
	}
	lines(w, rows...)
	gibbs := slices.IndexFunc(all, func(c dlpSampler) bool { return c.name == "Gibbs-1" })
	dmala := slices.IndexFunc(all, func(c dlpSampler) bool { return c.name == "DMALA" })
	fmt.Fprint(w, text("dlp_errors_note", seconds[dmala]/seconds[gibbs]))
	return e.svg("dlp-figure3.svg", chart.WriteSVG)
}

// fixed has two digits after the point, as errors are compared.
func fixed(e estimate) string { return fmt.Sprintf("%.2f ± %.2f", e.mean, math.Max(e.se, .01)) }
