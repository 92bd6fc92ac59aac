package targets

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"infill/lab/internal/stable"
	"infill/samplers"
)

// Estimator says how GaussianBernoulli estimates probability ratios.
type Estimator uint8

const (
	// Marginal draws u from its marginal p(u) = Σ_x π(x) N(u; W^½x, I), whatever the
	// state, and estimates π by the mean of
	//
	//	ψ(x | u) = Π_j P(x_j | u)
	//
	// as SGDLD does (its section 3.1 and equations 12 and 16). It lists all states,
	// 2^20 at most.
	Marginal Estimator = iota
	// Conditional draws u given the state x and uses P(1−x_i | u) and P(x_i | u) of
	// the one coordinate that changes, for any number of coordinates.
	Conditional
)

// maxMarginal bounds the coordinates of the Marginal estimator.
const maxMarginal = 20

// EstimateRatios implements samplers.RatioEstimator by the Estimator chosen. A
// Marginal one of too many coordinates is an ErrTooLarge and a
// samplers.ErrUnsupported.
func (t *GaussianBernoulli) EstimateRatios(ctx context.Context, x [][]int32, batch int,
	rng []*rand.Rand,
	logNum, logDen [][]float64) error {
	if t.Estimator == Marginal {
		if t.D > maxMarginal {
			return fmt.Errorf("%w: %w: 2^%d states to draw u from, at most 2^%d; use the Conditional "+
				"estimator",
				samplers.ErrUnsupported, ErrTooLarge, t.D, maxMarginal)
		}
		t.tables.Do(t.listStates)
	}
	work := t.scratch.Get().(*[]float64)
	defer t.scratch.Put(work)
	mean, u := (*work)[:t.D], (*work)[t.D:]
	count := math.Log(float64(batch))
	for k, s := range x {
		num, den := logNum[k], logDen[k]
		for i := range num {
			num[i], den[i] = math.Inf(-1), math.Inf(-1)
		}
		for range batch {
			if t.Estimator == Marginal {
				t.addMarginal(s, rng[k], num, den, mean, u)
			} else {
				t.addConditional(s, rng[k], num, den, mean, u)
			}
		}
		for i := range num {
			num[i] -= count
			den[i] -= count
		}
	}
	return nil
}

// listStates fills cum.
func (t *GaussianBernoulli) listStates() {
	t.cum = make([]float64, 1<<t.D)
	x := make([]int32, t.D)
	most := math.Inf(-1)
	for s := range t.cum {
		t.cum[s] = t.eval(t.state(s, x), nil)
		most = math.Max(most, t.cum[s])
	}
	sum := 0.0
	for s, u := range t.cum {
		sum += math.Exp(u - most)
		t.cum[s] = sum
	}
}

// state sets x to state number s.
func (t *GaussianBernoulli) state(s int, x []int32) []int32 {
	for i := range x {
		x[i] = int32(s >> i & 1)
	}
	return x
}

// addMarginal adds one draw of u: ψ of each neighbour to num, ψ(x) to den, all in logarithms.
func (t *GaussianBernoulli) addMarginal(x []int32, rng *rand.Rand, num, den, mean, u []float64) {
	at := rng.Float64() * t.cum[len(t.cum)-1]
	from := sort.Search(len(t.cum)-1, func(s int) bool { return t.cum[s] > at })
	t.center(mean, func(i int) bool { return from>>i&1 == 1 })
	t.drawU(rng, mean, u)
	psi := 0.0 // log ψ(x | u)
	for i, v := range x {
		mean[i] = t.logit(i, v, u) // no longer needed as the mean
		psi -= stable.Softplus(-mean[i])
	}
	for i, l := range mean {
		num[i] = stable.LogAddExp(num[i], psi-l) // σ(−l)/σ(l) = exp(−l)
		den[i] = stable.LogAddExp(den[i], psi)
	}
}

// RatioKind implements samplers.RatioEstimator.
func (t *GaussianBernoulli) RatioKind() (ofMeans, cheap bool) { return true, false }

// addConditional adds one draw of u given x.
func (t *GaussianBernoulli) addConditional(x []int32, rng *rand.Rand, num, den, mean, u []float64) {
	t.center(mean, func(i int) bool { return x[i] == 1 })
	t.drawU(rng, mean, u)
	for i, v := range x {
		l := t.logit(i, v, u)
		num[i] = stable.LogAddExp(num[i], -stable.Softplus(l))
		den[i] = stable.LogAddExp(den[i], -stable.Softplus(-l))
	}
}

// center sets mean to Lᵀx, x given by its ones.
func (t *GaussianBernoulli) center(mean []float64, one func(i int) bool) {
	clear(mean)
	for i := range t.D {
		if one(i) {
			for j := 0; j <= i; j++ {
				mean[j] += t.root[i*t.D+j]
			}
		}
	}
}

func (t *GaussianBernoulli) drawU(rng *rand.Rand, mean, u []float64) {
	for j := range u {
		u[j] = mean[j] + rng.NormFloat64()
	}
}

// logit is log P(x_i = v | u) − log P(x_i ≠ v | u).
func (t *GaussianBernoulli) logit(i int, v int32, u []float64) float64 {
	l := t.B[i]
	for j := 0; j <= i; j++ {
		l += t.root[i*t.D+j] * u[j]
	}
	if v == 0 {
		return -l
	}
	return l
}
