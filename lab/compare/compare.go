package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"infill/lab/internal/diag"
	"infill/lab/internal/kernels"
	"infill/lab/targets"
	"infill/samplers"
)

// Bounds of a Config.
const (
	MaxChains = 1 << 16
	MaxSteps  = 1 << 28
)

// Config says how long to sample. Fields that are 0 mean those of Defaults.
type Config struct {
	Chains int // 1 to MaxChains
	Steps  int // kept steps per chain, 1 to MaxSteps
	Burnin int // adapting steps before them, 1 to MaxSteps
	// NoBurnin leaves them out. Burnin is then 0.
	NoBurnin bool
	Seed     uint64 // of starts and chains
	// Progress, if not nil, is called with the steps made, those of the burn-in included, and the
	// steps of all samplers together: before the first, after each, and where one is skipped.
	Progress func(done, all int)
}

// Defaults are what fields of a Config that are 0 mean.
func Defaults() Config { return Config{Chains: 4, Steps: 2000, Burnin: 500} }

func (c Config) filled() (Config, error) {
	for _, v := range []struct {
		name    string
		n, most int
	}{{"chains", c.Chains, MaxChains}, {"steps", c.Steps, MaxSteps}, {"burn-in", c.Burnin, MaxSteps}} {
		if v.n < 0 || v.n > v.most {
			return c, fmt.Errorf("%w: %s is %d, want 1 to %d, or 0 for the default", ErrSpec, v.name, v.n,
				v.most)
		}
	}
	d := Defaults()
	c.Chains, c.Steps = cmp.Or(c.Chains, d.Chains), cmp.Or(c.Steps, d.Steps)
	c.Burnin = cmp.Or(c.Burnin, d.Burnin)
	if c.NoBurnin {
		c.Burnin = 0
	}
	return c, nil
}

// Row is what one sampler did on the problem. Counts and times are of the kept
// steps only, over all chains.
type Row struct {
	Label     string
	Exact     bool
	Error     float64 // RMS error of the marginal probabilities; NaN without truth
	ESS       float64 // of the distance to a fixed random state, all chains; NaN for weighted samples
	PerEval   float64 // ESS per evaluation of the target, as samplers.Stats counts them
	PerCall   float64 // ESS per call of U or ∇U, as DLMC's paper counts them (samplers.Info.Calls)
	PerSecond float64 // ESS per second
	PerStep   float64 // ESS per step
	RHat      float64 // split R-hat of the same scalar
	MeanProb  float64 // mean acceptance probability, a proposal that is the state itself counts 1
	Jump      float64 // mean coordinates changed per step
	Proposed  float64 // mean coordinates changed by a proposal
	Evals     int
	Calls     int
	Seconds   float64
	Zero      int     // proposals, or neighbours, of energy −∞
	NonFinite int     // those whose energy or gradient is NaN or infinite
	SE        SE      // of the figures above
	Warnings  []error // what makes the row doubtful
	Skipped   error   // why the sampler cannot run on this target
}

// SE are the standard errors of a row's figures, estimated from how they differ from chain
// to chain. They are NaN where there is one chain, and where the figure is.
type SE struct{ Error, ESS, MeanProb, Jump float64 }

// Result is a comparison.
type Result struct {
	Problem *Problem
	Config  Config
	Rows    []Row
}

// Compare runs each sampler on the problem from the same starts, drawn
// uniformly. A sampler that the target does not support gets a row that says
// so; errors come from the target or the context.
func Compare(ctx context.Context, p *Problem, entries []Entry, cfg Config) (*Result, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	d := p.Target.Domain()
	rng := rand.New(rand.NewPCG(cfg.Seed, 0x5eed))
	x0 := d.Randoms(rng, cfg.Chains+1) // the last is the reference of the scalar
	ref := x0[cfg.Chains]
	res := &Result{Problem: p, Config: cfg}
	each := cfg.Burnin + cfg.Steps
	for i, e := range entries {
		made := func(n int) {
			if cfg.Progress != nil {
				cfg.Progress(i*each+n, len(entries)*each)
			}
		}
		made(0)
		row, err := runOne(ctx, p, e, cfg, x0[:cfg.Chains], ref, made)
		if err != nil {
			if errors.Is(err, samplers.ErrUnsupported) {
				row = Row{Label: e.Label, Exact: e.Sampler.Info().Exact, Skipped: err}
			} else {
				return nil, fmt.Errorf("%s: %w", e.Label, err)
			}
			made(each)
		}
		res.Rows = append(res.Rows, row)
	}
	return res, nil
}

// distance is the scalar whose effective sample size is reported, f(x) =
// Σ_i |x_i − ref_i| in categories.
func distance(x, ref []int32) float64 {
	s := 0
	for i, v := range x {
		if v > ref[i] {
			s += int(v - ref[i])
		} else {
			s += int(ref[i] - v)
		}
	}
	return float64(s)
}

// runOne makes the row of a sampler. It calls made with the number of steps so far.
func runOne(ctx context.Context, p *Problem, e Entry, cfg Config, x0 [][]int32, ref []int32,
	made func(n int)) (Row, error) {
	run, err := samplers.Start(ctx, e.Sampler, p.Target, x0, samplers.Options{Seed: cfg.Seed,
		Burnin: cfg.Burnin})
	if err != nil {
		return Row{}, err
	}
	for n := range cfg.Burnin {
		if err := run.Step(ctx); err != nil {
			return Row{}, err
		}
		made(n + 1)
	}
	run.ResetStats()
	var marginals diag.Marginals
	apart := newApart(run.Domain, len(x0))
	far := diag.Trace{Scalar: func(r *samplers.Run, k int) float64 {
		return distance(r.X[k],
			ref)
	}}
	var busy time.Duration
	for n := range cfg.Steps {
		begin := time.Now()
		if err := run.Step(ctx); err != nil {
			return Row{}, err
		}
		busy += time.Since(begin)
		if err := errors.Join(far.Observe(run), marginals.Observe(run)); err != nil {
			return Row{}, err
		}
		apart.observe(run)
		made(cfg.Burnin + n + 1)
	}
	diag := far.Diagnose(run)
	st, info := diag.Stats, e.Sampler.Info()
	row := Row{
		Label: e.Label, Exact: info.Exact, Calls: kernels.Calls(info, st),
		MeanProb: st.MeanProb(), Jump: st.JumpDistance(), Proposed: st.ProposedDistance(),
		ESS: diag.ESS, RHat: diag.RHat, Evals: st.Evals, Seconds: busy.Seconds(),
		Zero: st.Zero, NonFinite: st.NonFinite, Error: math.NaN(),
	}
	row.PerEval, row.PerSecond = row.ESS/float64(st.Evals), row.ESS/row.Seconds
	row.PerCall = row.ESS / float64(row.Calls)
	row.PerStep = row.ESS / float64(cfg.Steps*len(x0))
	if p.Marginal != nil {
		sum, j := 0.0, 0
		for i := range p.Target.Domain().Len() {
			for _, share := range marginals.Of(i) {
				diff := share - p.Marginal[j]
				sum += diff * diff
				j++
			}
		}
		row.Error = math.Sqrt(sum / float64(j))
	}
	row.SE = apart.errors(p.Marginal, far, run)
	if st.NonFinite > 0 {
		row.Warnings = append(row.Warnings, fmt.Errorf("%d proposals or neighbours had energies or "+
			"gradients that are not numbers, and were refused", st.NonFinite))
	}
	if row.RHat > 1.1 {
		row.Warnings = append(row.Warnings, fmt.Errorf("the chains disagree (split R-hat %.2f): "+
			"sample longer", row.RHat))
	}
	return row, nil
}

// randomCategorical draws the factorised target of section 5 of lab/notebook/verification.md.
func randomCategorical(d, k int, sd float64, seed uint64) (*targets.Categorical, [][]float64,
	error) {
	if d < 1 || k < 1 || d > maxSetting/k {
		return nil, nil, fmt.Errorf("%w: %d coordinates of %d categories, want at most %.0f "+
			"categories together", ErrSpec, d, k, maxSetting)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	theta := make([][]float64, d)
	for i := range theta {
		theta[i] = make([]float64, k)
		for v := range theta[i] {
			theta[i][v] = sd * rng.NormFloat64()
		}
	}
	t, err := targets.NewCategorical(theta)
	return t, theta, err
}

func softmax(x []float64) []float64 {
	m := math.Inf(-1)
	for _, v := range x {
		m = math.Max(m, v)
	}
	out, s := make([]float64, len(x)), 0.0
	for i, v := range x {
		out[i] = math.Exp(v - m)
		s += out[i]
	}
	for i := range out {
		out[i] /= s
	}
	return out
}
