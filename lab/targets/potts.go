package targets

import (
	"context"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/samplers"
)

// Potts is the Potts model on a rectangular grid,
//
//	U = Σ_{edges (i,j)} a·1[x_i = x_j] + Σ_i b_i[x_i]
//
// on nominal coordinates of K categories, every edge counted once.
type Potts struct {
	Rows, Cols, K int
	Coupling      float64   // a
	Field         []float64 // b_i[v] at i·K + v

	dom   *samplers.Domain
	adj   []int32
	start []int32
}

// NewPotts makes a Potts model; field has K entries for all sites or n·K.
func NewPotts(rows, cols, k int, periodic bool, a float64, field []float64) (*Potts, error) {
	const what = "Potts model"
	err := check.Shape(what, check.Whole("rows", rows, 1, check.MaxSites),
		check.Whole("columns", cols, 1, check.MaxSites),
		check.Whole("categories", k, 2, check.MaxSites),
		check.Product("rows × columns × categories", rows, cols, k),
		check.Number("coupling", a))
	if err != nil {
		return nil, err
	}
	n := rows * cols
	if err := check.Shape(what, check.Length("field values", len(field), k, n*k)); err != nil {
		return nil, err
	}
	b := make([]float64, 0, n*k)
	for len(b) < n*k { // once, or for every site
		b = append(b, field...)
	}
	t := &Potts{Rows: rows, Cols: cols, K: k, Coupling: a, Field: b, dom: domain.Categories(n, k)}
	t.adj, t.start = gridAdjacency(rows, cols, periodic)
	return t, nil
}

// Domain implements samplers.Target.
func (t *Potts) Domain() *samplers.Domain { return t.dom }

// Energy implements samplers.Target.
func (t *Potts) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		sum := 0.0
		for i, v := range s {
			sum += t.Field[i*t.K+int(v)]
			for _, j := range t.adj[t.start[i]:t.start[i+1]] {
				if s[j] == v {
					sum += t.Coupling / 2 // each edge is met from both ends
				}
			}
		}
		u[k] = sum
	}
	return nil
}

// fill writes a·#(neighbours in v) + b_i[v] for all v.
func (t *Potts) fill(s []int32, i int, out []float64) {
	copy(out, t.Field[i*t.K:(i+1)*t.K])
	for _, j := range t.adj[t.start[i]:t.start[i+1]] {
		out[s[j]] += t.Coupling
	}
}

// EnergyGrad implements samplers.Gradienter.
func (t *Potts) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k, s := range x {
		for i := range s {
			t.fill(s, i, g[k][i*t.K:(i+1)*t.K])
		}
	}
	return t.Energy(ctx, x, u)
}

// Conditional implements samplers.Conditioner.
func (t *Potts) Conditional(_ context.Context, x [][]int32, i []int, lp [][]float64) error {
	for k, s := range x {
		t.fill(s, i[k], lp[k])
	}
	return nil
}

// ExactConditionals implements samplers.Conditioner.
func (t *Potts) ExactConditionals() bool { return true }
