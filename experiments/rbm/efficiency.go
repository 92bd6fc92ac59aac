package rbm

import (
	"context"
	"fmt"

	"infill/experiments/images"
	"infill/experiments/lab"
	"infill/samplers"
	"infill/samplers/targets"
)

// fast are the samplers of DLMC's figures. All tune themselves, to the acceptance rates of the
// paper.
func fast() []named {
	return []named{{"RWM", &samplers.RWM{}}, {"GWG", &samplers.GWG{}}, {"PAS", &samplers.PAS{}},
		{"DMALA", &samplers.DMALA{}}, {"DLMC", &samplers.DLMC{}}, {"DLMCf", &samplers.DLMCf{}}}
}

// efficiency is the table of effective sample sizes on three machines: with few and with many
// hidden units, and with categories.
func (p plan) efficiency(ctx context.Context, o lab.Options, two, few *images.Set) (string, error) {
	kinds := []struct {
		set    *images.Set
		hidden int
	}{{two, p.cold}, {two, p.hidden}, {few, 2 * p.cold}}
	all := fast()
	machines := make([]*targets.RBM, len(kinds))
	err := lab.Parallel(o.Threads, len(kinds), func(i int) (err error) {
		machines[i], err = p.train(ctx, kinds[i].set, kinds[i].hidden, o.Seed)
		return err
	})
	if err != nil {
		return "", err
	}
	ess := make([]string, len(kinds)*len(all))
	err = lab.Parallel(o.Threads, len(ess), func(i int) error {
		k := i / len(all)
		v, err := p.ess(ctx, all[i%len(all)].s, machines[k], kinds[k].set, o.Seed)
		ess[i] = v
		o.Logf("rbm: %s on machine %d", all[i%len(all)].title, k+1)
		return err
	})
	if err != nil {
		return "", err
	}
	rows := [][]string{{"sampler"}}
	for _, k := range kinds {
		rows[0] = append(rows[0], fmt.Sprintf("%d levels, %d hidden units", k.set.Levels, k.hidden))
	}
	for s := range all {
		row := []string{all[s].title}
		for k := range kinds {
			row = append(row, ess[k*len(all)+s])
		}
		rows = append(rows, row)
	}
	return lab.Table(rows...), nil
}

// ess is the effective sample size of the energy for 1000 evaluations. Chains begin near the
// machine's law, after sweeps of block Gibbs, and tune themselves in a burn-in as long as the
// run.
func (p plan) ess(ctx context.Context, s samplers.Sampler, r *targets.RBM, set *images.Set,
	seed uint64) (string, error) {
	n := max(4, p.chains/4)
	run, err := samplers.Start(ctx, s, r, p.reference(r, set, n, seed, "efficiency"),
		samplers.Options{Seed: seed, ID: "efficiency", Burnin: p.steps / 2})
	if err != nil {
		return "", err
	}
	var trace samplers.Trace
	if err := run.Sample(ctx, p.steps/2, trace.Observe); err != nil {
		return "", err
	}
	d := trace.Diagnose(run)
	return lab.Num(1000*d.ESS/float64(d.Stats.Evals), 2), nil
}
