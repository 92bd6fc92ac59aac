package deepebm

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/lab/internal/domain"
	"infill/samplers"
)

// net is an energy model of two hidden layers,
//
//	U(x) = base·x + w₃·φ(W₂ φ(W₁x + b₁) + b₂),  φ(t) = t σ(t) (Swish),  x ∈ {0,1}^n
//
// with all parameters in one vector.
type net struct {
	n, h1, h2 int
	base      []float64 // of the law without hidden layers; it is not learned
	theta     []float64 // W1, b1, W2, b2, w3: rows of W by unit of the layer above
	dom       *samplers.Domain
}

func newNet(n, h1, h2 int, base []float64, rng *rand.Rand) *net {
	m := &net{n: n, h1: h1, h2: h2, base: base, dom: domain.Bits(n),
		theta: make([]float64, h1*n+h1+h2*h1+h2+h2)}
	w1, _, w2, _, w3 := m.parts(m.theta)
	for _, w := range []struct {
		w []float64
		n int
	}{{w1, n}, {w2, h1}, {w3, h2}} {
		for i := range w.w {
			w.w[i] = rng.NormFloat64() / math.Sqrt(float64(w.n))
		}
	}
	return m
}

// parts are the matrices and biases of a vector of parameters, or of a gradient in them.
func (m *net) parts(v []float64) (w1, b1, w2, b2, w3 []float64) {
	cut := func(n int) []float64 {
		part := v[:n]
		v = v[n:]
		return part
	}
	return cut(m.h1 * m.n), cut(m.h1), cut(m.h2 * m.h1), cut(m.h2), cut(m.h2)
}

// Domain implements samplers.Target.
func (m *net) Domain() *samplers.Domain { return m.dom }

// Energy implements samplers.Target.
func (m *net) Energy(_ context.Context, x [][]int32, u []float64) error {
	p := m.newPass()
	for k, v := range x {
		u[k] = p.forward(v)
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (m *net) EnergyGrad(_ context.Context, x [][]int32, u []float64, grad [][]float64) error {
	p := m.newPass()
	for k, v := range x {
		u[k] = p.forward(v)
		p.backward(nil, 0)
		w1, _, _, _, _ := m.parts(m.theta)
		copy(grad[k], m.base)
		for j, d := range p.d1 {
			for i, w := range w1[j*m.n : (j+1)*m.n] {
				grad[k][i] += d * w
			}
		}
	}
	return nil
}

// addGradient adds sign times the mean over states of ∇U in the parameters.
func (m *net) addGradient(x [][]int32, sign float64, grad []float64) {
	p := m.newPass()
	for _, v := range x {
		p.forward(v)
		p.backward(grad, sign/float64(len(x)))
	}
}

// pass holds what one state has in the layers.
type pass struct {
	m              *net
	on             []int     // pixels that are set
	a1, z1, a2, z2 []float64 // sums and outputs of the layers
	d1, d2         []float64 // dU by the sums
}

func (m *net) newPass() *pass {
	return &pass{m: m, a1: make([]float64, m.h1), z1: make([]float64, m.h1), d1: make([]float64, m.h1),
		a2: make([]float64, m.h2), z2: make([]float64, m.h2), d2: make([]float64, m.h2)}
}

// forward is U(x).
func (p *pass) forward(x []int32) float64 {
	m := p.m
	w1, b1, w2, b2, w3 := m.parts(m.theta)
	u := 0.0
	p.on = p.on[:0]
	for i, v := range x {
		if v == 1 {
			p.on = append(p.on, i)
			u += m.base[i]
		}
	}
	for j := range p.a1 {
		row, sum := w1[j*m.n:(j+1)*m.n], b1[j]
		for _, i := range p.on {
			sum += row[i]
		}
		p.a1[j], p.z1[j] = sum, sum*sigmoid(sum)
	}
	for j := range p.a2 {
		row, sum := w2[j*m.h1:(j+1)*m.h1], b2[j]
		for i, z := range p.z1 {
			sum += row[i] * z
		}
		p.a2[j], p.z2[j] = sum, sum*sigmoid(sum)
		u += w3[j] * p.z2[j]
	}
	return u
}

// backward computes dU by the layers' sums, after forward, and adds scale times dU by the
// parameters to grad unless it is nil.
func (p *pass) backward(grad []float64, scale float64) {
	m := p.m
	_, _, w2, _, w3 := m.parts(m.theta)
	clear(p.d1)
	for j, a := range p.a2 {
		p.d2[j] = w3[j] * slope(a)
		for i, w := range w2[j*m.h1 : (j+1)*m.h1] {
			p.d1[i] += p.d2[j] * w
		}
	}
	for j, a := range p.a1 {
		p.d1[j] *= slope(a)
	}
	if grad == nil {
		return
	}
	g1, c1, g2, c2, g3 := m.parts(grad)
	for j, d := range p.d2 {
		g3[j] += scale * p.z2[j]
		c2[j] += scale * d
		row := g2[j*m.h1 : (j+1)*m.h1]
		for i, z := range p.z1 {
			row[i] += scale * d * z
		}
	}
	for j, d := range p.d1 {
		c1[j] += scale * d
		row := g1[j*m.n : (j+1)*m.n]
		for _, i := range p.on {
			row[i] += scale * d
		}
	}
}

func sigmoid(t float64) float64 { return 1 / (1 + math.Exp(-t)) }

// slope is φ'(t).
func slope(t float64) float64 {
	s := sigmoid(t)
	return s + t*s*(1-s)
}
