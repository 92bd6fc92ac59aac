package targets

import (
	"context"
	"fmt"
	"math"

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
	if err := shape(what, whole("rows", rows, 1, maxSites), whole("columns", cols, 1, maxSites),
		product("rows × columns", rows, cols), number("coupling", a)); err != nil {
		return nil, err
	}
	n := rows * cols
	b, err := spread(what, field, n)
	if err != nil {
		return nil, err
	}
	t := &Ising{Rows: rows, Cols: cols, Periodic: periodic, Coupling: a, Field: b, scale: 2}
	t.dom = samplers.Bits(n)
	if spins {
		t.dom, t.scale = samplers.Spins(n), 1
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

// NeighbourEnergy implements samplers.NeighbourEnergizer.
func (t *Ising) NeighbourEnergy(_ context.Context, x [][]int32, i []int, u [][]float64) error {
	for k, s := range x {
		d := 2 * (t.local(s, i[k]) + t.Field[i[k]])
		if s[i[k]] == 0 {
			u[k][0], u[k][1] = 0, d
		} else {
			u[k][0], u[k][1] = -d, 0
		}
	}
	return nil
}

// Exact returns log Z and E[s_i] for every site by transfer matrices between
// rows, at a cost of rows²·8^cols (periodic) or rows·4^cols; cols is at most 7
// and 12.
func (t *Ising) Exact() (logZ float64, mean []float64, err error) {
	limit := 12
	if t.Periodic {
		limit = 7
	}
	if t.Cols > limit {
		return 0, nil, fmt.Errorf("%w: %d columns, at most %d", ErrTooLarge, t.Cols, limit)
	}
	m := 1 << t.Cols
	// row[r][p]: energy within row r in pattern p. link(p, q): between rows.
	row := make([][]float64, t.Rows)
	spin := func(p, c int) float64 { return float64(p>>c&1)*2 - 1 }
	for r := range row {
		row[r] = make([]float64, m)
		for p := range m {
			for c := range t.Cols {
				i := r*t.Cols + c
				row[r][p] += t.Field[i] * spin(p, c)
				for _, j := range t.adj[t.start[i]:t.start[i+1]] {
					if int(j)/t.Cols == r {
						row[r][p] += t.Coupling * spin(p, c) * spin(p, int(j)%t.Cols)
					}
				}
			}
		}
	}
	link := func(p, q int) float64 {
		return 2 * t.Coupling * float64(t.Cols-2*popcount(p^q))
	}
	mean = make([]float64, t.Rows*t.Cols)
	if !t.Periodic || t.Rows < 3 {
		// A chain of rows (two rows are linked once even when periodic):
		// forward and backward vectors.
		fwd := make([][]float64, t.Rows)
		bwd := make([][]float64, t.Rows)
		tmp := make([]float64, m)
		for r := range t.Rows {
			fwd[r] = append([]float64(nil), row[r]...)
			if r > 0 {
				for q := range m {
					for p := range m {
						tmp[p] = fwd[r-1][p] + link(p, q)
					}
					fwd[r][q] += logSumExp(tmp)
				}
			}
		}
		for r := t.Rows - 1; r >= 0; r-- {
			bwd[r] = make([]float64, m)
			if r < t.Rows-1 {
				for p := range m {
					for q := range m {
						tmp[q] = row[r+1][q] + bwd[r+1][q] + link(p, q)
					}
					bwd[r][p] = logSumExp(tmp)
				}
			}
		}
		logZ = logSumExp(fwd[t.Rows-1])
		for r := range t.Rows {
			for p := range m {
				w := math.Exp(fwd[r][p] + bwd[r][p] - logZ)
				for c := range t.Cols {
					mean[r*t.Cols+c] += w * spin(p, c)
				}
			}
		}
		return logZ, mean, nil
	}
	// A ring of rows: for each row, the trace of the product of all transfer
	// matrices beginning there, with its pattern fixed.
	for first := range t.Rows {
		w := make([]float64, m)
		tmp := make([]float64, m)
		for p0 := range m {
			v := make([]float64, m)
			for p := range v {
				v[p] = math.Inf(-1)
			}
			v[p0] = row[first][p0]
			for s := 1; s <= t.Rows; s++ {
				r := (first + s) % t.Rows
				next := make([]float64, m)
				for q := range m {
					if s == t.Rows && q != p0 {
						next[q] = math.Inf(-1)
						continue
					}
					for p := range m {
						tmp[p] = v[p] + link(p, q)
					}
					next[q] = logSumExp(tmp)
					if s < t.Rows {
						next[q] += row[r][q]
					}
				}
				v = next
			}
			w[p0] = v[p0]
		}
		logZ = logSumExp(w)
		for p := range m {
			for c := range t.Cols {
				mean[first*t.Cols+c] += math.Exp(w[p]-logZ) * spin(p, c)
			}
		}
	}
	return logZ, mean, nil
}

func popcount(x int) int {
	n := 0
	for ; x != 0; x &= x - 1 {
		n++
	}
	return n
}
