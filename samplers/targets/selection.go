package targets

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

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
// replacement. A column and its copy are worked out together.
func (t *Selection) EstimateNeighbours(_ context.Context, x [][]int32, batch int,
	rng []*rand.Rand, logRatio [][]float64) error {
	batch = min(batch, t.N)
	scale := float64(t.N) / float64(batch)
	for k, s := range x {
		out := logRatio[k]
		clear(out)
		for range batch {
			r := rng[k].IntN(t.N)
			row, y := t.row(r), t.Y[r]
			a := t.at(row, s)
			here := softplus(a)
			for j, f := range row {
				one, two := s[j], s[t.D+j]
				out[j] += scale * t.change(a, here, f, y, one)
				if two == one {
					out[t.D+j] = out[j]
				} else {
					out[t.D+j] += scale * t.change(a, here, f, y, two)
				}
			}
		}
	}
	return nil
}

// change is what an observation's term gains when a column of value f is switched.
func (t *Selection) change(a, here, f, y float64, v int32) float64 {
	if v == 1 {
		f = -f
	}
	return y*f - softplus(a+f) + here
}

// AffordsNeighbours implements samplers.NeighbourEstimator.
func (t *Selection) AffordsNeighbours() bool { return true }

// maxSums bounds the sums of Marginals: 3^9 and some room.
const maxSums = 60_000

// Sums computes U for every value of the sums s_j = β_j + β_{d+j}, which is all that it depends on:
// 3^d values, s_j being digit j of the index in base 3. The work is that of 3^d energies. Errors
// wrap ErrTooLarge, from d = 11 on, or are ctx's.
func (t *Selection) Sums(ctx context.Context) ([]float64, error) {
	total := math.Pow(3, float64(t.D))
	if total > maxSums {
		return nil, fmt.Errorf("%w: 3^%d sums, at most %d", ErrTooLarge, t.D, maxSums)
	}
	u := make([]float64, int(total))
	var all sync.WaitGroup
	const parts = 8
	for part := range parts {
		all.Go(func() {
			x, one := make([]int32, 2*t.D), make([]float64, 1)
			for s := part; s < len(u) && ctx.Err() == nil; s += parts {
				for j, rest := 0, s; j < t.D; j, rest = j+1, rest/3 {
					sum := int32(rest % 3)
					x[j], x[t.D+j] = min(sum, 1), max(sum-1, 0)
				}
				_ = t.Energy(ctx, [][]int32{x}, one) // has no error
				u[s] = one[0]
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return u, nil
}

// Marginals computes P(β_i = 1) of all 2d coordinates from Sums. A sum s is made by
// Π C(2, s_j) states. The errors are those of Sums.
func (t *Selection) Marginals(ctx context.Context) ([]float64, error) {
	sums, err := t.Sums(ctx)
	if err != nil {
		return nil, err
	}
	return t.MarginalsOf(sums), nil
}

// MarginalsOf is Marginals from what Sums gave.
func (t *Selection) MarginalsOf(sums []float64) []float64 {
	u := make([]float64, len(sums))
	for s := range u {
		u[s] = sums[s]
		for rest := s; rest > 0; rest /= 3 {
			if rest%3 == 1 {
				u[s] += math.Ln2
			}
		}
	}
	z, out := logSumExp(u), make([]float64, 2*t.D)
	for s, v := range u {
		p := math.Exp(v - z)
		for j, rest := 0, s; j < t.D; j, rest = j+1, rest/3 {
			out[j] += p * float64(rest%3) / 2
		}
	}
	copy(out[t.D:], out[:t.D])
	return out
}
