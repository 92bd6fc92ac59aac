package samplers

import (
	"context"
	"math"
	"math/rand/v2"
)

// Target is an unnormalised log-density on a domain. Calls are batched: x
// holds the states of several chains, never empty, and u has its length. The
// states belong to the caller and must not be kept or changed. A run calls its
// target from one goroutine at a time.
//
// U may be −∞ (a state of probability zero) but neither NaN nor +∞; samplers
// reject and count what breaks this rule.
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

// Conditioner is the ability to give the exact conditionals of π.
type Conditioner interface {
	Target
	// Conditional fills logp[k], of K(i[k]) entries, with
	// log π(θ_i = v | θ_{−i} = x[k]_{−i}) for i = i[k], up to an additive
	// constant. Entries outside the support are ignored.
	Conditional(ctx context.Context, x [][]int32, i []int, logp [][]float64) error
}

// MaskedConditioner is the ability to give, for each coordinate, a
// distribution that does not depend on that coordinate's value and need not be
// the conditional of exp(U): what a masked language model says of a blank.
type MaskedConditioner interface {
	Target
	// MaskedConditional fills logp[k], of K(i[k]) entries, with
	// log f(v | x[k] with coordinate i[k] masked), up to an additive constant.
	// Entries outside the support are ignored.
	MaskedConditional(ctx context.Context, x [][]int32, i []int, logp [][]float64) error
}

// RowConditioner is the ability to give all masked conditionals of a state, its
// rows, with its energy. For U = Σ_i log f(θ_i | θ_{−i}), the energy of text, it
// costs little more than U alone: the term of coordinate i is an entry of its row.
type RowConditioner interface {
	MaskedConditioner
	// EnergyRows sets u[k] = U(x[k]) and fills rows[k], of Domain().RowLen()
	// entries, with log f(v | x[k] with coordinate i masked) for every coordinate i
	// and category v, up to an additive constant per coordinate. The row of
	// coordinate i begins at Domain().RowOffset(i). Entries outside the support are
	// ignored, and so are the rows of a state of U = −∞.
	EnergyRows(ctx context.Context, x [][]int32, u []float64, rows [][]float64) error
}

// RowSummer is a RowConditioner that knows the sums of its rows, because it gives the same
// row for many states.
type RowSummer interface {
	RowConditioner
	// EnergyRowSums is EnergyRows with more entries in rows[k], two for each coordinate:
	// rows[k][Domain().RowLen()+2·i] and the next are what SumRow says of the row of
	// coordinate i. They are not used where the support leaves categories out.
	EnergyRowSums(ctx context.Context, x [][]int32, u []float64, rows [][]float64) error
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

// NeighbourEnergizer is the ability to give U at all single-coordinate
// neighbours more cheaply than Energy would. Samplers that need such energies
// fall back on Energy.
type NeighbourEnergizer interface {
	Target
	// NeighbourEnergy fills u[k], of K(i[k]) entries, with U(x[k] with
	// coordinate i[k] set to v), up to a constant that must be the same for
	// all i at equal x[k]. Entries outside the support are ignored.
	NeighbourEnergy(ctx context.Context, x [][]int32, i []int, u [][]float64) error
}

// StochasticGradienter is the ability to estimate U and ∇U cheaply and
// without bias: from a random subset of the terms that U is a sum of, or from
// draws of an auxiliary variable.
type StochasticGradienter interface {
	Target
	// StochasticGrad sets u[k] and grad[k] to estimates made of batch terms
	// or draws, taken at random from rng[k] only; batch is at least 1 and the
	// target clamps it to what it has.
	StochasticGrad(ctx context.Context, x [][]int32, batch int, rng []*rand.Rand, u []float64,
		grad [][]float64) error
}

// NeighbourEstimator is the ability to estimate, from one mini-batch, by how much
// log π changes at all single-coordinate neighbours. Unlike a gradient it says
// nothing of a neighbour by extrapolation: the terms of the mini-batch are
// evaluated at each of them.
type NeighbourEstimator interface {
	Target
	// EstimateNeighbours fills logRatio[k], in the layout of a gradient, with
	//
	//	log π̂(x[k] with coordinate i set to v) − log π̂(x[k])
	//
	// log π̂ being the sum over batch random terms of U, scaled to all of them. The
	// terms are the same for all entries of one k, and the estimate is unbiased. It
	// is −∞ for a neighbour of probability zero. A binary coordinate's entry is for
	// its other value. Entries of the present category and outside the support are
	// ignored. All randomness comes from rng[k]. batch is at least 1, and the target
	// clamps it to what it has.
	EstimateNeighbours(ctx context.Context, x [][]int32, batch int, rng []*rand.Rand,
		logRatio [][]float64) error
	// AffordsNeighbours reports whether these estimates cost little enough to be
	// taken in place of gradients by a sampler that is not told what to take.
	AffordsNeighbours() bool
}

// Annealer is the ability of a target to be annealed from independent coordinates to π along a path
// of its own, for AIS. A machine with hidden units may redraw all coordinates at once, where one
// coordinate at a time is all that AIS can do by itself.
type Annealer interface {
	Target
	// Anneal takes the states x[k], in place, from one distribution of a path to another. The path
	// leads from p_0 = q to p_1 = exp(U), constants included, where q(x) = Π_i q_i(x_i) and logq[i]
	// has log q_i of every category, normalised. For each k it sets
	//
	//	gain[k] = log p_to(x[k]) − log p_from(x[k])
	//
	// at the state that x[k] has when it is called, and then moves x[k] by a reversible transition
	// that leaves p_to invariant, drawing from rng[k] only. from and to are in [0, 1], in any order.
	Anneal(ctx context.Context, logq [][]float64, from, to float64, x [][]int32, rng []*rand.Rand,
		gain []float64) error
}
