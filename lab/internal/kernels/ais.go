package kernels

import (
	"context"
	"errors"
	"fmt"
	"math"

	"infill/samplers"
)

// ErrRare marks a support that independent draws hardly ever hit, so that AIS does not know its
// share of them.
var ErrRare = errors.New("independent draws hardly ever meet the constraints")

const (
	// shareDraws is the number of draws that measure the share of the support, shareHits the least
	// number of hits: the standard error of the share's logarithm is then 0.1 at most.
	shareDraws, shareHits = 1 << 15, 100
	// startDraws bounds the draws of a chain's first state. With shareHits in shareDraws about 300
	// are made.
	startDraws = 1 << 20
)

// AISOptions say how AIS anneals.
type AISOptions struct {
	Chains int // independent chains, at least 1
	// Rungs is the number of steps of β from 0 to 1, at least 1, each with one energy of a chain.
	// One rung is importance sampling by q.
	Rungs int
	Seed  uint64 // with ID, decides all randomness; see [samplers.NewStream]
	ID    string
	// Support reports whether a state is in the support where coordinates are tied together by more
	// than the domain's masks; nil: all that they allow. U counts as −∞ elsewhere.
	Support func(x []int32) bool
	// From are draws of π, such as the last states of chains that have mixed. Further chains go from
	// them to q, so that LogZ rests on both ways.
	From [][]int32
}

// An AISResult is an estimate of a log-normaliser, log Σ exp(U) over the support.
type AISResult struct {
	// LogZ is in nats: Bennett's acceptance ratio of both ways, or without From the mean weight.
	LogZ float64
	// Error is the standard error of LogZ in nats, NaN for one chain without From, and +Inf for two
	// ways that nowhere meet.
	Error float64
	ESS   float64 // effective number of the Chains, (Σw)²/Σw² (Kong 1992), from 1 to Chains
	// Below and Above are log Z by one way alone, in nats. If From are draws of π, the first is too
	// low on average and the second too high (Grosse, Ghahramani and Adams 2015).
	Below, Above  float64
	LogW, LogBack []float64 // log-weights of the two ways in nats, by chain
	// X are the states at the end of the way to π, a sample of π with the weights exp(LogW).
	X [][]int32
}

// AIS estimates the log-normaliser of a target by annealed importance sampling (Neal 2001). Chains
// start from q(x) = Π_i q_i(x_i) restricted to the support, and go through the targets
//
//	π_β(x) ∝ q(x)^(1−β) · exp(β U(x)),  β = 0, 1/Rungs, 2/Rungs, …, 1
//
// with log-weight Σ_k (β_k − β_{k−1}) (U(x_k) − log q(x_k)). logq[i] has log q_i of every category
// of coordinate i, up to a constant, and −∞ where q_i is 0. Every state of the support needs q > 0.
//
// At every β a chain makes one Metropolis–Hastings proposal at one coordinate, in turns. It is
// ∝ q_i^(1−β) f_i^β, for f_i the row of the coordinate (samplers.RowConditioner). The normaliser
// cancels, and with probability
//
//	min(1, exp(β (U(x′) − U(x) − log f_i(x′_i) + log f_i(x_i))))
//
// the proposal is accepted. A target without rows has q_i for f_i. A state whose energy is NaN or
// +∞ has weight 0. The way back from AISOptions.From makes the same steps in the reverse order.
//
// Few weights say little of those that no chain has: where the chains from q miss a mode of π, LogZ
// is too low and Error far too small. Chains from draws of π have been there. Error is then as
// large as the two ways are apart, and where Below is the larger, which draws of π give by chance
// only, it has that distance too. Where Support is given, it has the error of q's share of it.
//
// Errors: samplers.ErrParam, samplers.ErrState for a state of the wrong shape or of probability 0,
// ErrRare, or the target's.
func AIS(ctx context.Context, t samplers.Target, logq [][]float64, o AISOptions) (*AISResult,
	error) {
	if t == nil || t.Domain() == nil {
		return nil, fmt.Errorf("%w: no target, or one without a domain; its Domain returns what "+
			"NewDomain makes", samplers.ErrDomain)
	}
	if o.Chains < 1 || o.Rungs < 1 {
		return nil, fmt.Errorf("%w: %d chains and %d rungs, want at least 1 of each", samplers.ErrParam,
			o.Chains, o.Rungs)
	}
	up, err := newAnnealing(t, logq, o.Chains, o)
	if err != nil {
		return nil, err
	}
	share, shareVar, err := up.share()
	if err != nil {
		return nil, err
	}
	if err := up.start(ctx); err != nil {
		return nil, err
	}
	if err := up.walk(ctx, false); err != nil {
		return nil, err
	}
	n := float64(o.Chains)
	res := &AISResult{LogW: shifted(up.logw, share), Above: math.NaN(), X: up.x}
	sum := logSumExp(res.LogW)
	res.Below, res.ESS = sum-math.Log(n), math.Exp(2*sum-logSumExp(scaled(res.LogW, 2)))
	if len(o.From) == 0 {
		// The sample variance of w over n·mean(w)² is (n/ESS − 1)/(n − 1).
		res.LogZ = res.Below
		res.Error = math.Sqrt(math.Max(0, n/res.ESS-1)/(n-1) + shareVar)
		return res, nil
	}
	down, err := newAnnealing(t, logq, len(o.From), o)
	if err != nil {
		return nil, err
	}
	if err := down.resume(ctx); err != nil {
		return nil, err
	}
	if err := down.walk(ctx, true); err != nil {
		return nil, err
	}
	res.LogBack = shifted(down.logw, share)
	res.Above = math.Log(float64(len(o.From))) - logSumExp(scaled(res.LogBack, -1))
	var variance float64
	res.LogZ, variance = bennett(res.LogW, res.LogBack)
	res.Error = math.Sqrt(variance + square(math.Max(0, res.Below-res.LogZ)) + shareVar)
	return res, nil
}

func square(x float64) float64 { return x * x }

// shifted is x with c added to each.
func shifted(x []float64, c float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v + c
	}
	return out
}

// scaled is x with each multiplied by c.
func scaled(x []float64, c float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = c * v
	}
	return out
}
