package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"infill/lab/internal/check"
	"infill/lab/internal/domain"
	"infill/lab/internal/stable"
	"infill/samplers"
)

// Selection is the logistic regression of SGDLD's paper (its sections 6.2 and C.2), after Zhou
// (2020) and Titsias and Yau (2017): which of 2d columns a label depends on, column d+j being a
// copy of column j, so that the data cannot tell the two apart. For β ∈ {0,1}^2d
//
//	U(β) = Σ_n y_n a_n − log(1 + exp(a_n)),   a_n = Σ_{j<d} x_nj (β_j + β_{d+j}),   y_n ∈ {0,1}
//
// without a prior. The paper's equations 17 and 31 have − log σ(a_n) in place of the last term,
// which is + log σ(−a_n): both signs are lost. The gradient is the derivative of U as it is
// written.
type Selection struct {
	N, D int       // observations, and columns without their copies
	X    []float64 // N rows of D
	Y    []float64 // 0 or 1

	dom  *samplers.Domain
	once sync.Once // makes the two below
	exp  []float64 // exp(X)
	most []float64 // the largest |x| of each row
}

// NewSelection draws data of the paper's law: rows x_n ~ N(0, (I + 11ᵀ)/d), and labels
// y_n ~ Bernoulli(σ(Σ x_nj over the columns j = 0, 1, … below √d)).
func NewSelection(rng *rand.Rand, n, d int) (*Selection, error) {
	err := check.Shape("variable selection", check.Whole("observations", n, 1, check.MaxSites),
		check.Whole("columns", d, 1, check.MaxSites/2),
		check.Product("observations × columns", n, d))
	if err != nil {
		return nil, err
	}
	t := &Selection{N: n, D: d, X: make([]float64, n*d), Y: make([]float64, n),
		dom: domain.Bits(2 * d)}
	scale := 1 / math.Sqrt(float64(d))
	for r := range t.Y {
		row, shared, a := t.row(r), rng.NormFloat64(), 0.0
		for j := range row {
			row[j] = scale * (rng.NormFloat64() + shared)
			if j*j < d {
				a += row[j]
			}
		}
		if rng.Float64() < stable.Sigmoid(a) {
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
			u[k] += y*a - stable.Softplus(a)
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
	w := scale * (y - stable.Sigmoid(a))
	for j, f := range row {
		g[j] += w * f
	}
	return y*a - stable.Softplus(a)
}

// EstimateRatios implements samplers.RatioEstimator with batch observations drawn with
// replacement. A column and its copy are worked out together. A switched column changes an
// observation's log(1 + exp(a)) to log(1 + exp(a ± x)), and logarithms are taken of products over
// many observations. exp(x) is computed once for all x, at the first call.
func (t *Selection) EstimateRatios(_ context.Context, x [][]int32, batch int,
	rng []*rand.Rand, logRatio, _ [][]float64) error {
	t.once.Do(t.exponentials)
	batch = min(batch, t.N)
	scale := float64(t.N) / float64(batch)
	kept := takeFloats(5 * t.D)
	defer listsOfFloats.Put(kept)
	p := newSwitches((*kept)[:5*t.D], t.D)
	for k, s := range x {
		p.begin(s)
		for range batch {
			r := rng[k].IntN(t.N)
			p.add(t.row(r), t.exp[r*t.D:(r+1)*t.D], t.most[r], t.Y[r])
		}
		p.flush()
		out := logRatio[k]
		for j := range t.D {
			out[j], out[t.D+j] = scale*p.ratio(j, s[j]), scale*p.ratio(j, s[t.D+j])
		}
	}
	return nil
}

// exponentials fills exp and most.
func (t *Selection) exponentials() {
	t.exp, t.most = make([]float64, len(t.X)), make([]float64, t.N)
	for i, f := range t.X {
		t.exp[i] = math.Exp(f)
		t.most[i/t.D] = math.Max(t.most[i/t.D], math.Abs(f))
	}
}

// RatioKind implements samplers.RatioEstimator.
func (t *Selection) RatioKind() (ofMeans, cheap bool) { return false, true }
