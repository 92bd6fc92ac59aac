package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"infill/bench/samplers/relaxed"
	"infill/internal/drawing"
	"infill/samplers"
)

// dlpSampler is one of DLP's figures 2 and 3.
type dlpSampler struct {
	name  string
	exact bool
	s     samplers.Sampler
}

// dlpSamplers are all of them, with the step sizes of appendix I.2. ext is U at real values.
func dlpSamplers(ext relaxed.Extension) []dlpSampler {
	return []dlpSampler{
		{"Gibbs-1", true, &samplers.Gibbs{}},
		{"GWG-1", true, &samplers.GWG{}},
		{"GWG-4", true, &samplers.GWG{Draws: 4}},
		{"HB-10-1", true, &samplers.HammingBall{Block: 10, Radius: 1}},
		{"LB-1", true, &samplers.LB1{}},
		{"DULA", false, &samplers.DULA{StepSize: .2}},
		{"DMALA", true, &samplers.DMALA{StepSize: .4}},
		{"RMALA", true, &relaxed.RMALA{StepSize: rmalaStep, Temperature: rmalaTemperature,
			Extension: ext}},
		{"DSVGD", false, &relaxed.DSVGD{Rate: dsvgdRate, Temperature: dsvgdTemperature,
			Extension: ext}},
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
	fmt.Fprint(w, text("dlp"))
	for _, part := range []func(context.Context, io.Writer, *env) error{dlpFlips, dlpParameters,
		dlpErrors, dlpConnectivity} {
		if err := part(ctx, w, e); err != nil {
			return err
		}
	}
	return nil
}

// dlpFlips is figure 2 left.
func dlpFlips(ctx context.Context, w io.Writer, e *env) error {
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
	rows := [][]string{{"sampler", "paper", "sites that a proposal changes", "acceptance",
		"sites that a step changes"}}
	panel := drawing.Panel{Title: "Figure 2 left", X: "sites that a proposal changes",
		Y: "acceptance", Lines: []drawing.Line{{Name: "DMALA", Marks: true},
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
	return e.svg("dlp-figure2.svg", drawing.Plot{
		Title:  "Ising 5×5, acceptance against the length of jumps",
		Panels: []drawing.Panel{panel},
	}.WriteSVG)
}

// dlpErrors is figures 2 right and 3.
func dlpErrors(ctx context.Context, w io.Writer, e *env) error {
	m, mean, err := dlpIsing(.1)
	if err != nil {
		return err
	}
	ext, err := extended(ctx, m)
	if err != nil {
		return err
	}
	all := dlpSamplers(ext)
	runs, seconds := make([]*dlpRun, len(all)), make([]float64, len(all))
	err = parallel(len(runs), func(i int) (err error) {
		if s, ok := all[i].s.(*relaxed.DSVGD); ok {
			runs[i], err = runParticles(ctx, s, m, mean, dsvgdRuns, dlpMarks(dsvgdSteps), e.seed)
		} else {
			runs[i], err = runDLP(ctx, all[i].s, m, mean, dlpChains, dlpMarks(dlpSteps), true, e.seed)
		}
		e.progress("%s", all[i].name)
		return err
	})
	if err != nil {
		return err
	}
	for i, c := range all { // one at a time
		n := 1
		if _, ok := c.s.(*relaxed.DSVGD); ok {
			n = particles
		}
		if seconds[i], err = secondsPerStep(ctx, c.s, m, n); err != nil {
			return err
		}
		seconds[i] *= float64(n)
	}
	fmt.Fprint(w, text("dlp_errors", dlpChains, dlpSteps, dsvgdRuns, dsvgdSteps))
	rows := [][]string{{"sampler", "log RMSE after 1000 steps", "at the end",
		"evaluations a step", "calls a step", "ESS a step", "ESS an evaluation", "ESS a call",
		"µs a step", "ESS a second"}}
	chart := drawing.Plot{Title: "Ising 5×5, error of the mean (DLP, figure 3)",
		Notes: []string{"bands: one standard error either way, from chain to chain"}}
	for _, x := range []string{"steps", "evaluations", "seconds"} {
		chart.Panels = append(chart.Panels, drawing.Panel{Title: "against " + x, X: x, Y: "log RMSE",
			LogX: true})
	}
	for i, r := range runs {
		c := all[i]
		line := drawing.Line{Name: c.name, Series: i}
		row := []string{c.name}
		for j, mark := range r.marks {
			l := logRMSE(r.mse[j])
			line.X, line.Y = append(line.X, float64(mark)), append(line.Y, l.mean)
			line.SE = append(line.SE, l.se)
			if mark == 1000 || j == len(r.marks)-1 {
				row = append(row, fixed(l))
			}
		}
		for j, unit := range []float64{1, r.evals, seconds[i]} {
			x := line
			x.X = scaled(line.X, unit)
			chart.Panels[j].Lines = append(chart.Panels[j].Lines, x)
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
	fmt.Fprint(w, text("dlp_errors_note"))
	return e.svg("dlp-figure3.svg", chart.WriteSVG)
}

// fixed has two digits after the point, as errors are compared.
func fixed(e estimate) string { return fmt.Sprintf("%.2f ± %.2f", e.mean, math.Max(e.se, .01)) }

// dlpConnectivity is figure 7.
func dlpConnectivity(ctx context.Context, w io.Writer, e *env) error {
	const chains = 4
	all := dlpSamplers(nil)
	cases := []struct{ sampler, steps int }{{0, 125000}, {1, 50000}, {5, 125000}, {6, 50000}}
	strengths := []float64{0, .05, .1, .15, .2, .25}
	ends := make([]estimate, len(cases)*len(strengths))
	err := parallel(len(ends), func(i int) error {
		c, a := cases[i/len(strengths)], strengths[i%len(strengths)]
		m, mean, err := dlpIsing(a)
		if err != nil {
			return err
		}
		r, err := runDLP(ctx, all[c.sampler].s, m, mean, chains, []int{c.steps}, false,
			e.seed)
		if err != nil {
			return err
		}
		ends[i] = logRMSE(r.mse[0])
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("dlp_connectivity", chains))
	rows := [][]string{{"sampler", "steps"}}
	for _, a := range strengths {
		rows[0] = append(rows[0], fmt.Sprintf("a = %g", a))
	}
	panel := drawing.Panel{Title: "Figure 7", X: "connectivity a", Y: "log RMSE"}
	for i, c := range cases {
		name := all[c.sampler].name
		row := []string{name, fmt.Sprint(c.steps)}
		line := drawing.Line{Name: name, Series: c.sampler, X: strengths, Marks: true}
		for j := range strengths {
			l := ends[i*len(strengths)+j]
			row = append(row, fixed(l))
			line.Y, line.SE = append(line.Y, l.mean), append(line.SE, l.se)
		}
		rows = append(rows, row)
		panel.Lines = append(panel.Lines, line)
	}
	lines(w, rows...)
	fmt.Fprint(w, text("dlp_connectivity_note"))
	return e.svg("dlp-figure7.svg", drawing.Plot{
		Title:  "Ising 5×5 of varying connectivity (DLP, figure 7)",
		Panels: []drawing.Panel{panel},
	}.WriteSVG)
}
