package isinglearn

import (
	"context"
	"math/bits"

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

	sums [][]float64 // see refresh
}

// quad is the number of spins whose 2^quad partial sums are tabled together.
const quad = 4

func newModel(n int) *model {
	m := &model{n: n, j: make([]float64, n*n), dom: samplers.Bits(n), sums: make([][]float64, n)}
	for i := range m.sums {
		m.sums[i] = make([]float64, (n+quad-1)/quad<<quad)
	}
	return m
}

// refresh is called after j has changed. For every spin i and every four spins it tables the 16
// sums of ±J_ij over them. A product Js then takes a quarter of the additions, and the tables
// serve all chains and steps until j changes.
func (m *model) refresh() {
	for i, t := range m.sums {
		row := m.j[i*m.n : (i+1)*m.n]
		for q := 0; q*quad < m.n; q++ {
			part := row[q*quad : min(m.n, (q+1)*quad)]
			t := t[q<<quad : (q+1)<<quad]
			t[0] = 0
			for _, v := range part {
				t[0] -= v
			}
			for p := 1; p < 1<<len(part); p++ {
				t[p] = t[p&(p-1)] + 2*part[bits.TrailingZeros(uint(p))]
			}
		}
	}
}

// patterns packs a state's spins by fours, as indices into the tables.
func (m *model) patterns(x []int32, p []int) []int {
	p = p[:0]
	for from := 0; from < m.n; from += quad {
		v := 0
		for b, s := range x[from:min(m.n, from+quad)] {
			v |= int(s) << b
		}
		p = append(p, v|len(p)<<quad)
	}
	return p
}

// local is (Js)_i of the state with the given patterns.
func (m *model) local(i int, patterns []int) float64 {
	t, sum := m.sums[i], 0.0
	for _, p := range patterns {
		sum += t[p]
	}
	return sum
}

// Domain implements samplers.Target.
func (m *model) Domain() *samplers.Domain { return m.dom }

// Energy implements samplers.Target.
func (m *model) Energy(_ context.Context, x [][]int32, u []float64) error {
	var pat []int
	for k, s := range x {
		pat, u[k] = m.patterns(s, pat), 0
		for i := range m.n {
			u[k] += spin(s[i]) * m.local(i, pat)
		}
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter: 4Js, for ds/dx = 2. States are taken in the inner
// loop, so that a spin's tables stay in the cache.
func (m *model) EnergyGrad(_ context.Context, x [][]int32, u []float64, grad [][]float64) error {
	pats := make([][]int, len(x))
	for k, s := range x {
		pats[k], u[k] = m.patterns(s, nil), 0
	}
	for i := range m.n {
		for k, s := range x {
			l := m.local(i, pats[k])
			grad[k][i] = 4 * l
			u[k] += spin(s[i]) * l
		}
	}
	return nil
}

// Conditional implements samplers.Conditioner.
func (m *model) Conditional(_ context.Context, x [][]int32, i []int, logp [][]float64) error {
	var pat []int
	for k, s := range x {
		pat = m.patterns(s, pat)
		l := 2 * m.local(i[k], pat)
		logp[k][0], logp[k][1] = -l, l
	}
	return nil
}

func spin(v int32) float64 { return float64(2*v - 1) }

// moments sets out[i·n+j], for i ≠ j, to the mean of s_i s_j over the states. The diagonal is 0.
func moments(x [][]int32, out []float64) {
	n, words := len(x[0]), (len(x)+63)/64
	column := make([]uint64, n*words)
	for k, s := range x {
		for i, v := range s {
			column[i*words+k/64] |= uint64(v) << (k % 64)
		}
	}
	scale := 2 / float64(len(x))
	for i := range n {
		out[i*n+i] = 0
		a := column[i*words : (i+1)*words]
		for j := range i {
			b := column[j*words : (j+1)*words]
			differ := 0
			for w, v := range a {
				differ += bits.OnesCount64(v ^ b[w])
			}
			m := 1 - scale*float64(differ)
			out[i*n+j], out[j*n+i] = m, m
		}
	}
}
