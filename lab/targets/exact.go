package targets

import (
	"context"
	"errors"
	"fmt"
	"math"

	"infill/lab/internal/check"
	"infill/lab/internal/stable"
	"infill/samplers"
)

// ErrTooLarge marks a space too large to enumerate.
var ErrTooLarge = errors.New("too large to enumerate")

// maxEnumerated bounds the states that Enumerate lists.
const maxEnumerated = 1 << 22

// Exact is a target's distribution, enumerated. State number s has category
// (s / Π_{j<i} K_j) mod K_i at coordinate i.
type Exact struct {
	Domain *samplers.Domain
	P      []float64 // probability of each state; they sum to 1
	LogZ   float64   // log Σ exp(U)
}

// Enumerate lists all states of a target of at most 2^22 states. Errors: ErrTooLarge,
// check.ErrShape for no target, or the target's own.
func Enumerate(ctx context.Context, t samplers.Target) (*Exact, error) {
	if t == nil || t.Domain() == nil {
		return nil, fmt.Errorf("%w: no target to enumerate, or one without a domain",
			check.ErrShape)
	}
	d := t.Domain()
	total := 1.0
	for i := range d.Len() {
		total *= float64(d.K(i))
	}
	if total > maxEnumerated {
		return nil, fmt.Errorf("%w: %.0f states, at most %d", ErrTooLarge, total, maxEnumerated)
	}
	e := &Exact{Domain: d, P: make([]float64, int(total))}
	const chunk = 1024
	x := make([][]int32, chunk)
	for k := range x {
		x[k] = make([]int32, d.Len())
	}
	for lo := 0; lo < len(e.P); lo += chunk {
		n := min(chunk, len(e.P)-lo)
		for k := range n {
			e.State(lo+k, x[k])
		}
		if err := t.Energy(ctx, x[:n], e.P[lo:lo+n]); err != nil {
			return nil, err
		}
		for k := range n {
			if d.Check(x[k]) != nil {
				e.P[lo+k] = math.Inf(-1)
			}
		}
	}
	e.LogZ = stable.LogSumExp(e.P)
	for s, u := range e.P {
		e.P[s] = math.Exp(u - e.LogZ)
	}
	return e, nil
}

// State writes the categories of state number s to x.
func (e *Exact) State(s int, x []int32) {
	for i := range x {
		k := e.Domain.K(i)
		x[i] = int32(s % k)
		s /= k
	}
}

// Index is the number of state x.
func (e *Exact) Index(x []int32) int {
	s := 0
	for i := len(x) - 1; i >= 0; i-- {
		s = s*e.Domain.K(i) + int(x[i])
	}
	return s
}

// Marginal returns P(θ_i = v) for v = 0..K_i−1.
func (e *Exact) Marginal(i int) []float64 {
	out := make([]float64, e.Domain.K(i))
	stride := 1
	for j := range i {
		stride *= e.Domain.K(j)
	}
	for s, p := range e.P {
		out[s/stride%len(out)] += p
	}
	return out
}

// TV is the total variation ½ Σ |P − q/Σq| to unnormalised weights q, in [0,1].
func (e *Exact) TV(q []float64) float64 {
	sum := 0.0
	for _, w := range q {
		sum += w
	}
	tv := 0.0
	for s, p := range e.P {
		tv += math.Abs(p - q[s]/sum)
	}
	return tv / 2
}
