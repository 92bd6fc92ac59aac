package samplers

import "context"

// NeedRows makes room for the rows of all states, in Chains.Grad, and returns what
// evaluates them: EnergyGrad fills rows in the place of gradients, with −∞ outside
// the support. A target that gives conditionals one by one will do. A kernel that
// uses rows calls it in Attach: Start then evaluates them with the energies of the
// starts. The error is an *AbilityError.
func (c *Chains) NeedRows() (Gradienter, error) {
	s := &rowSource{Target: c.Target}
	switch t := c.Target.(type) {
	case RowConditioner:
		s.rows = t.EnergyRows
	case MaskedConditioner:
		s.cond = t.MaskedConditional
	case Conditioner:
		s.cond = t.Conditional
	default:
		return nil, &AbilityError{c.name, "conditionals (EnergyRows, MaskedConditional or Conditional)",
			"exact-gibbs works them out from energies"}
	}
	if c.Domain.RowLen() > maxCategories {
		return nil, &AbilityError{c.name, "fewer categories",
			"gibbs-mh asks for one conditional at a time"}
	}
	s.at, s.row = make([]int, c.Len()), make([][]float64, c.Len())
	c.grad = s
	c.Grad = matrix[float64](len(c.X), c.Domain.RowLen())
	return s, nil
}

// rowSource gives the rows of states to code that asks for gradients: both are what
// a proposal knows of a state besides its energy.
type rowSource struct {
	Target
	rows func(ctx context.Context, x [][]int32, u []float64, rows [][]float64) error
	cond condFunc // used where rows is nil
	at   []int
	row  [][]float64
}

// EnergyGrad implements Gradienter with rows.
func (s *rowSource) EnergyGrad(ctx context.Context, x [][]int32, u []float64,
	rows [][]float64) error {
	var err error
	if s.rows != nil {
		err = s.rows(ctx, x, u, rows)
	} else {
		err = s.each(ctx, x, u, rows)
	}
	if err != nil {
		return err
	}
	d := s.Domain()
	for k := range x {
		for i := range d.coords {
			maskOut(d, i, d.row(rows[k], i))
		}
	}
	return nil
}

// each asks for the conditionals of one coordinate after the other.
func (s *rowSource) each(ctx context.Context, x [][]int32, u []float64, rows [][]float64) error {
	if err := s.Energy(ctx, x, u); err != nil {
		return err
	}
	d, n := s.Domain(), len(x)
	for i := range d.coords {
		for k := range x {
			s.at[k], s.row[k] = i, d.row(rows[k], i)
		}
		if err := s.cond(ctx, x, s.at[:n], s.row[:n]); err != nil {
			return err
		}
	}
	return nil
}
