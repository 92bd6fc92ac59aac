package verify

import (
	"context"
	"fmt"
	"io"
	"math"

	"infill/lab/internal/kernels"
	"infill/lab/targets"
	"infill/samplers"
)

// ising50Again has the two rows of the first table that lie furthest below the
// stored values once more, with more and other chains.
func ising50Again(ctx context.Context, w io.Writer, e *env, draw discsDraw) error {
	const chains, burnin = 48, 5000
	t, again := discsIsing(1, 1, draw.u), []int{1, 2}
	runs := make([]*isingRun, len(again))
	err := parallel(len(again), func(i int) (err error) {
		c := ising50Cases[again[i]]
		settings := isingSettings(c.s, chains, burnin)
		runs[i], err = kept(e, fmt.Sprintf("6-again-%d", again[i]), settings, func() (*isingRun, error) {
			return runIsing50(ctx, c.s, t, draw, chains, burnin, e.seed+500)
		})
		e.progress("%s once more", c.name)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nThe two that lie furthest below, with %d other chains and their own "+
		"scatter:\n\n", chains)
	rows := [][]string{{"sampler", "stored", "here", "deviation"}}
	for i, r := range runs {
		c, got := ising50Cases[again[i]], over(r.ESS)
		rows = append(rows, []string{c.name, fmt.Sprint(c.want), got.String(),
			deviation(got.mean, c.want, variation([][]float64{r.ESS}), chains)})
	}
	lines(w, rows...)
	return nil
}

// ising50NoSingles has samplers of the first table as their papers have them: no proposal changes a
// single coordinate only so that every state can be reached.
func ising50NoSingles(ctx context.Context, w io.Writer, e *env, draw discsDraw) error {
	const chains, burnin = 16, 5000
	t := discsIsing(1, 1, draw.u)
	cases := []samplers.Sampler{&kernels.PAS{NoSingles: true},
		&kernels.PAS{Balance: samplers.Ratio, NoSingles: true},
		&kernels.GWGX{NoSingles: true}}
	runs, ess := make([]*isingRun, len(cases)), make([][]float64, len(cases))
	err := parallel(len(cases), func(i int) (err error) {
		settings := isingSettings(cases[i], chains, burnin)
		runs[i], err = kept(e, fmt.Sprintf("6-nosingles-%d", i), settings, func() (*isingRun, error) {
			return runIsing50(ctx, cases[i], t, draw, chains, burnin, e.seed+uint64(i))
		})
		e.progress("%s without singles", ising50Cases[i].name)
		return err
	})
	if err != nil {
		return err
	}
	for i, r := range runs {
		ess[i] = r.ESS
	}
	cv := variation(ess)
	fmt.Fprint(w, text("ising50_singles"))
	rows := [][]string{{"sampler", "stored", "here", "deviation", "mean probability",
		"jump distance"}}
	for i, r := range runs {
		c, got := ising50Cases[i], over(r.ESS)
		rows = append(rows, []string{c.name, fmt.Sprint(c.want), got.String(),
			deviation(got.mean, c.want, cv, chains), fmt.Sprintf("%.3f", over(r.Acc).mean),
			fmt.Sprintf("%.2f", over(r.Jump).mean)})
	}
	lines(w, rows...)
	return nil
}

// ising50DISCS runs DLMC and DLMCf with the adaptation of the public code,
// and takes the distance to many reference states.
func ising50DISCS(ctx context.Context, w io.Writer, e *env, draw discsDraw) error {
	cases := []struct {
		name string
		want float64
		g    samplers.Balance
		s    solver
	}{
		{"DLMC √", 502.8, samplers.Sqrt, interpolate},
		{"DLMC ratio", 541.8, samplers.Ratio, interpolate},
		{"DLMCf √", 231.3, samplers.Sqrt, eulerScaled},
		{"DLMCf ratio", 547.9, samplers.Ratio, eulerScaled},
		{"DLMCf √, min(hQ, ν)", 231.3, samplers.Sqrt, eulerClipped},
	}
	const chains, burnin, steps, others = 100, 50000, 50000, 16
	refs := append([][]int32{draw.ref, draw.later},
		starts(discsIsing(1, 1, draw.u).Domain(), others, e.seed+1)...)
	runs, ess := make([]*discsRun, len(cases)), make([][]float64, len(cases))
	err := parallel(len(cases), func(i int) (err error) {
		settings := fmt.Sprintf("%s, %d chains, %d + %d steps, %d other x0", cases[i].name, chains,
			burnin, steps, others)
		runs[i], err = kept(e, fmt.Sprintf("6-discs-%d", i), settings, func() (*discsRun, error) {
			return runDISCS(ctx, newLattice(draw.u, refs, cases[i].g), cases[i].s, chains, burnin, steps,
				e.seed+uint64(i))
		})
		e.progress("%s with the adaptation of DISCS", cases[i].name)
		return err
	})
	if err != nil {
		return err
	}
	for i, r := range runs {
		ess[i] = r.ESS[0]
	}
	cv := variation(ess[:4])
	fmt.Fprint(w, text("ising50_discs", chains))
	rows := [][]string{{"sampler", "stored", "here", "deviation", "later x0",
		fmt.Sprintf("%d other x0: lowest, mean, highest", others), "chains that do not move"}}
	for i, c := range cases {
		r := runs[i]
		low, high, mean := math.Inf(1), 0.0, 0.0
		for _, x := range r.ESS[2:] {
			m := over(x).mean
			low, high, mean = math.Min(low, m), math.Max(high, m), mean+m/others
		}
		rows = append(rows, []string{c.name, fmt.Sprint(c.want), over(r.ESS[0]).String(),
			deviation(over(r.ESS[0]).mean, c.want, cv, chains), over(r.ESS[1]).String(),
			fmt.Sprintf("%.0f, %.0f, %.0f", low, mean, high), fmt.Sprintf("%d of %d", r.Stuck, chains)})
	}
	lines(w, rows...)
	return nil
}

// ising50Models runs PAS on other models.
func ising50Models(ctx context.Context, w io.Writer, e *env, draw discsDraw) error {
	const chains, burnin = 2, 5000
	other := discsRandom(1)
	models := []struct {
		name string
		t    *targets.Ising
		draw discsDraw
	}{
		{"field twice as strong", discsIsing(2, 1, draw.u), draw},
		{"edges half as strong", discsIsing(1, 0.5, draw.u), draw},
		{"field and x0 of seed 1", discsIsing(1, 1, other.u), other},
	}
	cases := ising50Cases[:2] // PAS
	runs := make([]*isingRun, len(cases)*len(models))
	err := parallel(len(runs), func(i int) (err error) {
		m, c := models[i%len(models)], cases[i/len(models)]
		settings := isingSettings(c.s, chains, burnin) + ", " + m.name
		runs[i], err = kept(e, fmt.Sprintf("6-models-%d", i), settings, func() (*isingRun, error) {
			return runIsing50(ctx, c.s, m.t, m.draw, chains, burnin, e.seed)
		})
		e.progress("PAS, %s", m.name)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nWith another model, ESS of %d chains:\n\n", chains)
	rows := [][]string{{"sampler", "stored"}}
	for _, m := range models {
		rows[0] = append(rows[0], m.name)
	}
	for i, c := range cases {
		row := []string{c.name, fmt.Sprint(c.want)}
		for j := range models {
			row = append(row, over(runs[i*len(models)+j].ESS).String())
		}
		rows = append(rows, row)
	}
	lines(w, rows...)
	return nil
}
