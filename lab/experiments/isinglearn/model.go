package isinglearn

import (
	"context"
	"math/bits"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// model is an Ising model whose couplings are learned,
//
//	U(x) = sᵀJs,  s = 2x − 1,  x ∈ {0,1}^n
//
// with J symmetric and of zero diagonal. All pairs are coupled, so that a change of one pair has
// 2J_ij in U.
type model struct {
	n   int
	j   []float64 // n rows of n
	dom *samplers.Domain
}

// quad is the number of spins whose 2^quad sums are tabled together, and quads the number of such
// tables at a time: they stay in the cache.
const quad, quads = 4, 4

func newModel(n int) *model {
	return &model{n: n, j: make([]float64, n*n), dom: domain.Bits(n)}
}

// product sets out[k] to Js of state k. For every four spins it tables the 16 sums of the rows of J
// with their signs, and a state takes one of these in place of four rows.
func (m *model) product(x [][]int32, out [][]float64) {
	for _, h := range out {
		clear(h)
	}
	table := make([][]float64, quads<<quad)
	for t := range table {
		table[t] = make([]float64, m.n)
	}
	for from := 0; from < m.n; from += quad * quads {
		var part [quads][][]float64
		for q := range part {
			part[q] = table[q<<quad : (q+1)<<quad]
			m.signed(min(m.n, from+q*quad), part[q])
		}
		for k, s := range x {
			a, b, c, d := part[0][pattern(s, from)], part[1][pattern(s, from+quad)],
				part[2][pattern(s, from+2*quad)], part[3][pattern(s, from+3*quad)]
			h := out[k]
			a, b, c, d = a[:len(h)], b[:len(h)], c[:len(h)], d[:len(h)]
			for i := range h {
				h[i] += (a[i] + b[i]) + (c[i] + d[i])
			}
		}
	}
}

// signed sets table[p] to the sum of the rows of J of at most four spins from a given one, each
// with the sign that the pattern p gives its spin.
func (m *model) signed(from int, table [][]float64) {
	to := min(m.n, from+quad)
	clear(table[0])
	for i := from; i < to; i++ {
		for k, v := range m.j[i*m.n : (i+1)*m.n] {
			table[0][k] -= v
		}
	}
	for p := 1; p < 1<<(to-from); p++ {
		i := from + bits.TrailingZeros(uint(p))
		row, rest, sum := m.j[i*m.n:(i+1)*m.n], table[p&(p-1)], table[p]
		rest, sum = rest[:len(row)], sum[:len(row)]
		for k, v := range row {
			sum[k] = rest[k] + 2*v
		}
	}
}

// pattern packs up to four spins of a state from a given one.
func pattern(x []int32, from int) int {
	v := 0
	if from < len(x) {
		for b, s := range x[from:min(len(x), from+quad)] {
			v |= int(s) << b
		}
	}
	return v
}

// local is (Js)_i.
func (m *model) local(i int, x []int32) float64 {
	row, sum := m.j[i*m.n:(i+1)*m.n], [4]float64{}
	for k, v := range x {
		sum[k%4] += spin(v) * row[k]
	}
	return sum[0] + sum[1] + sum[2] + sum[3]
}

// Domain implements samplers.Target.
func (m *model) Domain() *samplers.Domain { return m.dom }

// Energy implements samplers.Target.
func (m *model) Energy(ctx context.Context, x [][]int32, u []float64) error {
	grad := make([][]float64, len(x))
	for k := range grad {
		grad[k] = make([]float64, m.n)
	}
	return m.EnergyGrad(ctx, x, u, grad)
}

// EnergyGrad implements samplers.Gradienter: 4Js, for ds/dx = 2.
func (m *model) EnergyGrad(_ context.Context, x [][]int32, u []float64, grad [][]float64) error {
	m.product(x, grad)
	for k, s := range x {
		u[k] = 0
		for i, h := range grad[k] {
			u[k] += spin(s[i]) * h
			grad[k][i] = 4 * h
		}
	}
	return nil
}

// ChainEnergy implements samplers.ChainEnergizer. A flip of spin i changes U by −4 s_i (Js)_i
// and 4Js by −8 s_i J_i.
func (m *model) ChainEnergy(ctx context.Context, from samplers.Origins, y [][]int32, u []float64,
	grad [][]float64) error {
	switch {
	case grad == nil:
		return m.Energy(ctx, y, u)
	case from.Grad == nil:
		return m.EnergyGrad(ctx, y, u, grad)
	}
	for k, s := range y {
		g := grad[k]
		copy(g, from.Grad[k])
		u[k] = from.U[k]
		for i, v := range from.X[k] {
			if s[i] == v {
				continue
			}
			u[k] -= spin(v) * g[i]
			step := 8 * spin(s[i])
			row := m.j[i*m.n:][:len(g)]
			for o := range g {
				g[o] += step * row[o]
			}
		}
	}
	return nil
}

// ExactConditionals implements samplers.Conditioner.
func (m *model) ExactConditionals() bool { return true }

// Conditional implements samplers.Conditioner.
func (m *model) Conditional(_ context.Context, x [][]int32, i []int, logp [][]float64) error {
	for k, s := range x {
		l := 2 * m.local(i[k], s)
		logp[k][0], logp[k][1] = -l, l
	}
	return nil
}

func spin(v int32) float64 { return float64(2*v - 1) }

// moments sets out to the mean of s_i s_j over the states, for the pairs i > j in the order of
// pairs: j = 0 to i − 1 for i = 1, 2, and so on.
func moments(x [][]int32, out []float64) {
	n, words := len(x[0]), (len(x)+63)/64
	column := make([]uint64, n*words)
	for k, s := range x {
		for i, v := range s {
			column[i*words+k/64] |= uint64(v) << (k % 64)
		}
	}
	scale, at := 2/float64(len(x)), 0
	for i := range n {
		a := column[i*words : (i+1)*words]
		for j := range i {
			b := column[j*words : (j+1)*words]
			differ := 0
			for w, v := range a {
				differ += bits.OnesCount64(v ^ b[w])
			}
			out[at] = 1 - scale*float64(differ)
			at++
		}
	}
}

// pairs is the number of pairs of n spins.
func pairs(n int) int { return n * (n - 1) / 2 }

// set makes J of its entries below the diagonal.
func (m *model) set(below []float64) {
	at := 0
	for i := range m.n {
		for j := range i {
			m.j[i*m.n+j], m.j[j*m.n+i] = below[at], below[at]
			at++
		}
	}
}

// below are the entries of the matrix J of n spins below its diagonal.
func below(j []float64, n int) []float64 {
	out := make([]float64, 0, pairs(n))
	for i := range n {
		out = append(out, j[i*n:i*n+i]...)
	}
	return out
}
