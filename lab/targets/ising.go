package targets

import (
	"context"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/samplers"
)

// Ising is the Ising model on a rectangular grid,
//
//	U = a sᵀJs + Σ_i b_i s_i,   s ∈ {−1,+1}^n
//
// with J the symmetric 0/1 adjacency, so that every edge counts twice: U has
// 2a·s_i·s_j for each edge. Coordinates are numbered row by row. On the domain
// {0,1} (the default) s = 2x − 1.
type Ising struct {
	Rows, Cols int
	Periodic   bool
	Coupling   float64   // a
	Field      []float64 // b_i, one per site

	dom   *samplers.Domain
	scale float64 // ds/dvalue: 2 on {0,1}, 1 on {−1,1}
	adj   []int32 // neighbours of site i: adj[start[i]:start[i+1]]
	start []int32
}

// NewIsing makes an Ising model; field has one entry for all sites, or one per
// site. spins chooses the domain {−1,1} instead of {0,1}.
func NewIsing(rows, cols int, periodic bool, a float64, field []float64, spins bool) (*Ising,
	error) {
	const what = "Ising model"
	if err := check.Shape(what, check.Whole("rows", rows, 1, check.MaxSites),
		check.Whole("columns", cols, 1, check.MaxSites),
		check.Product("rows × columns", rows, cols), check.Number("coupling", a)); err != nil {
		return nil, err
	}
	n := rows * cols
	b, err := spread(what, field, n)
	if err != nil {
		return nil, err
	}
	t := &Ising{Rows: rows, Cols: cols, Periodic: periodic, Coupling: a, Field: b, scale: 2}
	t.dom = domain.Bits(n)
	if spins {
		t.dom, t.scale = domain.Spins(n), 1
	}
	t.adj, t.start = gridAdjacency(rows, cols, periodic)
	return t, nil
}

// gridAdjacency lists each site's neighbours once, also where a periodic grid
// of two rows would name the same one twice.
func gridAdjacency(rows, cols int, periodic bool) (adj, start []int32) {
	start = append(start, 0)
	for r := range rows {
		for c := range cols {
			first := len(adj)
			add := func(r, c int) {
				if periodic {
					r, c = (r+rows)%rows, (c+cols)%cols
				}
				if r < 0 || c < 0 || r >= rows || c >= cols {
					return
				}
				s := int32(r*cols + c)
				for _, o := range adj[first:] {
					if o == s {
						return
					}
				}
				if int(s) != len(start)-1 {
					adj = append(adj, s)
				}
			}
			add(r-1, c)
			add(r, c-1)
			add(r, c+1)
			add(r+1, c)
			start = append(start, int32(len(adj)))
		}
	}
	return adj, start
}

// Domain implements samplers.Target.
func (t *Ising) Domain() *samplers.Domain { return t.dom }

// local is dU/ds_i = 2a Σ_j J_ij s_j + b_i without b_i.
func (t *Ising) local(x []int32, i int) float64 {
	ns := t.adj[t.start[i]:t.start[i+1]]
	sum := int32(0)
	for _, j := range ns {
		sum += x[j]
	}
	return 2 * t.Coupling * float64(2*sum-int32(len(ns)))
}

// Energy implements samplers.Target.
func (t *Ising) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		sum := 0.0
		for i, v := range s {
			e := t.local(s, i)/2 + t.Field[i]
			if v == 0 {
				e = -e
			}
			sum += e
		}
		u[k] = sum
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (t *Ising) EnergyGrad(_ context.Context, x [][]int32, u []float64, grad [][]float64) error {
	for k, s := range x {
		sum := 0.0
		g := grad[k]
		for i, v := range s {
			l, b := t.local(s, i), t.Field[i]
			g[i] = t.scale * (l + b)
			e := l/2 + b
			if v == 0 {
				e = -e
			}
			sum += e
		}
		u[k] = sum
	}
	return nil
}

// Conditional implements samplers.Conditioner.
func (t *Ising) Conditional(_ context.Context, x [][]int32, i []int, lp [][]float64) error {
	for k, s := range x {
		l := t.local(s, i[k]) + t.Field[i[k]]
		lp[k][0], lp[k][1] = -l, l
	}
	return nil
}

// ExactConditionals implements samplers.Conditioner.
func (t *Ising) ExactConditionals() bool { return true }

// spread repeats a single number n times.
func spread(what string, b []float64, n int) ([]float64, error) {
	if err := check.Shape(what, check.Length("field values", len(b), 1, n)); err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = b[min(i, len(b)-1)]
	}
	return out, nil
}
