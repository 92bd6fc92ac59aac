package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"infill/samplers"
	"infill/samplers/targets"
)

// sgdldCases are the errors that were handed to us as those of the method. The paper
// has a chart of them and no numbers.
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
	rows := [][]string{{"h", "cache", "second-hand", "here", "all chains together"}}
	for _, c := range sgdldCases {
		run := &samplers.SGDLD{Jump: c.h, NoCache: !c.cache}
		tv, all, err := sgdldChains(ctx, g, ex, run, 3000, e.seed)
		if err != nil {
			return err
		}
		cache := map[bool]string{true: "yes", false: "no"}[c.cache]
		rows = append(rows, []string{fmt.Sprint(c.h), cache, fmt.Sprintf("%.3f", c.want),
			over(tv).String(), fmt.Sprintf("%.4f", all)})
	}
	lines(w, rows...)
	fmt.Fprint(w, text("sgdld_conditional"))
	g.Estimator = targets.Conditional
	rows = [][]string{{"h", "cache", "here", "all chains together"}}
	for _, c := range sgdldCases {
		run := &samplers.SGDLD{Jump: c.h, NoCache: !c.cache, Balance: samplers.Ratio}
		tv, all, err := sgdldChains(ctx, g, ex, run, 3000, e.seed)
		if err != nil {
			return err
		}
		cache := map[bool]string{true: "yes", false: "no"}[c.cache]
		rows = append(rows, []string{fmt.Sprint(c.h), cache, over(tv).String(), fmt.Sprintf("%.4f", all)})
	}
	lines(w, rows...)
	return nil
}

// sgdldChains runs 6 groups of 150 chains and returns the total variation of
// each group and of all together.
func sgdldChains(ctx context.Context, g samplers.Target, ex *targets.Exact, s *samplers.SGDLD,
	steps int, seed uint64) (tv []float64, all float64, err error) {
	together := samplers.NewTally(len(ex.P))
	for group := range 6 {
		run, err := samplers.Start(ctx, s, g, starts(g.Domain(), 150, seed),
			samplers.Options{Seed: seed, First: 150 * group})
		if err != nil {
			return nil, 0, err
		}
		count := samplers.NewTally(len(ex.P))
		err = run.Steps(ctx, steps, func(r *samplers.Run) error {
			if r.Done() >= 400 {
				for k, x := range r.X {
					w := count.Weigh(r.LogWeight[k])
					count.Sum[ex.Index(x)] += w
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		together.Add(count)
		tv = append(tv, ex.TV(count.Sum))
	}
	return tv, ex.TV(together.Sum), nil
}
