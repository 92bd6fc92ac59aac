package samplers

import "context"

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
