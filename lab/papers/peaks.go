package papers

import (
	"context"
	"math"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/samplers"
)

// Peaks is the toy distribution of ACS (section 4.1) as its public code computes it, a
// grid of n×n pointed modes over a flat floor:
//
//	U(x) = log(Floor + Σ_m w_m exp(−‖x − μ_m‖/Width))
//
// with the distance itself in the exponent, not its square (for that see
// Modes), on two ordinal coordinates 0..(n+1)·Spacing−1 with the modes at the
// multiples of Spacing. The gradient has the length 1/Width nearly everywhere
// and is 0 at the mode itself.
type Peaks struct {
	N       int
	Spacing float64
	Width   float64
	Floor   float64
	W       []float64 // n² weights, row by row

	dom *samplers.Domain
}

// NewPeaks makes the grid. The paper's appendix D.1 has n = 5, spacing 75 and a
// variance of .15, which its code multiplies by the 25 modes: width 3.75. The floor is
// 1e-10 in the code. weight has n² positive
// numbers, or none for ones.
func NewPeaks(n, spacing int, width, floor float64, weight []float64) (*Peaks, error) {
	const what = "grid of peaks"
	if err := check.Shape(what, check.Whole("peaks a side", n, 1, 1<<10),
		check.Whole("spacing", spacing, 1, 1<<10),
		check.Positive("width", width), check.Positive("floor", floor)); err != nil {
		return nil, err
	}
	w, err := check.Weights(what, n, weight)
	if err != nil {
		return nil, err
	}
	return &Peaks{N: n, Spacing: float64(spacing), Width: width, Floor: floor, W: w,
		dom: domain.Integers(2, (n+1)*spacing, 0)}, nil
}

// Domain implements samplers.Target.
func (m *Peaks) Domain() *samplers.Domain { return m.dom }

func (m *Peaks) eval(x []int32, g []float64) float64 {
	sum, gx, gy := m.Floor, 0.0, 0.0
	for j := range m.W {
		dx := float64(j%m.N+1)*m.Spacing - float64(x[0])
		dy := float64(j/m.N+1)*m.Spacing - float64(x[1])
		r := math.Sqrt(dx*dx + dy*dy)
		e := m.W[j] * math.Exp(-r/m.Width)
		sum += e
		if r > 0 {
			gx += e * dx / r
			gy += e * dy / r
		}
	}
	if g != nil {
		g[0], g[1] = gx/(sum*m.Width), gy/(sum*m.Width)
	}
	return math.Log(sum)
}

// Energy implements samplers.Target.
func (m *Peaks) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = m.eval(x[k], nil)
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (m *Peaks) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		u[k] = m.eval(x[k], g[k])
	}
	return nil
}

// Mode is the mode that x is nearest to, 0..n²−1.
func (m *Peaks) Mode(x []int32) int {
	at := func(v int32) int { return min(max(int(math.Round(float64(v)/m.Spacing))-1, 0), m.N-1) }
	return at(x[1])*m.N + at(x[0])
}
