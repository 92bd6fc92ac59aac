package verify

import (
	"context"
	"fmt"
	"io"
	"math"

	"infill/lab/internal/diag"
	"infill/lab/targets"
	"infill/samplers"
)

// sgdldCases are the errors that were handed to us as those of the method. The paper
// has a chart of them and no numbers.
var sgdldCases = [4]struct {
	h     float64
	cache bool
	want  float64
}{{0.6, true, .061}, {0.6, false, .080}, {0.1, true, .018}, {0.1, false, .079}}

// paperGaussBern is the model of the paper's equation 28.
func paperGaussBern() *targets.GaussianBernoulli {
	w := make([]float64, 16)
	for i := range w {
		w[i] = 0.5
		if i%5 == 0 {
			w[i] = 1
		}
	}
	return must(targets.NewGaussianBernoulli(w, []float64{-1.25, -1.25, -1.25, -1.25}))
}

func figSGDLD(ctx context.Context, w io.Writer, e *env) error {
	g := paperGaussBern()
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
		tv, err := sgdldChains(ctx, g, ex, run, 6, 150, 3000, e.seed)
		if err != nil {
			return err
		}
		cache := map[bool]string{true: "yes", false: "no"}[c.cache]
		rows = append(rows, []string{fmt.Sprint(c.h), cache, fmt.Sprintf("%.3f", c.want),
			over(tv.groups).String(), fmt.Sprintf("%.4f", tv.all)})
	}
	lines(w, rows...)
	fmt.Fprint(w, text("sgdld_agree"))
	if err := figSGDLDBatches(ctx, w, e, g, ex, sgdldBatches); err != nil {
		return err
	}
	fmt.Fprint(w, text("sgdld_conditional"))
	g.Estimator = targets.Conditional
	rows = [][]string{{"h", "cache", "here", "all chains together"}}
	for _, c := range sgdldCases {
		run := &samplers.SGDLD{Jump: c.h, NoCache: !c.cache, Balance: samplers.Ratio}
		tv, err := sgdldChains(ctx, g, ex, run, 6, 150, 3000, e.seed)
		if err != nil {
			return err
		}
		cache := map[bool]string{true: "yes", false: "no"}[c.cache]
		rows = append(rows, []string{fmt.Sprint(c.h), cache, over(tv.groups).String(),
			fmt.Sprintf("%.4f", tv.all)})
	}
	lines(w, rows...)
	return nil
}

// variations are total variations between the weighted states of chains and π.
type variations struct {
	chains []float64 // of each chain alone
	groups []float64 // of the chains of a group together
	all    float64
}

// sgdldChains runs groups of chains and leaves their first 400 steps out.
func sgdldChains(ctx context.Context, g samplers.Target, ex *targets.Exact, s samplers.Sampler,
	groups, chains, steps int, seed uint64) (tv variations, err error) {
	together := diag.NewTally(len(ex.P))
	for group := range groups {
		run, err := samplers.Start(ctx, s, g, starts(g.Domain(), chains, seed),
			samplers.Options{Seed: seed, First: chains * group})
		if err != nil {
			return tv, err
		}
		count, each := diag.NewTally(len(ex.P)), make([]*diag.Tally, chains)
		for k := range each {
			each[k] = diag.NewTally(len(ex.P))
		}
		err = run.Steps(ctx, steps, func(r *samplers.Run) error {
			if r.Done() >= 400 {
				for k, x := range r.X {
					for _, t := range []*diag.Tally{count, each[k]} {
						w := t.Weigh(r.LogWeight[k])
						t.Sum[ex.Index(x)] += w
					}
				}
			}
			return nil
		})
		if err != nil {
			return tv, err
		}
		together.Add(count)
		tv.groups = append(tv.groups, ex.TV(count.Sum))
		for _, t := range each {
			tv.chains = append(tv.chains, ex.TV(t.Sum))
		}
	}
	tv.all = ex.TV(together.Sum)
	return tv, nil
}
