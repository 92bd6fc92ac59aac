package samplers

import (
	"math"
)

// DLMC is the discrete Langevin Monte Carlo sampler (Sun et al. 2023, equation
// 39 and algorithm 1). Each coordinate follows, for a time h, the jump process
// with rates Q_i(v) = g(exp(Δ_i(v))) whose local stationary law is
// ν_i = softmax_v Δ_i(v) (with Δ_i(θ_i) = 0), in the interpolation
//
//	P(v ≠ θ_i) = ν_v (1 − exp(−h Q_v/ν_v))
//	P(stay)    = ν_θ + Σ_{v≠θ_i} ν_v exp(−h Q_v/ν_v)
//
// which is the exact transition of the linearised process for two categories. The parallel move is
// accepted by Metropolis–Hastings.
type DLMC struct {
	Balance          Balance // g
	Time             float64 // h
	Euler            bool    // P(v ≠ θ_i) = h Q_v, the forward-Euler form
	TargetAcceptance float64
}

func (s *DLMC) Attach(c *Chains) (Kernel, error) {
	o := *s
	if err := dlmcInfo.complete(&o); err != nil {
		return nil, err
	}
	t, err := newFlow(c, &o)
	if err != nil {
		return nil, err
	}
	if s.Euler {
		t.most = eulerLimit
		return t.kernel(c, eulerRule{t})
	}
	return t.kernel(c, dlmcRule{t})
}

// flow is what both forms share: rates, simulation time, adaptation. An automatic h stays
// within a factor of 10^6 of a guess from the rates at the chain's start. Where these span more
// than a factor of exp(80), or a millionth of the guess is still too long, the order of magnitude
// of h is searched for.
type flow struct {
	scales // log h
	dom    *Domain
	g      Balance
	acc    float64
	burn   int
	most   float64 // largest automatic h, as a multiple of its start
	s      *sites
}

func newFlow(c *Chains, o *DLMC) (*flow, error) {
	f := &flow{dom: c.Domain, g: o.Balance, acc: o.TargetAcceptance, burn: c.Burnin, most: 1e6,
		scales: scales{now: make([]float64, c.Len()),
			read: func(t *scaleTuner) float64 { return t.log }}}
	if o.Time == 0 {
		f.tune = make([]scaleTuner, c.Len())
		free, err := c.Domain.movable()
		if err != nil {
			return nil, err
		}
		f.s = newSites(c.Domain, f.g, free)
	}
	for k := range f.now {
		f.now[k] = math.Log(o.Time)
	}
	return f, nil
}

// start sets an automatic h so that, by the first-order rates at the chain's
// start, a coordinate of (geometric) mean total rate moves about every other
// step.
func (f *flow) Start(k int, x []int32, g []float64) {
	if f.tune == nil {
		return
	}
	f.s.score(x, g)
	mean, n, least, largest := 0.0, 0, math.Inf(1), math.Inf(-1)
	for _, lw := range f.s.lw {
		if finite(lw) {
			mean += lw
			n++
			least, largest = math.Min(least, lw), math.Max(largest, lw)
		}
	}
	if n > 0 {
		mean /= float64(n)
	}
	if largest-least > farRates || math.Abs(mean) > farRates/2 {
		f.tune[k] = newSeeker(math.Log(0.5)-largest, f.acc)
	} else {
		h := 0.5 * math.Exp(-mean)
		f.tune[k] = newScaleTuner(h, 0, f.acc, h*1e-6, h*f.most, f.burn)
		f.tune[k].farther = true
	}
	f.now[k] = f.tune[k].log
}

// farRates is a span of the logarithms of rates, in nats, beyond which their mean says nothing of
// the time that a step should take. The largest one says when the first coordinate moves.
const farRates = 80

func (f *flow) scale(k int) [2]float64 { return [2]float64{f.now[k]} }

// Tuning implements Adapter.
func (f *flow) Tuning(k int) map[string]float64 {
	h := math.Exp(f.now[k])
	return map[string]float64{"time": math.Min(math.Max(h, math.SmallestNonzeroFloat64),
		math.MaxFloat64)}
}

// flowProposer joins a rule to the factorised draw and to the adaptation.
type flowProposer struct {
	*factorised
	*flow
}

func (f *flow) kernel(c *Chains, r rule) (Kernel, error) {
	p := flowProposer{newFactorised(c.Domain, r, c.Len()), f}
	return newMH(c, p, mhOptions{MHOptions: MHOptions{Gradient: true}})
}

type dlmcRule struct{ *flow }

// easyDelta bounds |Δ| in flips: up to here exp(±Δ) can be multiplied and
// added without a thought of overflow, and expNeg is valid.
const easyDelta = 80

func (r dlmcRule) flips(k, _ int, delta []float64) {
	logH := r.now[k]
	h := math.Exp(logH)
	for j, d := range delta {
		m := math.Abs(d)
		if !(m <= easyDelta && h > 1e-100) { // or NaN
			delta[j] = r.flip(logH, d)
			continue
		}
		// With two categories hQ/ν depends on |Δ| only, and
		// P(flip)/P(stay) = (1−exp(−hQ/ν)) / (exp(−Δ)+exp(−hQ/ν)).
		u := expNeg(-m / 2)
		a, back := h, u*u // back is exp(−Δ)
		switch r.g {
		case Sqrt:
			a *= u + 1/u
		case Max:
			a *= 1 + 1/back
		case Min:
			a *= 1 + back
		}
		if d < 0 {
			back = 1 / back
		}
		move, stay := relax(a)
		delta[j] = math.Log(move / (back + stay))
	}
}

// relax returns 1−exp(−a) and exp(−a), a > 0, to a relative error of 1e−11.
func relax(a float64) (gone, left float64) {
	switch {
	case a < 1e-3: // the next term of the series is below 1e−14 of it
		gone = a * (1 - a*(0.5-a*(1./6-a*(1./24))))
		return gone, 1 - gone
	case a < -negligible:
		left = expNeg(-a)
	default:
		left = math.Exp(-a)
	}
	return 1 - left, left
}

// logGone is log(1−exp(−a)) of a and its logarithm, for an a that is 0 in a float64 too.
func logGone(la, a float64) float64 {
	if la < -700 {
		return la
	}
	return log1mExp(a)
}

// flip is the logit of a flip for any Δ.
func (r dlmcRule) flip(h, d float64) float64 {
	lv := logSigmoid(d) // log ν of the other value
	la := h + r.g.Log(d) - lv
	a := math.Exp(la)
	move := lv + logGone(la, a)
	stay := logAddExp(lv-d, lv-a) // log ν of the current value is lv − Δ
	return move - stay
}

func (r dlmcRule) weights(k, _ int, xi int32, _ int, delta []float64) {
	h := r.now[k]
	lse := logSumExp(delta)
	// The probability of staying, in units of ν_θ: 1 + Σ exp(Δ − hQ/ν). It can
	// only overflow when some Δ, and so lse, is large.
	stay, sum, plain := 0.0, 0.0, lse < 600
	for v, d := range delta {
		if int32(v) == xi || math.IsInf(d, -1) {
			continue
		}
		lv := d - lse
		la := h + r.g.Log(d) - lv
		a := math.Exp(la)
		delta[v] = lv + logGone(la, a)
		if plain {
			sum += math.Exp(d - a)
		} else {
			stay = logAddExp(stay, d-a)
		}
	}
	if plain {
		stay = math.Log1p(sum)
	}
	delta[xi] = stay - lse
}

// local is false: ν is a softmax over all categories.
func (*flow) local() bool { return false }

func (*flow) linear(int, int) (slope, stay float64, ok bool) { return 0, 0, false }

func (s *DLMC) Info() Info { return dlmcInfo }

var dlmcInfo = Info{
	Name: "dlmc", Title: "Discrete Langevin Monte Carlo",
	Exact: true, Corrected: true,
	Doc: "lets each coordinate follow its linearised jump process for a time h " +
		"(Sun et al. 2023)",
	Needs: []Need{NeedGradients}, Cost: "1 energy and gradient",
	Params: []Param{
		numberParam("time", 0, inf, "simulation time h; auto adapts it in the burn-in",
			func(s *DLMC) *float64 { return &s.Time }),
		balanceParam(func(s *DLMC) *Balance { return &s.Balance }),
		eitherParam("euler", [2]string{"no", "yes"}, "the forward-Euler form: moves with probability h "+
			"times the rate", func(s *DLMC) *bool { return &s.Euler }),
		acceptParam(usualAcceptance, func(s *DLMC) *float64 { return &s.TargetAcceptance }),
	},
}
