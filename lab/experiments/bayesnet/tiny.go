package bayesnet

import (
	"context"

	"infill/lab/experiments/lab"
	"infill/lab/targets"
	"infill/samplers"
)

// tiny is a network of 13 weights, whose 8,192 states are listed.
type tiny struct {
	*posterior
	ask        *inputs // one row more
	output, ll float64 // posterior means: of f at that row, and of −mean (f − y)²
}

const tinyScale = 20

func newTiny(seed uint64) (*tiny, error) {
	rng := samplers.NewStream(seed, "bayesnet tiny", 0)
	d := made(rng, 13, 2)
	train := &dataset{width: 2, columns: d.columns, rows: d.rows[:12], y: d.y[:12]}
	in := standardise(train)
	t := &tiny{posterior: newPosterior(newNetwork(2, 3), in, fold(in), tinyScale),
		ask: in.other(&dataset{rows: d.rows[12:], y: d.y[12:]})}
	e, err := targets.Enumerate(context.Background(), t)
	if err != nil {
		return nil, err
	}
	x, kept := make([]int32, t.n.weights()), t.sweep()
	for s, p := range e.P {
		e.State(s, x)
		w := spins(x)
		t.output += p * t.n.output(t.ask, 0, w)
		t.ll += p * t.whole(kept, w, nil) / t.scale
	}
	return t, nil
}

// averages are the same means over a sampler's chains, with their standard errors over 8 chains.
type averages struct{ output, ll lab.Spread }

func (t *tiny) averages(ctx context.Context, s samplers.Sampler, seed uint64, steps int,
) (*averages, error) {
	const chains = 8
	x := make([][]int32, chains)
	for k := range x {
		x[k] = t.Domain().Random(samplers.NewStream(seed, "bayesnet tiny start", k))
	}
	run, err := samplers.Start(ctx, s, t, x, samplers.Options{Seed: seed, ID: "bayesnet tiny"})
	if err != nil {
		return nil, err
	}
	out, ll := make([]float64, chains), make([]float64, chains)
	err = run.Steps(ctx, steps, func(r *samplers.Run) error {
		if err := r.Refresh(ctx); err != nil {
			return err
		}
		for k, x := range r.X {
			out[k] += t.n.output(t.ask, 0, spins(x)) / float64(steps)
			ll[k] += r.U[k] / t.scale / float64(steps)
		}
		return nil
	})
	return &averages{lab.Over(out), lab.Over(ll)}, err
}
