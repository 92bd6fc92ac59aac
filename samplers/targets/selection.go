package targets

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// Selection is the logistic regression of SGDLD's paper (its sections 6.2 and C.2), after Zhou
// (2020) and Titsias and Yau (2017): which of 2d columns a label depends on, column d+j being a
// copy of column j, so that the data cannot tell the two apart. For β ∈ {0,1}^2d
//
//	U(β) = Σ_n y_n a_n − log(1 + exp(a_n)),   a_n = Σ_{j<d} x_nj (β_j + β_{d+j}),   y_n ∈ {0,1}
//
// without a prior. The paper writes − log σ(a_n) for the last term, which is − log(1 + exp(a_n))
// with the sign of a_n lost. The gradient is the derivative of U as it is written.
type Selection struct {
	N, D int       // observations, and columns without their copies
	X    []float64 // N rows of D
	Y    []float64 // 0 or 1

	dom *samplers.Domain
}

// NewSelection draws data of the paper's law: rows x_n ~ N(0, (I + 11ᵀ)/d), and labels
// y_n ~ Bernoulli(σ(Σ x_nj over the columns j = 0, 1, … below √d)).
func NewSelection(rng *rand.Rand, n, d int) (*Selection, error) {
	err := shape("variable selection", whole("observations", n, 1, maxSites),
		whole("columns", d, 1, maxSites/2), product("observations × columns", n, d))
	if err != nil {
		return nil, err
	}
	t := &Selection{N: n, D: d, X: make([]float64, n*d), Y: make([]float64, n),
		dom: samplers.Bits(2 * d)}
	scale := 1 / math.Sqrt(float64(d))
	for r := range t.Y {
		row, shared, a := t.row(r), rng.NormFloat64(), 0.0
		for j := range row {
			row[j] = scale * (rng.NormFloat64() + shared)
			if j*j < d {
				a += row[j]
			}
		}
		if rng.Float64() < sigmoid(a) {
			t.Y[r] = 1
		}
	}
	return t, nil
}

// Domain implements samplers.Target.
func (t *Selection) Domain() *samplers.Domain { return t.dom }

func (t *Selection) row(r int) []float64 { return t.X[r*t.D : (r+1)*t.D] }

// at is a_n.
func (t *Selection) at(row []float64, x []int32) float64 {
	a := 0.0
	for j, f := range row {
		a += f * float64(x[j]+x[t.D+j])
	}
	return a
}

// Energy implements samplers.Target.
func (t *Selection) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k, s := range x {
		u[k] = 0
		for r, y := range t.Y {
			a := t.at(t.row(r), s)
			u[k] += y*a - softplus(a)
		}
	}
	return nil
}

// EnergyGrad implements samplers.Gradienter.
func (t *Selection) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k, s := range x {
		u[k] = 0
		clear(g[k])
		for r := range t.Y {
			u[k] += t.add(r, s, g[k], 1)
		}
		copy(g[k][t.D:], g[k][:t.D])
	}
	return nil
}

// StochasticGrad implements samplers.StochasticGradienter with batch observations drawn with
// replacement.
func (t *Selection) StochasticGrad(_ context.Context, x [][]int32, batch int, rng []*rand.Rand,
	u []float64, g [][]float64) error {
	batch = min(batch, t.N)
	scale := float64(t.N) / float64(batch)
	for k, s := range x {
		u[k] = 0
		clear(g[k])
		for range batch {
			u[k] += scale * t.add(rng[k].IntN(t.N), s, g[k], scale)
		}
		copy(g[k][t.D:], g[k][:t.D])
	}
	return nil
}

// add adds observation r, scaled, to the gradient of the first D columns and returns its term.
func (t *Selection) add(r int, x []int32, g []float64, scale float64) float64 {
	row, y := t.row(r), t.Y[r]
	a := t.at(row, x)
	w := scale * (y - sigmoid(a))
	for j, f := range row {
		g[j] += w * f
	}
	return y*a - softplus(a)
}

// EstimateNeighbours implements samplers.NeighbourEstimator with batch observations drawn with
// replacement. A column and its copy are worked out together. A switched column changes an
// observation's log(1 + exp(a)) by the logarithm of (1 + exp(a ± x))/(1 + exp(a)), and
// logarithms are taken of products over many observations.
func (t *Selection) EstimateNeighbours(_ context.Context, x [][]int32, batch int,
	rng []*rand.Rand, logRatio [][]float64) error {
	batch = min(batch, t.N)
	scale := float64(t.N) / float64(batch)
	kept := takeFloats(3 * t.D)
	defer listsOfFloats.Put(kept)
	work := (*kept)[:3*t.D]
	slope, on, off := work[:t.D], work[t.D:2*t.D], work[2*t.D:] // Σ y x, and products for β = 0 and 1
	for k, s := range x {
		out := logRatio[k]
		clear(out)
		clear(slope)
		here, size := 1.0, math.Inf(1) // the product of 1 + exp(a), and a bound of all logarithms
		flush := func() {
			if !math.IsInf(size, 1) {
				for j := range slope {
					out[j] -= math.Log(pick(s[j], on[j], off[j]) / here)
					out[t.D+j] -= math.Log(pick(s[t.D+j], on[j], off[j]) / here)
				}
			}
			here, size = 1, 0
			for j := range on {
				on[j], off[j] = 1, 1
			}
		}
		for range batch {
			r := rng[k].IntN(t.N)
			row, y := t.row(r), t.Y[r]
			a := t.at(row, s)
			largest := 0.0
			for j, f := range row {
				slope[j] += y * f
				largest = math.Max(largest, math.Abs(f))
			}
			most := math.Ln2 + math.Abs(a) + largest
			if !(most < maxLog/2) {
				base := softplus(a)
				for j, f := range row {
					out[j] -= softplus(a+sign(s[j])*f) - base
					out[t.D+j] -= softplus(a+sign(s[t.D+j])*f) - base
				}
				continue
			}
			if !(size+most < maxLog/2) { // a quotient of two products is below exp(maxLog)
				flush()
			}
			size += most
			e := math.Exp(a)
			here *= 1 + e
			for j, f := range row {
				up := math.Exp(f)
				if s[j] != 1 || s[t.D+j] != 1 {
					on[j] *= 1 + e*up
				}
				if s[j] != 0 || s[t.D+j] != 0 {
					off[j] *= 1 + e/up
				}
			}
		}
		flush()
		for j, f := range slope {
			out[j] = scale * (out[j] + sign(s[j])*f)
			out[t.D+j] = scale * (out[t.D+j] + sign(s[t.D+j])*f)
		}
	}
	return nil
}

// sign is +1 where a switch turns a column on and −1 where it turns it off.
func sign(v int32) float64 { return float64(1 - 2*v) }

// pick is the product for a switch of a column that has the value v.
func pick(v int32, on, off float64) float64 {
	if v == 0 {
		return on
	}
	return off
}

// AffordsNeighbours implements samplers.NeighbourEstimator.
func (t *Selection) AffordsNeighbours() bool { return true }
