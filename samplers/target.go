package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
)

// Target is an unnormalised log-density on a domain. Calls are batched: x
// holds the states of several chains, never empty, and u has its length. The
// states belong to the caller and must not be kept or changed. A run calls its
// target from one goroutine at a time.
//
// U may be −∞ (a state of probability zero) but neither NaN nor +∞; samplers
// reject and count what breaks this rule.
// What else a target can do it says by the six interfaces of the package comment.
type Target interface {
	Domain() *Domain
	// Energy sets u[k] = U(x[k]).
	Energy(ctx context.Context, x [][]int32, u []float64) error
}

// Gradienter is the ability of a target to give gradients.
type Gradienter interface {
	Target
	// EnergyGrad sets u[k] = U(x[k]) and fills grad[k], of Domain().GradLen()
	// entries, with ∇U at x[k] in the layout of Domain. Entries of categories
	// outside the support are ignored.
	EnergyGrad(ctx context.Context, x [][]int32, u []float64, grad [][]float64) error
}

// Conditioner is the ability to give, for each coordinate, a distribution f_i(· | θ_{−i}) that does
// not depend on that coordinate's value: the conditional of π, or one that belongs to no joint
// distribution.
type Conditioner interface {
	Target
	// Conditional fills logp[k], of K(i[k]) entries, with log f_i(v | x[k]_{−i}) for i = i[k], up
	// to an additive constant. Entries outside the support are ignored.
	Conditional(ctx context.Context, x [][]int32, i []int, logp [][]float64) error
	// ExactConditionals reports whether f_i(v | θ_{−i}) is π(θ_i = v | θ_{−i}).
	ExactConditionals() bool
}

// RowConditioner is the ability to give all f_i of a state, its rows, with its energy. For
// U = Σ_i log f_i(θ_i | θ_{−i}) it costs little more than U alone: the term of coordinate i is an
// entry of its row.
type RowConditioner interface {
	Conditioner
	// EnergyRows sets u[k] = U(x[k]) and fills rows[k], of Domain().RowLen() entries, with
	// log f_i(v | x[k]_{−i}) for every coordinate i and category v, up to an additive constant per
	// coordinate. The row of coordinate i begins at Domain().RowOffset(i). Entries outside the
	// support are ignored, and so are the rows of a state of U = −∞.
	// sums is nil, or sums[k] has two entries for each coordinate, which are 0. A target that knows
	// what SumRow says of row i may set entries 2i and 2i+1 to it.
	EnergyRows(ctx context.Context, x [][]int32, u []float64, rows, sums [][]float64) error
}

// SumRow is what a normaliser of a row is made of, its largest entry and Σ_v exp(l_v − most):
// log Σ_v exp(l_v) is most + log sum. The sum is NaN where the row is not a distribution.
func SumRow(row []float64) (most, sum float64) {
	most = maxOf(row)
	if !finite(most) {
		return most, math.NaN()
	}
	return most, sumExp(row, most)
}

// StochasticGradienter is the ability to estimate U and ∇U cheaply and without bias: from random
// terms of U, or from draws of an auxiliary variable.
type StochasticGradienter interface {
	Target
	// StochasticGrad sets u[k] and grad[k] to estimates made of batch terms
	// or draws, taken at random from rng[k] only; batch is at least 1 and the
	// target clamps it to what it has.
	StochasticGrad(ctx context.Context, x [][]int32, batch int, rng []*rand.Rand, u []float64,
		grad [][]float64) error
}

// RatioEstimator is the ability to estimate, from one mini-batch, the probability ratios of a state
// and all its single-coordinate neighbours, without extrapolation.
type RatioEstimator interface {
	Target
	// EstimateRatios fills logNum[k] and logDen[k], in the layout of a gradient. Entries of the
	// present category and outside the support are ignored, and that of a binary coordinate is for
	// its other value. −∞ is the logarithm of 0. All randomness comes from rng[k]. batch is at least
	// 1, and the target clamps it to what it has.
	//
	// Ratios of means: logNum and logDen are the logarithms of means over batch draws of
	// ψ(x[k] with coordinate i set to v) and of ψ(x[k]), so that g(E num/E den) is a rate with which
	// π is in detailed balance. Otherwise logDen is nil, and logNum is an unbiased estimate of
	// log π(x[k] with coordinate i set to v) − log π(x[k]), from batch random terms of U that are the
	// same for all entries of one k.
	EstimateRatios(ctx context.Context, x [][]int32, batch int, rng []*rand.Rand, logNum,
		logDen [][]float64) error
	// RatioKind reports whether the estimates are ratios of means, and whether they are cheap enough
	// to be taken unasked in place of gradients.
	RatioKind() (ofMeans, cheap bool)
}

// ChainEnergizer is the ability to evaluate states for chains that the target knows by number, to
// compute again only what a proposal changes. Runs ask it in place of Energy and EnergyGrad. A type
// that embeds a ChainEnergizer and has an Energy of its own needs a ChainEnergy of its own.
type ChainEnergizer interface {
	Target
	// ChainEnergy does what Energy does where grad is nil, and otherwise what EnergyGrad does, up to
	// rounding. from belongs to the caller, apart from the entries of from.Memory.
	ChainEnergy(ctx context.Context, from Origins, x [][]int32, u []float64, grad [][]float64) error
}

// Origins say which chains ask for the states x of a call, and where these states come from.
type Origins struct {
	// Chain[k] is the number of the chain that asks for x[k], as in Chains.X. Numbers ascend. A chain
	// may ask for several states in a call, or for none.
	Chain []int
	// Memory has an entry for every chain of the run, for the target to keep there what it wants. They
	// are nil when the run begins and after Run.Retarget.
	Memory []any
	// X[k] is the present state of chain Chain[k], U[k] its energy, NaN where it is not known, and
	// Grad[k] its gradient, if the sampler uses any. All are nil where x are the present states.
	X    [][]int32
	U    []float64
	Grad [][]float64
}

// isNil reports whether v is nil or holds a nil pointer.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}
