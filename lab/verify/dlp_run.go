package verify

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"infill/lab/internal/diag"
	"infill/lab/internal/kernels"
	"infill/lab/targets"
	"infill/report/draw"
	"infill/samplers"
)

// dlpField is the field of DLP's Ising model (section 7.1).
const dlpField = .2

// dlpIsing is DLP's Ising model, 5×5 and periodic, with connectivity a, and its true mean.
func dlpIsing(a float64) (m *targets.Ising, mean []float64, err error) {
	m = must(targets.NewIsing(5, 5, true, a, []float64{dlpField}, false))
	_, mean, err = m.Exact()
	return m, mean, err
}

// fieldStarts draws n states from the field alone, P(1) = σ(2b), as the public code does.
func fieldStarts(d *samplers.Domain, n int, seed uint64) [][]int32 {
	rng := rand.New(rand.NewPCG(seed, 98))
	x := make([][]int32, n)
	for k := range x {
		x[k] = make([]int32, d.Len())
		for i := range x[k] {
			if rng.Float64() < 1/(1+math.Exp(-2*dlpField)) {
				x[k][i] = 1
			}
		}
	}
	return x
}

// dlpRun is what chains on the model gave.
type dlpRun struct {
	marks []int       // numbers of steps
	mse   [][]float64 // [mark][chain]: mean over sites of the squared error of the running mean
	evals float64     // evaluations a step
	calls float64     // calls a step as the paper on DLMC counts them
	ess   []float64   // per chain, of a site, scaled to one step
	acc   []float64   // per chain, mean acceptance probability
	flips []float64   // per chain, sites that a proposal changes
	jumps []float64   // per chain, sites that a step changes
}

// line is the error after each number of steps, against what they cost: a step costs unit.
func (r *dlpRun) line(name string, series int, unit float64) draw.Line {
	out := draw.Line{Name: name, Series: series}
	for n, mark := range r.marks {
		l := logRMSE(r.mse[n])
		out.X = append(out.X, unit*float64(mark))
		out.Y, out.SE = append(out.Y, l.mean), append(out.SE, l.se)
	}
	return out
}

// essSkip is where a chain's trace for its ESS begins.
const essSkip = 1000

// runDLP starts chains and averages the spins from the first step on, as the public code
// does. mean is the true one. The last mark is the number of steps. With traced the ESS is
// worked out too, which takes longer than the chains where they mix slowly.
func runDLP(ctx context.Context, s samplers.Sampler, m *targets.Ising, mean []float64, chains int,
	marks []int, traced bool, seed uint64) (*dlpRun, error) {
	run, err := samplers.Start(ctx, s, m, fieldStarts(m.Domain(), chains, seed),
		samplers.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	run.ResetStats()                 // the starts are not counted
	sites := []int{0, 6, 12, 18, 24} // all sites are alike
	out := &dlpRun{marks: marks}
	sum, trace := make([][]int, chains), make([][]float64, chains*len(sites))
	for k := range sum {
		sum[k] = make([]int, len(mean))
	}
	steps := marks[len(marks)-1]
	err = run.Steps(ctx, steps, func(r *samplers.Run) error {
		for k, x := range r.X {
			for i, v := range x {
				sum[k][i] += int(2*v - 1)
			}
			if !traced || r.Done() <= essSkip {
				continue
			}
			for j, i := range sites {
				at := k*len(sites) + j
				trace[at] = append(trace[at], float64(x[i]))
			}
		}
		if r.Done() == marks[len(out.mse)] {
			mse := make([]float64, chains)
			for k := range mse {
				for i, s := range sum[k] {
					e := float64(s)/float64(r.Done()) - mean[i]
					mse[k] += e * e / float64(len(mean))
				}
			}
			out.mse = append(out.mse, mse)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	info := s.Info()
	for k, st := range run.Stats {
		ess := 0.0
		for j := range sites {
			x := trace[k*len(sites)+j]
			switch {
			case len(x) == 0:
			case slices.Min(x) == slices.Max(x): // a site that never moved is one draw
				ess += 1 / float64(len(x)*len(sites))
			default:
				ess += diag.ESS(x) / float64(len(x)*len(sites))
			}
		}
		out.ess = append(out.ess, ess)
		out.acc = append(out.acc, st.MeanProb())
		out.flips = append(out.flips, st.ProposedDistance())
		out.jumps = append(out.jumps, st.JumpDistance())
		out.evals += float64(st.Evals) / float64(steps*chains)
		out.calls += float64(kernels.Calls(info, st)) / float64(steps*chains)
	}
	return out, nil
}

// logRMSE is ½ ln of the mean over chains of squared errors, with its standard error.
func logRMSE(mse []float64) estimate {
	m := over(mse)
	return estimate{math.Log(m.mean) / 2, m.se / m.mean / 2}
}

// dlpSeconds are the times of a step of each sampler, of a system for those with particles. Each
// is the quickest of many short blocks, taken in turns, which other work on the machine did not
// interrupt.
func dlpSeconds(ctx context.Context) ([]float64, error) {
	m, _, err := dlpIsing(.1)
	if err != nil {
		return nil, err
	}
	ext, err := extended(ctx, m)
	if err != nil {
		return nil, err
	}
	var runs []*samplers.Run
	var best []float64
	all := dlpSamplers(ext)
	for _, c := range all {
		run, err := samplers.Start(ctx, c.s, m, fieldStarts(m.Domain(), c.particles, 1),
			samplers.Options{Seed: 1})
		if err != nil {
			return nil, err
		}
		runs, best = append(runs, run), append(best, math.Inf(1))
	}
	for range 100 {
		for i, run := range runs {
			steps := max(1, 400/(all[i].particles*all[i].particles))
			begin := time.Now()
			if err := run.Steps(ctx, steps, nil); err != nil {
				return nil, err
			}
			best[i] = math.Min(best[i], time.Since(begin).Seconds()/float64(steps))
		}
	}
	return best, nil
}
