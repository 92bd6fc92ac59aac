package targets

import (
	"context"
	"math"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/lab/internal/stable"
	"infill/samplers"
)

// Modes is a multimodal grid like that of ACS (Pynadath et al. 2024, section
// 4.1), with round modes where its code has pointed ones (Peaks): a mixture of
// discretised Gaussians on a grid of n×n modes,
//
//	U(x) = log Σ_m w_m exp(−‖x − μ_m‖²/(2σ²))
//
// on two ordinal coordinates 0..n·Spacing−1, with the modes at the centres of
// the n² squares of side Spacing.
type Modes struct {
	N       int
	Spacing float64
	Sigma   float64
	LogW    []float64 // n² log-weights, row by row

	dom *samplers.Domain
}

// NewModes makes the grid; weight has n² positive numbers, or none for equal
// ones.
func NewModes(n, spacing int, sigma float64, weight []float64) (*Modes, error) {
	const what = "grid of modes"
	if err := check.Shape(what, check.Whole("modes a side", n, 1, 1<<10),
		check.Whole("spacing", spacing, 1, 1<<10),
		check.Positive("sigma", sigma)); err != nil {
		return nil, err
	}
	w, err := check.Weights(what, n, weight)
	if err != nil {
		return nil, err
	}
	m := &Modes{N: n, Spacing: float64(spacing), Sigma: sigma, LogW: make([]float64, n*n),
		dom: domain.Integers(2, n*spacing, 0)}
	for j, v := range w {
		m.LogW[j] = math.Log(v)
	}
	return m, nil
}

// Domain implements samplers.Target.
func (m *Modes) Domain() *samplers.Domain { return m.dom }

func (m *Modes) eval(x []int32, g []float64) float64 {
	// The density of a Gaussian mixture underflows between distant modes, but
	// not its logarithm: subtract the largest term.
	inv := 1 / (2 * m.Sigma * m.Sigma)
	term := func(j int) (l, dx, dy float64) {
		dx = (float64(j%m.N)+0.5)*m.Spacing - 0.5 - float64(x[0])
		dy = (float64(j/m.N)+0.5)*m.Spacing - 0.5 - float64(x[1])
		return m.LogW[j] - (dx*dx+dy*dy)*inv, dx, dy
	}
	most := math.Inf(-1)
	for j := range m.LogW {
		l, _, _ := term(j)
		most = math.Max(most, l)
	}
	sum, gx, gy := 0.0, 0.0, 0.0
	for j := range m.LogW {
		l, dx, dy := term(j)
		w := math.Exp(l - most)
		sum += w
		gx += w * dx
		gy += w * dy
	}
	if g != nil {
		g[0], g[1] = 2*inv*gx/sum, 2*inv*gy/sum
	}
	return most + math.Log(sum)
}

// Energy implements samplers.Target.
func (m *Modes) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = m.eval(x[k], nil)
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (m *Modes) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		u[k] = m.eval(x[k], g[k])
	}
	return nil
}

// Mode is the mode that x is nearest to, 0..n²−1.
func (m *Modes) Mode(x []int32) int {
	c := min(int(float64(x[0])/m.Spacing), m.N-1)
	r := min(int(float64(x[1])/m.Spacing), m.N-1)
	return r*m.N + c
}

// Weights is the probability of each mode when modes do not overlap.
func (m *Modes) Weights() []float64 {
	z := stable.LogSumExp(m.LogW)
	out := make([]float64, len(m.LogW))
	for j, l := range m.LogW {
		out[j] = math.Exp(l - z)
	}
	return out
}
