package rbm

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"infill/lab/experiments/boltzmann"
	"infill/lab/experiments/images"
	"infill/lab/experiments/lab"
	"infill/lab/internal/kernels"
	"infill/lab/papers"
	"infill/samplers"
)

// plan has the sizes of the experiment.
type plan struct {
	hidden           int     // units
	fit              fit     // its training
	rate             float64 // of Adam
	chains           int
	steps            int // of each chain
	burnin           int // of the steps, in which samplers tune themselves
	every            int // steps between two measurements
	gold             int // states of block Gibbs to compare with
	settled          int // sweeps from data to such a state
	aisChains, rungs int

	sizes     []size // of the machines for effective samples
	few       fit    // their training
	essChains int    // on them
	essBurnin int    // steps in which samplers tune themselves
	essSteps  int    // after these
}

// batch is the number of images in an iteration of training.
const batch = 100

// A fit is training by contrastive divergence.
type fit struct {
	iters  int
	sweeps int // in each of them: CD-k
}

// A size is the size of a machine of DLMC's paper.
type size struct{ levels, hidden int }

// named is a sampler with the settings of the papers.
type named struct {
	title string
	s     samplers.Sampler
}

// fileName is a title as a part of a file's name.
func fileName(title string) string {
	return strings.NewReplacer("/", "-", " ", "-", "(", "", ")", "", "√", "sqrt").Replace(title)
}

// samplersOf lists the samplers of the figures. DULA and DMALA have their step sizes from DLP's
// appendix I.3. ACS has its own from appendix D.2 of its paper, which are our defaults. AB and DLMC
// tune themselves.
func samplersOf() []named {
	return []named{
		{"Gibbs-1", &samplers.Gibbs{}},
		{"HB-10-1", &kernels.HammingBall{Radius: 1, Block: 10}},
		{"GWG-1", &samplers.GWG{}},
		{"DULA", &samplers.DULA{StepSize: 0.1}},
		{"DMALA", &samplers.DMALA{StepSize: 0.2}},
		{"AB", &kernels.AB{}},
		{"ACS", &samplers.ACS{}},
		{"DLMC", &samplers.DLMC{}},
	}
}

// train fits a machine by contrastive divergence.
func (p plan) train(ctx context.Context, set *images.Set, hidden int, f fit, seed uint64) (
	*papers.RBM, error) {
	r, err := boltzmann.New(set, hidden, seed)
	if err != nil {
		return nil, err
	}
	how := boltzmann.Fit{Iters: f.iters, Batch: batch, Rate: p.rate, Seed: seed}
	return r, how.Learn(ctx, r, set.Train,
		boltzmann.Divergence(r, f.sweeps, seed))
}

// reference are states of long chains of block Gibbs, one of each. They begin at data.
func (p plan) reference(ctx context.Context, o lab.Options, r *papers.RBM, set *images.Set, n int,
	id string) ([][]int32, error) {
	return lab.Kept(o, fmt.Sprintf("rbm-%s-%d-%d", fileName(id), r.K, r.H),
		fmt.Sprintf("%+v, %s, %d", p, set.Name, n), func() ([][]int32, error) {
			x, rng := make([][]int32, n), samplers.NewStream(o.Seed, id+", images", 0)
			for k := range x {
				x[k] = set.Train[rng.IntN(len(set.Train))]
			}
			return boltzmann.Sweep(ctx, r, x, p.settled, samplers.Options{Seed: o.Seed, ID: id})
		})
}

// likeliest is the image that the machine finds likeliest.
func likeliest(ctx context.Context, r *papers.RBM, x [][]int32) ([]int32, error) {
	u := make([]float64, len(x))
	if err := r.Energy(ctx, x, u); err != nil {
		return nil, err
	}
	best := 0
	for k, v := range u {
		if v > u[best] {
			best = k
		}
	}
	return x[best], nil
}

// A curve is the distance of a sampler's chains from block Gibbs, by step.
type curve struct {
	Steps, MMD []float64
	Seconds    []float64 // of computing, without that of the measurements
	Last       [][]int32 // states after the last step
	Accepted   float64   // mean acceptance probability after the burn-in
	Jump       float64   // pixels changed by a step after the burn-in
}

// end is the mean of MMD over the last quarter of the measurements.
func (c *curve) end() float64 {
	from, sum := len(c.MMD)*3/4, 0.0
	for _, v := range c.MMD[from:] {
		sum += v / float64(len(c.MMD)-from)
	}
	return sum
}

// logs are the logarithms, NaN for an estimate of 0 or less.
func (c *curve) logs() []float64 {
	out := make([]float64, len(c.MMD))
	for i, v := range c.MMD {
		out[i] = math.NaN()
		if v > 0 {
			out[i] = math.Log(v)
		}
	}
	return out
}

// until is the time at which log MMD was first below a bound, NaN if it never was.
func (c *curve) until(log float64) float64 {
	for i, v := range c.MMD {
		if v <= 0 || math.Log(v) < log {
			return c.Seconds[i]
		}
	}
	return math.NaN()
}

// record makes all steps of chains and measures them every few. Only step counts as computing.
func (p plan) record(o lab.Options, c *curve, r *papers.RBM, gold *images.Sample,
	step func(done int) ([][]int32, error)) error {
	watch, stop := o.Watch()
	defer stop()
	spent := time.Duration(0)
	for done := 0; done < p.steps; {
		from := watch()
		for range p.every {
			x, err := step(done)
			if err != nil {
				return err
			}
			c.Last = x
			done++
		}
		spent += watch() - from
		c.Steps = append(c.Steps, float64(done))
		c.Seconds = append(c.Seconds, spent.Seconds())
		c.MMD = append(c.MMD, images.MMD(images.NewSample(c.Last, r.K), gold))
	}
	return nil
}

// follow runs chains from starts and measures them.
func (p plan) follow(ctx context.Context, o lab.Options, s samplers.Sampler, r *papers.RBM,
	starts [][]int32, gold *images.Sample, id string) (*curve, error) {
	run, err := samplers.Start(ctx, s, r, starts,
		samplers.Options{Seed: o.Seed, ID: id, Burnin: p.burnin})
	if err != nil {
		return nil, err
	}
	c := &curve{}
	err = p.record(o, c, r, gold, func(done int) ([][]int32, error) {
		if done == p.burnin {
			run.ResetStats()
		}
		err := run.Step(ctx)
		return run.X, err
	})
	var all samplers.Stats
	for _, st := range run.Stats {
		all.Add(st)
	}
	c.Accepted, c.Jump = all.MeanProb(), all.JumpDistance()
	return c, err
}
