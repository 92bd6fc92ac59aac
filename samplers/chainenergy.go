package samplers

import "context"

// ChainEnergizer is the ability to evaluate states for chains that the target knows by number. A
// target that keeps for each chain what it computed last, for instance, computes again only what a
// proposal changes. And a gradient that is linear in the state changes by a few rows of its matrix.
//
// A run asks such a target by ChainEnergy in place of Energy and EnergyGrad, and so do the chains
// of AIS. Code that is not a chain asks by Energy and EnergyGrad. Conditionals, rows,
// NeighbourEnergy and estimates from mini-batches are asked for as of any other target.
//
// A type that embeds a ChainEnergizer and has an Energy of its own needs a ChainEnergy of its own
// too: the embedded one would answer in its place.
type ChainEnergizer interface {
	Target
	// ChainEnergy does what Energy does where grad is nil, and otherwise what EnergyGrad does, which
	// is asked of a Gradienter only. from belongs to the caller and holds until ChainEnergy returns,
	// apart from the entries of from.Memory. The results may differ from those of Energy and
	// EnergyGrad by rounding.
	ChainEnergy(ctx context.Context, from Origins, x [][]int32, u []float64, grad [][]float64) error
}

// Origins say which chains ask for the states x of a call, and where these states come from.
type Origins struct {
	// Chain[k] is the number in the run, from 0 to the number of its chains less 1, of the chain that
	// asks for x[k]. It is that of Chains.X, whatever Options.First is. Numbers ascend. A chain may
	// ask for several states in a call, or for none.
	Chain []int
	// Memory has an entry for every chain of the run, in the order of their numbers. They are nil when
	// the run begins and after Run.Retarget, and otherwise as the target left them. It may keep there
	// what it wants. Runs have memories of their own, so that a target serves any number of runs.
	Memory []any
	// X[k] is the present state of chain Chain[k], from which the chain came to x[k] as a proposal, a
	// neighbour, or a neighbour of a proposal. U[k] is its energy, NaN where it is not known, and
	// Grad[k] its gradient. All three are nil where the states x are the present ones themselves: at
	// the start, after Run.Retarget, in Chains.Refresh. Grad is nil too for samplers that use none.
	X    [][]int32
	U    []float64
	Grad [][]float64
}

// Present are the origins of the present states of some chains, given by number. They hold until
// chain changes.
func (c *Chains) Present(chain []int) Origins { return Origins{Chain: chain, Memory: c.memory} }

// Proposed are the origins of states that some chains, given by number in ascending order, may go
// to from their present ones. They hold until chain or the present states change, or until the
// next call.
func (c *Chains) Proposed(chain []int) Origins {
	o := c.Present(chain)
	if _, ok := c.Target.(ChainEnergizer); !ok {
		return o // nobody reads the rest
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
// Where grad is not nil, it fills grad[j] with ∇U at x[j] or, after NeedRows, with its rows. from
// are Present or Proposed, of one chain for each state. A Kernel asks by it in place of
// Target.Energy, so that a ChainEnergizer hears who asks, and then calls Evaluated for each state.
// The error is an *AbilityError where the target has no gradients, or the target's own.
func (c *Chains) Evaluate(ctx context.Context, from Origins, x [][]int32, u []float64,
	grad [][]float64) error {
	if grad != nil && c.rows != nil {
		return c.rows.fill(ctx, from, x, u, grad)
	}
	g, ok := c.Target.(Gradienter)
	if grad != nil && !ok {
		return c.noGradients()
	}
	if t, ok := c.Target.(ChainEnergizer); ok {
		return t.ChainEnergy(ctx, from, x, u, grad)
	}
	if grad == nil {
		return c.Target.Energy(ctx, x, u)
	}
	return g.EnergyGrad(ctx, x, u, grad)
}

func (c *Chains) noGradients() error {
	return &AbilityError{c.name, "gradients (EnergyGrad)",
		"rwm, exact-gibbs, block-gibbs, hb and lb1 need none"}
}

// everyChain are the numbers of n chains.
func everyChain(n int) []int {
	all := make([]int, n)
	for k := range all {
		all[k] = k
	}
	return all
}
