package samplers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// ErrRare marks a support that independent draws hardly ever hit, so that its share of them is not
// known.
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
	// Rungs is the number of steps of β from 0 to 1, at least 1. A chain takes one energy for each.
	// One rung is importance sampling by q.
	Rungs int
	Seed  uint64 // with ID, decides all randomness; see NewStream
	ID    string
	// Support reports whether a state is in the support where coordinates are tied together by more
	// than the domain's masks; nil: all states that the masks allow. U is −∞ elsewhere.
	Support func(x []int32) bool
}

// An AISResult is an estimate of a log-normaliser.
type AISResult struct {
	LogZ float64 // log Σ exp(U) over the support, in nats
	// Error is the standard error of LogZ in nats, by the delta method from the variance of the
	// weights of the chains, which are independent. It is NaN for one chain.
	Error float64
	ESS   float64   // effective number of chains, (Σw)²/Σw² (Kong 1992), from 1 to Chains
	LogW  []float64 // by chain: log-weight in nats, whose mean of exp is an unbiased estimate of Z
}

// AIS estimates the log-normaliser of a target by annealed importance sampling (Neal 2001). Chains
// start from q(x) = Π_i q_i(x_i) restricted to the support, and go through the targets
//
//	π_β(x) ∝ q(x)^(1−β) · exp(β U(x)),  β = 0, 1/Rungs, 2/Rungs, …, 1
//
// with log-weight Σ_k (β_k − β_{k−1}) (U(x_k) − log q(x_k)). logq[i] has log q_i of every category
// of coordinate i, up to a constant, and −∞ where q_i is 0. Every state of the support needs q > 0.
//
// At every β a chain makes one Metropolis–Hastings proposal at one coordinate, in turns. Its
// proposal is ∝ q_i^(1−β) f_i^β, for f_i the row of the coordinate (RowConditioner), which does not
// depend on the coordinate's value. The normaliser thus cancels, and with probability
//
//	min(1, exp(β (U(x′) − U(x) − log f_i(x′_i) + log f_i(x_i))))
//
// the proposal is accepted. A target without rows has q_i for f_i. A state whose energy is NaN or
// +∞ has weight 0.
//
// exp(LogZ) is unbiased, so LogZ itself is too low on average, by about Error²/2. Where
// Support is given, q's normaliser on it is its share of independent draws, and Error has that part
// too.
//
// Errors: ErrParam, ErrState for a state of the wrong shape, ErrRare, or the target's.
func AIS(ctx context.Context, t Target, logq [][]float64, o AISOptions) (*AISResult, error) {
	if o.Chains < 1 || o.Rungs < 1 {
		return nil, fmt.Errorf("%w: %d chains and %d rungs, want at least 1 of each", ErrParam,
			o.Chains, o.Rungs)
	}
	a, err := newAnnealing(t, logq, o)
	if err != nil {
		return nil, err
	}
	share, shareVar, err := a.share()
	if err != nil {
		return nil, err
	}
	if err := a.start(ctx); err != nil {
		return nil, err
	}
	for r := 1; r <= o.Rungs; r++ {
		for k := range a.x {
			a.logw[k] += (a.u[k] - a.logqOf(a.x[k])) / float64(o.Rungs)
		}
		if r == o.Rungs {
			break
		}
		if err := a.step(ctx, r, float64(r)/float64(o.Rungs)); err != nil {
			return nil, err
		}
	}
	n := float64(o.Chains)
	res := &AISResult{LogW: a.logw}
	twice := make([]float64, len(a.logw))
	for k := range a.logw {
		a.logw[k] += share
		twice[k] = 2 * a.logw[k]
	}
	sum := logSumExp(a.logw)
	res.LogZ, res.ESS = sum-math.Log(n), math.Exp(2*sum-logSumExp(twice))
	// The sample variance of w over n·mean(w)² is (n/ESS − 1)/(n − 1).
	res.Error = math.Sqrt(math.Max(0, n/res.ESS-1)/(n-1) + shareVar)
	return res, nil
}

// annealing is the state of the chains of AIS.
type annealing struct {
	AISOptions
	t    Target
	rows RowConditioner // nil: no rows
	d    *Domain
	logq [][]float64 // normalised
	cum  [][]float64 // cumulative weights, for draws by bisection
	free []int       // coordinates with a choice
	rng  []*rand.Rand
	x, y [][]int32
	u, v []float64
	f, g [][]float64 // rows of x and y
	logw []float64
	lw   []float64 // scratch
	c    []float64
}

func newAnnealing(t Target, logq [][]float64, o AISOptions) (*annealing, error) {
	d := t.Domain()
	if len(logq) != d.Len() {
		return nil, fmt.Errorf("%w: q of %d coordinates, want %d", ErrState, len(logq), d.Len())
	}
	a := &annealing{AISOptions: o, t: t, d: d,
		x: matrix[int32](o.Chains, d.Len()), y: matrix[int32](o.Chains, d.Len()),
		u: make([]float64, o.Chains), v: make([]float64, o.Chains),
		logw: make([]float64, o.Chains), rng: make([]*rand.Rand, o.Chains),
		lw: make([]float64, d.MaxK()), c: make([]float64, d.MaxK())}
	if r, ok := t.(RowConditioner); ok {
		a.rows = r
		a.f, a.g = matrix[float64](o.Chains, d.RowLen()), matrix[float64](o.Chains, d.RowLen())
	}
	for i, q := range logq {
		if len(q) != d.K(i) {
			return nil, fmt.Errorf("%w: q of coordinate %d has %d entries, want %d", ErrState, i, len(q),
				d.K(i))
		}
		p, cum := make([]float64, len(q)), make([]float64, len(q))
		for v := range p {
			p[v] = q[v]
			if !d.Allows(i, int32(v)) {
				p[v] = negInf
			}
		}
		lse := logSumExp(p)
		if !finite(lse) {
			return nil, fmt.Errorf("%w: q of coordinate %d has the normaliser %v", ErrState, i,
				math.Exp(lse))
		}
		sum := 0.0
		for v := range p {
			p[v] -= lse
			sum += math.Exp(p[v])
			cum[v] = sum
		}
		a.logq, a.cum = append(a.logq, p), append(a.cum, cum)
		if d.Support(i) > 1 {
			a.free = append(a.free, i)
		}
	}
	return a, nil
}

func (a *annealing) logqOf(x []int32) float64 {
	s := 0.0
	for i, v := range x {
		s += a.logq[i][v]
	}
	return s
}

// draw fills x with an independent draw of every coordinate.
func (a *annealing) draw(rng *rand.Rand, x []int32) {
	for i, cum := range a.cum {
		x[i] = int32(searchCum(rng.Float64()*cum[len(cum)-1], cum))
	}
}

// share estimates the logarithm of q's normaliser on the support, and the variance of the estimate.
func (a *annealing) share() (logShare, variance float64, err error) {
	if a.Support == nil {
		return 0, 0, nil
	}
	rng := NewStream(a.Seed, a.ID+"\x00share", 0)
	x := make([]int32, a.d.Len())
	hits := 0
	for range shareDraws {
		a.draw(rng, x)
		if a.Support(x) {
			hits++
		}
	}
	if hits < shareHits {
		return 0, 0, fmt.Errorf("%w: %d of %d do, and %d are needed",
			ErrRare, hits, shareDraws, shareHits)
	}
	s := float64(hits) / shareDraws
	return math.Log(s), (1 - s) / (s * shareDraws), nil
}

// start draws the first states from q on the support.
func (a *annealing) start(ctx context.Context) error {
	for k := range a.x {
		a.rng[k] = NewStream(a.Seed, a.ID+"\x00ais", k)
		for n := 0; ; n++ {
			if n == startDraws {
				return fmt.Errorf("%w: none of %d does", ErrRare, n)
			}
			a.draw(a.rng[k], a.x[k])
			if a.Support == nil || a.Support(a.x[k]) {
				break
			}
		}
	}
	if err := a.energies(ctx, a.x, a.u, a.f); err != nil {
		return err
	}
	for k, u := range a.u {
		if math.IsNaN(u) || math.IsInf(u, 1) {
			a.u[k] = negInf
		}
	}
	return nil
}

func (a *annealing) energies(ctx context.Context, x [][]int32, u []float64, f [][]float64) error {
	if a.rows != nil {
		return a.rows.EnergyRows(ctx, x, u, f)
	}
	return a.t.Energy(ctx, x, u)
}

// step moves every chain by one proposal for π_β.
func (a *annealing) step(ctx context.Context, r int, beta float64) error {
	if len(a.free) == 0 {
		return nil
	}
	var who []int
	var y [][]int32
	var g [][]float64
	for k, x := range a.x {
		i := a.coord(k, r)
		if math.IsInf(a.u[k], -1) {
			continue // the weight is 0, whatever comes
		}
		v := a.propose(k, i, beta)
		if v < 0 || int32(v) == x[i] {
			continue
		}
		copy(a.y[k], x)
		a.y[k][i] = int32(v)
		who, y = append(who, k), append(y, a.y[k])
		if a.g != nil {
			g = append(g, a.g[k])
		}
	}
	if len(who) == 0 {
		return nil
	}
	if err := a.energies(ctx, y, a.v[:len(who)], g); err != nil {
		return err
	}
	for j, k := range who {
		u, i := a.v[j], a.coord(k, r)
		row := a.row(k, i)
		la := beta * (u - a.u[k] - row[a.y[k][i]] + row[a.x[k][i]])
		if math.IsNaN(la) || math.IsInf(u, 1) || !accept(a.rng[k], la, acceptance(la)) {
			continue
		}
		a.u[k] = u
		a.x[k], a.y[k] = a.y[k], a.x[k]
		if a.f != nil {
			a.f[k], a.g[k] = a.g[k], a.f[k]
		}
	}
	return nil
}

// coord is the coordinate of chain k's proposal in step r.
func (a *annealing) coord(k, r int) int { return a.free[(k+r)%len(a.free)] }

// row is log f_i at the state of chain k.
func (a *annealing) row(k, i int) []float64 {
	if a.rows == nil {
		return a.logq[i]
	}
	return a.d.row(a.f[k], i)
}

// propose draws a category of coordinate i, −1 for none.
func (a *annealing) propose(k, i int, beta float64) int {
	row, q := a.row(k, i), a.logq[i]
	lw := a.lw[:len(q)]
	for v := range lw {
		lw[v] = negInf
		if !math.IsInf(q[v], -1) {
			lw[v] = (1-beta)*q[v] + beta*row[v]
		}
	}
	v, _ := drawLog(a.rng[k], lw, a.c)
	return v
}
