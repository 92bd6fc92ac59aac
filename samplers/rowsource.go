package samplers

import "context"

// NeedRows makes room for the rows of all states, in Chains.Grad: Evaluate then fills rows
// in the place of gradients, with −∞ outside the support. A target that gives
// conditionals one by one will do. A kernel that uses rows calls it in Attach: Start then
// evaluates them with the energies of the starts. Of a RowSummer the sums stand behind the
// rows. The error is an *AbilityError.
func (c *Chains) NeedRows() error {
	s := &rowSource{c: c}
	width := c.Domain.RowLen()
	switch t := c.Target.(type) {
	case RowSummer:
		s.rows, s.sums = t.EnergyRows, t.EnergyRowSums
		width += 2 * c.Domain.Len()
	case RowConditioner:
		s.rows = t.EnergyRows
	case MaskedConditioner:
		s.cond = t.MaskedConditional
	case Conditioner:
		s.cond = t.Conditional
	default:
		return &AbilityError{c.name, "conditionals (EnergyRows, MaskedConditional or Conditional)",
			"exact-gibbs works them out from energies"}
	}
	if c.Domain.RowLen() > maxCategories {
		return &AbilityError{c.name, "fewer categories",
			"gibbs-mh asks for one conditional at a time"}
	}
	s.at, s.row = make([]int, c.Len()), make([][]float64, c.Len())
	c.rows, c.gradients = s, false
	c.Grad = matrix[float64](len(c.X), width)
	return nil
}

// rowFunc is EnergyRows of a RowConditioner.
type rowFunc func(ctx context.Context, x [][]int32, u []float64, rows [][]float64) error

// rowSource gives the rows of states where Evaluate is asked for gradients: both are what
// a proposal knows of a state besides its energy.
type rowSource struct {
	c    *Chains
	rows rowFunc // nil: cond is used
	sums rowFunc // with the sums behind the rows, nil where they are not known
	cond condFunc
	at   []int
	row  [][]float64
}

// fill does what EnergyGrad does, with rows.
func (s *rowSource) fill(ctx context.Context, from Origins, x [][]int32, u []float64,
	rows [][]float64) error {
	d := s.c.Domain
	var err error
	switch {
	case s.sums != nil && len(x) > 0 && len(rows[0]) > d.RowLen(): // there is room for them
		err = s.sums(ctx, x, u, rows)
	case s.rows != nil:
		err = s.rows(ctx, x, u, rows)
	default:
		err = s.each(ctx, from, x, u, rows)
	}
	if err != nil {
		return err
	}
	for k := range x {
		for i := range d.coords {
			if d.coords[i].Allowed == nil {
				continue
			}
			maskOut(d, i, d.row(rows[k], i))
			if sums := d.sums(rows[k]); sums != nil {
				sums[2*i], sums[2*i+1] = SumRow(d.row(rows[k], i))
			}
		}
	}
	return nil
}

// each asks for the conditionals of one coordinate after the other.
func (s *rowSource) each(ctx context.Context, from Origins, x [][]int32, u []float64,
	rows [][]float64) error {
	if err := s.c.Evaluate(ctx, from, x, u, nil); err != nil {
		return err
	}
	d, n := s.c.Domain, len(x)
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
