package rbm

import (
	"context"
	"fmt"

	"infill/experiments/images"
	"infill/experiments/lab"
	"infill/internal/fanout"
	"infill/samplers"
	"infill/samplers/targets"
)

// fast are the samplers of DLMC's figures. All tune themselves, to the acceptance rates of the
// paper.
func fast() []named {
	return []named{{"RWM", &samplers.RWM{}}, {"GWG", &samplers.GWG{}}, {"PAS", &samplers.PAS{}},
		{"DMALA", &samplers.DMALA{}}, {"DLMC", &samplers.DLMC{}}, {"DLMCf", &samplers.DLMCf{}}}
}

// essChains is the number of chains that effective samples are taken from.
const essChains = 4

// efficiency is two tables of effective sample sizes on machines of DLMC's sizes: for evaluations,
// and for calls as the paper counts them. of makes the images of a number of levels.
func (p plan) efficiency(ctx context.Context, o lab.Options, of func(levels int) (*images.Set,
	error)) (byEvals, byCalls string, err error) {
	all := fast()
	machines, sets := make([]*targets.RBM, len(p.sizes)), make([]*images.Set, len(p.sizes))
	err = fanout.Each(o.Threads, len(p.sizes), func(i int) (err error) {
		if sets[i], err = of(p.sizes[i].levels); err == nil {
			machines[i], err = p.train(ctx, sets[i], p.sizes[i].hidden, p.few, o.Seed)
		}
		o.Logf("rbm: trained machine %d", i+1)
		return err
	})
	if err != nil {
		return "", "", err
	}
	ess := make([]perCost, len(p.sizes)*len(all))
	err = fanout.Each(o.Threads, len(ess), func(i int) error {
		k := i / len(all)
		v, err := p.ess(ctx, all[i%len(all)].s, machines[k], sets[k], o.Seed)
		ess[i] = v
		o.Logf("rbm: %s on machine %d", all[i%len(all)].title, k+1)
		return err
	})
	if err != nil {
		return "", "", err
	}
	table := func(of func(perCost) float64) string {
		rows := [][]string{{"sampler"}}
		for _, k := range p.sizes {
			rows[0] = append(rows[0], fmt.Sprintf("%d levels, %d hidden units", k.levels, k.hidden))
		}
		for s := range all {
			row := []string{all[s].title}
			for k := range p.sizes {
				row = append(row, lab.Num(of(ess[k*len(all)+s]), 2))
			}
			rows = append(rows, row)
		}
		return lab.Table(rows...)
	}
	return table(func(c perCost) float64 { return c.evals }),
		table(func(c perCost) float64 { return c.calls }), nil
}

// A perCost is the effective sample size of the energy for 1000 evaluations and for 1000 calls.
type perCost struct{ evals, calls float64 }

// ess measures a sampler. Chains begin near the
// machine's law, after sweeps of block Gibbs, and tune themselves in a burn-in as long as the
// run.
func (p plan) ess(ctx context.Context, s samplers.Sampler, r *targets.RBM, set *images.Set,
	seed uint64) (perCost, error) {
	run, err := samplers.Start(ctx, s, r, p.reference(r, set, essChains, seed, "efficiency"),
		samplers.Options{Seed: seed, ID: "efficiency", Burnin: p.essSteps})
	if err != nil {
		return perCost{}, err
	}
	var trace samplers.Trace
	if err := run.Sample(ctx, p.essSteps, trace.Observe); err != nil {
		return perCost{}, err
	}
	d := trace.Diagnose(run)
	return perCost{
		evals: 1000 * d.ESS / float64(d.Stats.Evals),
		calls: 1000 * d.ESS / float64(samplers.InfoOf(s).Calls(d.Stats)),
	}, nil
}
