package rbm

import (
	"context"
	"fmt"
	"math"

	"infill/lab/experiments/images"
	"infill/lab/experiments/lab"
	"infill/lab/internal/diag"
	"infill/lab/internal/fanout"
	"infill/lab/internal/kernels"
	"infill/lab/papers"
	"infill/samplers"
)

// weights are the weights in DLMC's figures, with their names there.
var weights = []struct {
	name string
	g    samplers.Balance
}{{"√", samplers.Sqrt}, {"t/(1+t)", samplers.Ratio}}

// balanced are the samplers of DLMC's figures that have a weight. All but GWG tune themselves, to
// the acceptance rates of the paper.
var balanced = []struct {
	title string
	with  func(g samplers.Balance) samplers.Sampler
}{
	{"GWG", func(g samplers.Balance) samplers.Sampler { return &samplers.GWG{Balance: g} }},
	{"PAS", func(g samplers.Balance) samplers.Sampler { return &kernels.PAS{Balance: g} }},
	{"DMALA", func(g samplers.Balance) samplers.Sampler { return &samplers.DMALA{Balance: g} }},
	{"DLMC", func(g samplers.Balance) samplers.Sampler { return &samplers.DLMC{Balance: g} }},
	{"DLMCf", func(g samplers.Balance) samplers.Sampler {
		return &samplers.DLMC{Euler: true, Balance: g}
	}},
}

// plain are the others, with the blocks of the paper. RWM tunes itself.
func plain() []named {
	return []named{{"RWM", &kernels.RWM{}}, {"BG-2", &kernels.BlockGibbs{Block: 2}},
		{"HB-10-1", &kernels.HammingBall{Radius: 1, Block: 10}}}
}

// fast are all samplers of DLMC's figures: the plain ones, and then the balanced ones with each
// weight in turn.
func fast() []named {
	all := plain()
	for _, s := range balanced {
		for _, w := range weights {
			all = append(all, named{s.title + " " + w.name, s.with(w.g)})
		}
	}
	return all
}

// efficiencies are effective samples, by sampler and machine.
type efficiencies struct {
	titles []string
	sizes  []size
	images int // that a machine learned
	cells  [][]perCost
}

// A perCost is the effective sample size of the energy for 1000 evaluations, for 1000 calls and
// for a second of one core, and the standard error of all of them as a share.
type perCost struct{ Evals, Calls, Second, Err float64 }

// efficiency measures samplers on machines of DLMC's sizes. of makes the images of a number of
// levels.
func (p plan) efficiency(ctx context.Context, o lab.Options, of func(levels int) (*images.Set,
	error)) (*efficiencies, error) {
	all := fast()
	machines, starts := make([]*papers.RBM, len(p.sizes)), make([][][]int32, len(p.sizes))
	e := &efficiencies{sizes: p.sizes}
	err := fanout.Each(o.Threads, len(p.sizes), func(i int) error {
		set, err := of(p.sizes[i].levels)
		if err != nil {
			return err
		}
		if i == 0 {
			e.images = len(set.Train)
		}
		if machines[i], err = p.train(ctx, set, p.sizes[i].hidden, p.few, o.Seed); err != nil {
			return err
		}
		starts[i], err = p.reference(ctx, o, machines[i], set, p.essChains, "starts of efficiency")
		o.Logf("rbm: trained machine %d", i+1)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		e.titles, e.cells = append(e.titles, s.title), append(e.cells, make([]perCost, len(p.sizes)))
	}
	err = fanout.Each(o.Threads, len(p.sizes)*len(all), func(i int) (err error) {
		k, s := i/len(all), i%len(all)
		e.cells[s][k], err = lab.Kept(o, fmt.Sprintf("rbm-ess-%s-%d", fileName(all[s].title), k+1),
			fmt.Sprintf("%+v, %+v", p, all[s].s), func() (perCost, error) {
				return p.ess(ctx, o, all[s].s, machines[k], starts[k])
			})
		o.Logf("rbm: %s on machine %d", all[s].title, k+1)
		return err
	})
	return e, err
}

// ess measures a sampler. Chains begin near the machine's law, after sweeps of block Gibbs, and
// tune themselves in a burn-in.
func (p plan) ess(ctx context.Context, o lab.Options, s samplers.Sampler, r *papers.RBM,
	starts [][]int32) (perCost, error) {
	run, err := samplers.Start(ctx, s, r, starts,
		samplers.Options{Seed: o.Seed, ID: "efficiency", Burnin: p.essBurnin})
	if err != nil {
		return perCost{}, err
	}
	if err := run.Steps(ctx, p.essBurnin, nil); err != nil {
		return perCost{}, err
	}
	run.ResetStats()
	watch, stop := o.Watch()
	defer stop()
	var trace diag.Trace
	from := watch()
	if err := run.Steps(ctx, p.essSteps, trace.Observe); err != nil {
		return perCost{}, err
	}
	spent := watch() - from
	d := trace.Diagnose(run)
	return perCost{
		Evals:  1000 * d.ESS / float64(d.Stats.Evals),
		Calls:  1000 * d.ESS / float64(kernels.Calls(s.Info(), d.Stats)),
		Second: d.ESS / spent.Seconds(),
		Err:    d.ESSError / d.ESS,
	}, nil
}

// table has a row for each sampler and a column for each machine.
func (e *efficiencies) table(of func(perCost) string) string {
	rows := [][]string{append([]string{"sampler"}, e.machines()...)}
	for s, title := range e.titles {
		row := []string{title}
		for k := range e.sizes {
			row = append(row, of(e.cells[s][k]))
		}
		rows = append(rows, row)
	}
	return lab.Table(rows...)
}

func (e *efficiencies) machines() []string {
	var out []string
	for _, k := range e.sizes {
		out = append(out, fmt.Sprintf("%d levels, %d hidden units", k.levels, k.hidden))
	}
	return out
}

// quotients are effective samples a call with t/(1+t), divided by those with √.
func (e *efficiencies) quotients() string {
	rows := [][]string{append([]string{"sampler"}, e.machines()...)}
	for j, s := range balanced {
		row := []string{s.title}
		for k := range e.sizes {
			at := len(e.titles) - len(weights)*(len(balanced)-j)
			root, ratio := e.cells[at][k], e.cells[at+1][k]
			q := ratio.Calls / root.Calls
			row = append(row, lab.Spread{Mean: q, SE: q * math.Hypot(root.Err, ratio.Err)}.Format(2))
		}
		rows = append(rows, row)
	}
	return lab.Table(rows...)
}
