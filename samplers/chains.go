package samplers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// Sampler is a Markov chain Monte Carlo method together with its parameters.
type Sampler interface {
	// Name is the name under which Lookup finds the sampler.
	Name() string
	// Attach checks the parameters and the target's abilities and returns the
	// transition of the given chains. It evaluates nothing.
	Attach(c *Chains) (Kernel, error)
}

// Kernel advances all chains by one step.
type Kernel interface {
	Step(ctx context.Context) error
}

// Tuned is the optional ability of a kernel to say what it adapted.
type Tuned interface {
	// Tuning returns the current value of each adapted quantity of chain k,
	// such as "step-size"; they no longer change once the burn-in is over.
	Tuning(k int) map[string]float64
}

// Options of a run. The zero value is seed 0, no burn-in.
type Options struct {
	Seed uint64
	ID   string // names the problem, so that each has streams of its own
	// First is the number of the first chain in its random stream; chain k
	// of the run draws from NewStream(Seed, ID, First+k).
	First int
	// Burnin is the number of first steps in which step sizes and the like
	// are adapted; afterwards they stay as they are. States of the burn-in
	// are not draws of the target. 0: nothing is adapted, and automatic
	// parameters keep their starting values.
	Burnin int
}

// Move is what a step did to one chain.
type Move struct {
	Moved    bool    // the proposal differed from the state
	Accepted bool    // the proposal was taken (an unmoved one always is)
	Prob     float64 // acceptance probability, in [0,1]
	Hamming  int     // coordinates changed by the step; 0 when rejected
	Flips    int     // coordinates that the proposal changed
}

// Stats counts what a chain did since its start or since ResetStats.
type Stats struct {
	Steps    int     // steps made
	Moved    int     // proposals that differed from the state
	Accepted int     // accepted proposals, unmoved ones among them
	SumProb  float64 // Σ of acceptance probabilities
	Hamming  int     // Σ of coordinates changed: the accepted jump distance
	Proposed int     // Σ of coordinates that proposals changed
	Evals    int     // states given to the target (conditionals count as one)
	// Zero counts the proposals of U = −∞, which are rejected; in samplers that
	// evaluate the neighbours of a state (exact-gibbs without conditionals,
	// block-gibbs, hb, lb1) the states of U = −∞ among them, which are never
	// drawn. Categories outside the support are not evaluated nor counted.
	Zero int
	// NonFinite counts the proposals, or neighbours, whose U was NaN or +∞, and
	// the gradients, ratios and conditionals that were no numbers. What they
	// belong to is rejected or never drawn.
	NonFinite int
}

// Acceptance is the share of accepted proposals, in [0,1]; NaN before any.
func (s Stats) Acceptance() float64 { return float64(s.Accepted) / float64(s.Steps) }

// MeanProb is the mean acceptance probability, a less noisy Acceptance.
func (s Stats) MeanProb() float64 { return s.SumProb / float64(s.Steps) }

// JumpDistance is the mean number of coordinates changed per step.
func (s Stats) JumpDistance() float64 { return float64(s.Hamming) / float64(s.Steps) }

// ProposedDistance is the mean number of coordinates changed by a proposal.
func (s Stats) ProposedDistance() float64 { return float64(s.Proposed) / float64(s.Steps) }

// Add adds the counts of o, to sum over chains.
func (s *Stats) Add(o Stats) {
	s.Steps += o.Steps
	s.Moved += o.Moved
	s.Accepted += o.Accepted
	s.SumProb += o.SumProb
	s.Hamming += o.Hamming
	s.Proposed += o.Proposed
	s.Evals += o.Evals
	s.Zero += o.Zero
	s.NonFinite += o.NonFinite
}

// Chains holds the states of a run. Callers read it between steps; kernels
// write it.
type Chains struct {
	Target Target
	Domain *Domain
	X      [][]int32    // current states; kernels may exchange the slices
	U      []float64    // U at X; NaN where no sampler needed it, see Refresh
	Grad   [][]float64  // ∇U at X; nil for samplers that use none
	RNG    []*rand.Rand // one stream per chain
	Last   []Move       // what the last step did
	Stats  []Stats      // what all steps did
	// Weight is the weight that the current states have in averages: 1,
	// except for SGDLD, whose states last for different times.
	Weight []float64
	Burnin int // steps in which kernels adapt
	done   int
	idx    []int // scratch of Refresh
	bx     [][]int32
	bu     []float64
}

// Done is the number of steps made so far.
func (c *Chains) Done() int { return c.done }

// Len is the number of chains.
func (c *Chains) Len() int { return len(c.X) }

// Adapting reports whether the step being made belongs to the burn-in.
func (c *Chains) Adapting() bool { return c.done < c.Burnin }

// ResetStats forgets the counts so far, for instance those of the burn-in.
func (c *Chains) ResetStats() {
	for k := range c.Stats {
		c.Stats[k] = Stats{}
	}
}

// Refresh evaluates U wherever a sampler that needs no energies left it
// unknown (NaN), in one call to the target.
func (c *Chains) Refresh(ctx context.Context) error {
	c.idx, c.bx = c.idx[:0], c.bx[:0]
	for k, u := range c.U {
		if u != u {
			c.idx, c.bx = append(c.idx, k), append(c.bx, c.X[k])
		}
	}
	if len(c.idx) == 0 {
		return nil
	}
	c.bu = resize(c.bu, len(c.idx))
	if err := c.Target.Energy(ctx, c.bx, c.bu); err != nil {
		return err
	}
	for j, k := range c.idx {
		if c.bu[j] != c.bu[j] {
			return fmt.Errorf("%w: the target's energy of chain %d at %v is NaN; a target gives a number or −∞ at every state of its domain", ErrState, k, c.X[k])
		}
		c.U[k] = c.bu[j]
		c.Stats[k].Evals++
	}
	return nil
}

// record enters the move of chain k.
func (c *Chains) record(k int, m Move) {
	c.Last[k] = m
	s := &c.Stats[k]
	s.Steps++
	if m.Moved {
		s.Moved++
	}
	if m.Accepted {
		s.Accepted++
	}
	s.SumProb += m.Prob
	s.Hamming += m.Hamming
	s.Proposed += m.Flips
}

// Run is a sampler at work on a target.
type Run struct {
	*Chains
	Sampler Sampler
	Kernel  Kernel
}

// Start begins one chain at each state of x0, which is copied. It evaluates
// the starts (with gradients if the sampler uses them). Errors: a start outside
// the domain or of probability zero (ErrState), a parameter out of range
// (ErrParam), a missing ability (ErrUnsupported), or the target's own.
func Start(ctx context.Context, s Sampler, t Target, x0 [][]int32, opt Options) (*Run, error) {
	if len(x0) == 0 {
		return nil, fmt.Errorf("%w: no chain to start; give one start state per chain", ErrState)
	}
	if opt.Burnin < 0 {
		return nil, &ParamError{s.Name(), "burn-in", fmt.Sprint(opt.Burnin), "0 or more steps"}
	}
	c := &Chains{Target: t, Domain: t.Domain(), Burnin: opt.Burnin}
	for k, x := range x0 {
		if err := c.Domain.Check(x); err != nil {
			return nil, fmt.Errorf("chain %d: %w", k, err)
		}
		c.X = append(c.X, append([]int32(nil), x...))
		c.U = append(c.U, math.NaN())
		c.Weight = append(c.Weight, 1)
		c.RNG = append(c.RNG, NewStream(opt.Seed, opt.ID, opt.First+k))
	}
	c.Last = make([]Move, len(x0))
	c.Stats = make([]Stats, len(x0))
	kern, err := s.Attach(c)
	if err != nil {
		return nil, err
	}
	if p, ok := kern.(interface{ prepare(context.Context) error }); ok {
		if err := p.prepare(ctx); err != nil {
			return nil, err
		}
	}
	return &Run{Chains: c, Sampler: s, Kernel: kern}, nil
}

// Step advances every chain by one step. After an error the run must not be
// used any further.
func (r *Run) Step(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.Kernel.Step(ctx); err != nil {
		return err
	}
	r.done++
	return nil
}

// Steps makes n steps and calls visit, if not nil, after each; an error of
// visit ends it and is returned.
func (r *Run) Steps(ctx context.Context, n int, visit func(*Run) error) error {
	for range n {
		if err := r.Step(ctx); err != nil {
			return err
		}
		if visit != nil {
			if err := visit(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// Tuning returns what the kernel adapted for chain k, nil when nothing.
func (r *Run) Tuning(k int) map[string]float64 {
	if t, ok := r.Kernel.(Tuned); ok {
		return t.Tuning(k)
	}
	return nil
}

// needGrad makes room for gradients, or says that the target has none.
func (c *Chains) needGrad(sampler string) (Gradienter, error) {
	g, ok := c.Target.(Gradienter)
	if !ok {
		return nil, &AbilityError{sampler, "gradients (EnergyGrad)", "rwm, exact-gibbs, block-gibbs, hb and lb1 need none"}
	}
	c.Grad = matrix[float64](len(c.X), c.Domain.GradLen())
	return g, nil
}

// startEnergies evaluates (U, ∇U) at the starts, or U only when g is nil.
func (c *Chains) startEnergies(ctx context.Context, g Gradienter) error {
	var err error
	if g != nil {
		err = g.EnergyGrad(ctx, c.X, c.U, c.Grad)
	} else {
		err = c.Target.Energy(ctx, c.X, c.U)
	}
	if err != nil {
		return err
	}
	for k, u := range c.U {
		c.Stats[k].Evals++
		if !finite(u) {
			return fmt.Errorf("%w: chain %d starts at energy %v; start it at a state of positive probability", ErrState, k, u)
		}
	}
	return nil
}

func matrix[T any](n, m int) [][]T {
	out := make([][]T, n)
	for i := range out {
		out[i] = make([]T, m)
	}
	return out
}

func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}
