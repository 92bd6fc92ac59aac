package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"infill/samplers"
	"infill/samplers/targets"
)

// sgdldCases are the published errors.
var sgdldCases = [4]struct {
	h     float64
	cache bool
	want  float64
}{{0.6, true, .061}, {0.6, false, .080}, {0.1, true, .018}, {0.1, false, .079}}

func figSGDLD(ctx context.Context, w io.Writer, e *env) error {
	wt := make([]float64, 16)
	for i := range wt {
		wt[i] = 0.5
		if i%5 == 0 {
			wt[i] = 1
		}
	}
	g := must(targets.NewGaussianBernoulli(wt, []float64{-1.25, -1.25, -1.25, -1.25}))
	ex, err := targets.Enumerate(ctx, g)
	if err != nil {
		return err
	}
	var byOnes [5]float64
	x := make([]int32, 4)
	for s, p := range ex.P {
		ex.State(s, x)
		byOnes[x[0]+x[1]+x[2]+x[3]] = p
	}
	fmt.Fprint(w, text("sgdld", math.Exp(ex.LogZ), byOnes))
	rows := [][]string{{"h", "cache", "published", "here", "here with Self, as L1",
		"the same, chains together"}}
	for _, c := range sgdldCases {
		row := []string{fmt.Sprint(c.h), map[bool]string{true: "yes", false: "no"}[c.cache],
			fmt.Sprintf("%.3f", c.want)}
		for _, self := range []bool{false, true} {
			tv, all, err := sgdldChains(ctx, g, ex, &samplers.SGDLD{Jump: c.h, NoCache: !c.cache,
				Self: self}, 3000, e.seed)
			if err != nil {
				return err
			}
			if !self {
				row = append(row, over(tv).String())
				continue
			}
			row = append(row, over(scaled(tv, 2)).String(), fmt.Sprintf("%.4f", 2*all))
		}
		rows = append(rows, row)
	}
	lines(w, rows...)
	// The one setting in which 3000 steps are too few: the same chains, longer.
	rows = [][]string{{"steps", "L1 of a group", "L1 of all groups together"}}
	for _, steps := range []int{9000, 45000} {
		tv, all, err := sgdldChains(ctx, g, ex, &samplers.SGDLD{Jump: 0.1, Self: true}, steps, e.seed)
		if err != nil {
			return err
		}
		e.progress("%d steps: %v, %.4f", steps, over(scaled(tv, 2)), 2*all)
		rows = append(rows, []string{fmt.Sprint(steps), over(scaled(tv, 2)).String(),
			fmt.Sprintf("%.4f", 2*all)})
	}
	fmt.Fprint(w, text("sgdld_long"))
	lines(w, rows...)
	found := scanSGDLD(byOnes, 8000, e.seed)
	fmt.Fprint(w, text("sgdld_scanned", len(found)))
	ours := setting{est: &estimators[0]}
	rows = [][]string{{"setting", "h = .6, cache", "h = .6, none", "h = .1, cache", "h = .1, none",
		"largest deviation"}, {"**published**", ".061", ".080", ".018", ".079", ""}}
	add := func(r result) {
		row := []string{r.String()}
		for ci := range r.err {
			row = append(row, fmt.Sprintf("%.4f ± %.4f", r.err[ci], r.se[ci]))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0f %%", 100*(math.Exp(r.off())-1))))
	}
	self, both := ours, setting{est: &estimators[5], g: 2, l1: true}
	self.z, self.l1 = 1, true
	shown := []setting{ours, self, both}
	for _, r := range found {
		if len(shown) < 5 && !slices.Contains(shown, r.setting) {
			shown = append(shown, r.setting)
		}
	}
	for _, s := range shown {
		add(refine(s, byOnes, 60000, e.seed))
	}
	lines(w, rows...)
	fmt.Fprint(w, text("sgdld_note"))
	return nil
}

// sgdldChains runs 6 groups of 150 chains and returns the total variation of
// each group and of all together.
func sgdldChains(ctx context.Context, g samplers.Target, ex *targets.Exact, s *samplers.SGDLD,
	steps int, seed uint64) (tv []float64, all float64, err error) {
	together := make([]float64, len(ex.P))
	for group := range 6 {
		run, err := samplers.Start(ctx, s, g, starts(g.Domain(), 150, seed),
			samplers.Options{Seed: seed, First: 150 * group})
		if err != nil {
			return nil, 0, err
		}
		count := make([]float64, len(ex.P))
		err = run.Steps(ctx, steps, func(r *samplers.Run) error {
			if r.Done() >= 400 {
				for k, x := range r.X {
					count[ex.Index(x)] += r.Weight[k]
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		for i, v := range count {
			together[i] += v
		}
		tv = append(tv, ex.TV(count))
	}
	return tv, ex.TV(together), nil
}
