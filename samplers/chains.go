package samplers

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// Move is what a step did to one chain.
type Move struct {
	Moved    bool    // the proposal differed from the state
	Accepted bool    // it did, and was taken: the chain went there
	Prob     float64 // acceptance probability, in [0,1]; 1 for a proposal that is the state itself
	Hamming  int     // coordinates changed by the step; 0 when rejected
	Flips    int     // coordinates that the proposal changed
}

// Stats counts what a chain did since its start or since ResetStats.
type Stats struct {
	Steps    int     // steps made
	Moved    int     // proposals that differed from the state
	Accepted int     // of these, those that were accepted
	SumProb  float64 // Σ of acceptance probabilities, 1 for a proposal that is the state itself
	Hamming  int     // Σ of coordinates changed: the accepted jump distance
	Proposed int     // Σ of coordinates that proposals changed
	Evals    int     // states given to the target (conditionals count as one)
	// Zero counts the proposals of U = −∞, which are rejected, and in samplers that evaluate the
	// neighbours of a state those, which are never drawn. What the masks exclude is not evaluated.
	Zero int
	// NonFinite counts the proposals, or neighbours, whose U was NaN or +∞, and gradients, ratios and
	// conditionals that were not numbers. What they belong to is rejected or never drawn.
	NonFinite int
}

// MoveShare is the share of steps whose proposal differed from the state, in [0,1]; NaN before any
// step.
func (s Stats) MoveShare() float64 { return float64(s.Moved) / float64(s.Steps) }

// Acceptance is the share of accepted proposals among those that differed from the state, in
// [0,1]; NaN before any.
func (s Stats) Acceptance() float64 { return float64(s.Accepted) / float64(s.Moved) }

// MeanProb is the mean acceptance probability of a step, where a proposal that is the state itself
// counts 1. This is the rate that papers state, and that step sizes are adapted to.
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
	Grad   [][]float64  // ∇U at X, or the rows (see NeedRows); nil for samplers that use neither
	RNG    []*rand.Rand // one stream per chain
	Last   []Move       // what the last step did
	Stats  []Stats      // what all steps did
	// LogWeight is the logarithm of the weight that the current states have in averages: 0,
	// except for SGDLD. It is −∞ for a state that is to be left out.
	LogWeight []float64
	Burnin    int                                   // steps in which kernels adapt
	name      string                                // of the sampler, for messages
	gradients bool                                  // Grad has ∇U: NeedGradient was called
	rows      *rowSource                            // Grad has the rows: NeedRows was called
	seen      func(chain int, x []int32, u float64) // Options.Evaluated
	done      int
	memory    []any   // Origins.Memory
	from      Origins // scratch of origins
	all       []int   // the numbers of all chains
	idx       []int   // scratch of Refresh
	bx        [][]int32
	bu        []float64
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
	if err := c.Evaluate(ctx, c.idx, c.bx, c.bu, nil); err != nil {
		return err
	}
	for j, k := range c.idx {
		if c.bu[j] != c.bu[j] {
			return fmt.Errorf("%w: the target's energy of chain %d at %v is NaN; a target gives a number "+
				"or −∞ at every state of its domain", ErrState, k, c.X[k])
		}
		c.U[k] = c.bu[j]
	}
	return nil
}

// count enters the moves of a step.
func (c *Chains) count() {
	for k, m := range c.Last {
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
}

// NeedGradient makes room for gradients, which StartEnergies and Evaluate then fill. A kernel that
// uses them calls it in Attach. The error is an ErrUnsupported.
func (c *Chains) NeedGradient() error {
	if _, ok := c.Target.(Gradienter); !ok {
		return c.noGradients()
	}
	c.gradients, c.rows = true, nil
	c.Grad = matrix[float64](len(c.X), c.Domain.GradLen())
	return nil
}

// StartEnergies evaluates all states, with what NeedGradient or NeedRows asked for. A state of
// probability zero, or whose energy is not a number, is an ErrState.
func (c *Chains) StartEnergies(ctx context.Context) error {
	var grad [][]float64
	if c.gradients || c.rows != nil {
		grad = c.Grad
	}
	if err := c.Evaluate(ctx, c.all, c.X, c.U, grad); err != nil {
		return err
	}
	for k, u := range c.U {
		if !finite(u) {
			return fmt.Errorf("%w: chain %d starts at energy %v; start it at a state of positive "+
				"probability", ErrState, k, u)
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

// origins returns the origins of x, the states that some chains ask for, given by number in
// ascending order. They hold until chain or the present states change, or until the next call.
func (c *Chains) origins(chain []int, x [][]int32) Origins {
	o := Origins{Chain: chain, Memory: c.memory}
	if _, ok := c.Target.(ChainEnergizer); !ok || &x[0][0] == &c.X[chain[0]][0] {
		return o // nobody reads the rest, or these are the present states
	}
	f := &c.from
	f.X, f.U, f.Grad = f.X[:0], f.U[:0], f.Grad[:0]
	for _, k := range chain {
		f.X, f.U = append(f.X, c.X[k]), append(f.U, c.U[k])
		if c.gradients {
			f.Grad = append(f.Grad, c.Grad[k])
		}
	}
	o.X, o.U = f.X, f.U
	if c.gradients {
		o.Grad = f.Grad
	}
	return o
}

// Evaluate asks the target for the energies of x, one or more states, and sets u[j] = U(x[j]).
// Where grad is not nil, it fills grad[j] with ∇U at x[j] or, after NeedRows, with its rows.
// chain[j] is the number of the chain that asks for x[j], in ascending order. Either all of x are
// slices of Chains.X or none is. All energies that a Kernel asks for are asked for by it, so that
// they are counted. The error is an ErrUnsupported where the target has no gradients, or the
// target's own.
func (c *Chains) Evaluate(ctx context.Context, chain []int, x [][]int32, u []float64,
	grad [][]float64) error {
	if err := c.evaluate(ctx, chain, x, u, grad); err != nil {
		return err
	}
	for j, k := range chain {
		c.Stats[k].Evals++
		if c.seen != nil {
			c.seen(k, x[j], u[j])
		}
	}
	return nil
}

// evaluate is Evaluate without the counts.
func (c *Chains) evaluate(ctx context.Context, chain []int, x [][]int32, u []float64,
	grad [][]float64) error {
	if grad != nil && c.rows != nil {
		return c.rows.fill(ctx, chain, x, u, grad)
	}
	g, ok := c.Target.(Gradienter)
	if grad != nil && !ok {
		return c.noGradients()
	}
	if t, ok := c.Target.(ChainEnergizer); ok {
		return t.ChainEnergy(ctx, c.origins(chain, x), x, u, grad)
	}
	if grad == nil {
		return c.Target.Energy(ctx, x, u)
	}
	return g.EnergyGrad(ctx, x, u, grad)
}

func (c *Chains) noGradients() error {
	return &abilityError{c.name, "gradients (EnergyGrad)",
		"rows and gibbs-mh need conditionals in their place"}
}

// everyChain are the numbers of n chains.
func everyChain(n int) []int {
	all := make([]int, n)
	for k := range all {
		all[k] = k
	}
	return all
}
