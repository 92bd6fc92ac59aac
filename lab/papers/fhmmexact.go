package papers

import (
	"fmt"
	"math"

	"infill/lab/internal/check"
	"infill/lab/internal/stable"
	"infill/lab/targets"
)

// maxJoint bounds the joint states of the chains in FHMM.Exact.
const maxJoint = 1 << 16

// Exact returns log Z = log p(y) and P(x_tc = v) at (t·Chains + c)·K + v, by the forward–backward
// recursion over the K^Chains joint states of the chains. A step of it goes from chain to chain, so
// that it costs K·Chains terms a joint state. Errors wrap targets.ErrTooLarge, above 2^16 joint
// states and above 2^24 of them over all times.
func (f *FHMM) Exact() (logZ float64, marg []float64, err error) {
	joint := math.Pow(float64(f.K), float64(f.Chains))
	if joint > maxJoint || joint*float64(f.Length) > check.MaxSites {
		return 0, nil, fmt.Errorf("%w: %d^%d joint states at %d times, at most 2^16, and 2^24 over "+
			"all times", targets.ErrTooLarge, f.K, f.Chains, f.Length)
	}
	m := int(joint)
	first, begin := f.odds(f.Start)
	now := make([]float64, m)
	for p := range now {
		now[p] = float64(f.Chains) * first
		for c, rest := 0, p; c < f.Chains; c, rest = c+1, rest/f.K {
			if rest%f.K == 0 {
				now[p] += begin
			}
		}
	}
	fwd := make([][]float64, f.Length)
	for t := range fwd {
		if t > 0 {
			now = append([]float64(nil), now...)
			f.move(now)
		}
		f.emit(t, now)
		fwd[t] = now
	}
	logZ = stable.LogSumExp(now)
	marg = make([]float64, f.Length*f.Chains*f.K)
	bwd := make([]float64, m)
	for t := f.Length - 1; t >= 0; t-- {
		for p, b := range bwd {
			fwd[t][p] += b
		}
		z := stable.LogSumExp(fwd[t]) // log Z again, with the rounding errors of this time
		for p := range bwd {
			w := math.Exp(fwd[t][p] - z)
			for c, rest := 0, p; c < f.Chains; c, rest = c+1, rest/f.K {
				marg[(t*f.Chains+c)*f.K+rest%f.K] += w
			}
		}
		f.emit(t, bwd)
		f.move(bwd)
	}
	return logZ, marg, nil
}

// emit adds log p(y_t | p) to each joint state p, whose digit c in base K is the state of chain c.
func (f *FHMM) emit(t int, to []float64) {
	constant := math.Log(f.Sigma) + 0.5*math.Log(2*math.Pi)
	for p := range to {
		res := f.Y[t] - f.W0
		for c, rest := 0, p; c < f.Chains; c, rest = c+1, rest/f.K {
			res -= f.W[c*f.K+rest%f.K]
		}
		to[p] -= res*res/(2*f.Sigma*f.Sigma) + constant
	}
}

// move takes log-weights of joint states one time on, or one back, since transitions are symmetric.
func (f *FHMM) move(w []float64) {
	other, keep := f.odds(f.Stay)
	old, sum := make([]float64, f.K), make([]float64, f.K)
	for c, stride := 0, 1; c < f.Chains; c, stride = c+1, stride*f.K {
		for p := range w {
			if p/stride%f.K > 0 {
				continue // of the K joint states that differ in chain c, the first
			}
			for v := range old {
				old[v] = w[p+v*stride] + other
			}
			for v := range old {
				copy(sum, old)
				sum[v] += keep
				w[p+v*stride] = stable.LogSumExp(sum)
			}
		}
	}
}
