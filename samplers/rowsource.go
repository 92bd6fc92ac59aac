package samplers

import (
	"context"
	"math"
)

// NeedRows is NeedGradient for the rows of all states (RowConditioner), in the place of gradients,
// with −∞ outside the support, and behind them what SumRow says of each. A Conditioner that gives
// them one by one will do.
func (c *Chains) NeedRows() error {
	t, ok := c.Target.(Conditioner)
	if !ok {
		return &abilityError{c.name, "conditionals (EnergyRows or Conditional)",
			"dmala needs gradients in their place"}
	}
	if c.Domain.RowLen() > maxCategories {
		return &abilityError{c.name, "fewer categories",
			"gibbs-mh asks for one conditional at a time"}
	}
	s := &rowSource{c: c, cond: t, at: make([]int, c.Len()), row: make([][]float64, c.Len())}
	s.rows, _ = t.(RowConditioner)
	c.rows, c.gradients = s, false
	c.Grad = matrix[float64](len(c.X), c.Domain.RowLen()+2*c.Domain.Len())
	return nil
}

// rowSource gives the rows of states where Evaluate is asked for gradients: both are what
// a proposal knows of a state besides its energy.
type rowSource struct {
	c    *Chains
	rows RowConditioner // nil: cond is asked for one coordinate after the other
	cond Conditioner
	at   []int
	row  [][]float64
	only [][]float64 // scratch: rows and sums apart
	sums [][]float64
}

// fill does what EnergyGrad does, with rows and their sums.
func (s *rowSource) fill(ctx context.Context, chain []int, x [][]int32, u []float64,
	rows [][]float64) error {
	d := s.c.Domain
	if s.rows == nil {
		if err := s.each(ctx, chain, x, u, rows); err != nil {
			return err
		}
	}
	s.only, s.sums = s.only[:0], s.sums[:0]
	for k := range x {
		sums := d.sums(rows[k])
		clear(sums)
		s.only, s.sums = append(s.only, rows[k][:d.RowLen()]), append(s.sums, sums)
	}
	if s.rows != nil {
		if err := s.rows.EnergyRows(ctx, x, u, s.only, s.sums); err != nil {
			return err
		}
	}
	for k := range x {
		if math.IsInf(u[k], -1) {
			continue // nobody reads them
		}
		for i, sums := range s.sums[k] {
			if i%2 == 0 || sums != 0 && d.coords[i/2].Allowed == nil {
				continue
			}
			row := d.row(rows[k], i/2)
			maskOut(d, i/2, row)
			s.sums[k][i-1], s.sums[k][i] = SumRow(row)
		}
	}
	return nil
}

// each asks for the conditionals of one coordinate after the other.
func (s *rowSource) each(ctx context.Context, chain []int, x [][]int32, u []float64,
	rows [][]float64) error {
	if err := s.c.evaluate(ctx, chain, x, u, nil); err != nil {
		return err
	}
	d, n := s.c.Domain, len(x)
	for i := range d.coords {
		for k := range x {
			s.at[k], s.row[k] = i, d.row(rows[k], i)
		}
		if err := s.cond.Conditional(ctx, x, s.at[:n], s.row[:n]); err != nil {
			return err
		}
	}
	return nil
}
