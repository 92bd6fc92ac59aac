package verify

import (
	"context"
	"fmt"
	"io"
	"slices"

	"infill/lab/internal/plot"
	"infill/report/draw"
)

// dlpConnectivity is figure 7. seconds has the time of a step of each sampler.
func dlpConnectivity(ctx context.Context, w io.Writer, e *env, seconds []float64) error {
	const chains = 4
	strengths := []float64{0, .05, .1, .15, .2, .25}
	all := dlpSamplers(nil)
	runs := make([]*dlpRun, len(all)*len(strengths)) // sampler by sampler
	err := parallel(len(runs), func(i int) error {
		m, mean, err := dlpIsing(strengths[i%len(strengths)])
		if err != nil {
			return err
		}
		ext, err := extended(ctx, m)
		if err != nil {
			return err
		}
		c := dlpSamplers(ext)[i/len(strengths)]
		if c.particles > 1 {
			runs[i], err = runParticles(ctx, c.s, m, mean, chains, dlpMarks(c.steps), e.seed)
		} else {
			runs[i], err = runDLP(ctx, c.s, m, mean, chains, dlpMarks(c.steps), false, e.seed)
		}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprint(w, text("dlp_connectivity", chains))
	rows := [][]string{{"sampler", "steps", "evaluations", "calls", "ms"}}
	for _, a := range strengths {
		rows[0] = append(rows[0], fmt.Sprintf("a = %g", a))
	}
	chart := plot.Plot{Title: "Ising 5×5 of varying connectivity (DLP, figure 7)",
		Panels: []plot.Panel{{Title: "at the end", X: "connectivity a", Y: "log RMSE"}},
		Notes:  []string{"bands and whiskers: one standard error either way, from chain to chain"}}
	shown := []float64{.05, .15, .25}
	for _, x := range []string{"evaluations", "seconds"} {
		for _, a := range shown {
			chart.Panels = append(chart.Panels, plot.Panel{Title: fmt.Sprintf("a = %g", a),
				X: x, Y: "log RMSE", LogX: true})
		}
	}
	usual := slices.Index(strengths, .1)
	for i, c := range all {
		steps, cost := float64(c.steps), runs[i*len(strengths)+usual]
		row := []string{c.name, fmt.Sprint(c.steps), fmt.Sprintf("%.0f", steps*cost.evals),
			fmt.Sprintf("%.0f", steps*cost.calls), fmt.Sprintf("%.1f", 1000*seconds[i]*steps)}
		ends := draw.Line{Name: c.name, Series: i, X: strengths, Marks: true}
		for j, a := range strengths {
			r := runs[i*len(strengths)+j]
			end := logRMSE(r.mse[len(r.mse)-1])
			row = append(row, fixed(end))
			ends.Y, ends.SE = append(ends.Y, end.mean), append(ends.SE, end.se)
			if k := slices.Index(shown, a); k >= 0 {
				for at, unit := range []float64{r.evals, seconds[i]} {
					panel := &chart.Panels[1+at*len(shown)+k]
					panel.Lines = append(panel.Lines, r.line(c.name, i, unit))
				}
			}
		}
		chart.Panels[0].Lines = append(chart.Panels[0].Lines, ends)
		rows = append(rows, row)
	}
	lines(w, rows...)
	fmt.Fprint(w, text("dlp_connectivity_note"))
	return e.svg("dlp-figure7.svg", chart.WriteSVG)
}
