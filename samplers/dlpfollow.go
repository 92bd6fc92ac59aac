package samplers

import "math"

// follower lets automatic step sizes follow the states of the burn-in. Where a chain begins, a
// nominal coordinate has many better categories; where it ends up, on a target of few likely
// states, hardly any. A step size that is right at the one is far from right at the other, and a
// short burn-in ends before stochastic approximation has come from here to there.
//
// A coordinate stays put half the time when 1/(α·s_i) is the openness of the state,
//
//	L_i(x) = log Σ_{v≠x_i} g(e^{Δ_i(v)})/g(1)
//
// which the proposal knows without an evaluation: ln K where K categories are equally likely (what
// startStep assumes), less where few are. All n coordinates together stay put half the time when
// 1/α is larger by about log 1/(2^{1/n} − 1). So α is c/H: H is a moving mean over states of what
// openness returns, and c is what the mean acceptance probability adapts. The mean forgets as the
// adaptation does, (1+t)^−0.6, so that in a long burn-in H settles.
type follower struct {
	mean []float64 // H of each chain
	t    []int
}

func newFollower(d *dlp) *follower {
	if d.tune == nil {
		return nil
	}
	for i := range d.dom.coords {
		if d.dom.coords[i].Kind != Nominal {
			return nil
		}
	}
	f := &follower{mean: make([]float64, len(d.alpha)), t: make([]int, len(d.alpha))}
	for k := range f.mean {
		f.mean[k] = 1 / d.alpha[k]
	}
	return f
}

// enter takes the openness of chain k's state and returns by what log α changes.
func (f *follower) enter(k int, open float64) float64 {
	if math.IsNaN(open) {
		return 0
	}
	old := f.mean[k]
	f.mean[k] += math.Pow(1+float64(f.t[k]), -0.6) * (open - old)
	f.t[k]++
	return math.Log(old / f.mean[k])
}

// mostTogether bounds what openness adds for the number of coordinates: where there are many, more
// than one of them is to change in a step.
const mostTogether = 2

// openness is the 1/α at which chain k's proposal is its state half the time, roughly: the mean of
// s_i·L_i, each at least 1, and what the number of coordinates adds, at most mostTogether. It is
// NaN where the weights at the state are not known.
func (p dlpProposer) openness(k int) float64 {
	c := &p.cur[k]
	if !c.ok || c.scale != p.scale(k) {
		return math.NaN()
	}
	zero := 0.0
	if p.beta == nil {
		zero = p.g.Log(0)
	}
	sum, n := 0.0, 0
	for i := range p.dlp.dom.coords {
		if p.dlp.dom.free[i] == 1 {
			continue
		}
		stay := zero + 2*p.penalty(k, i)
		// All weights are e^lse, that of the present category is e^stay.
		open := stay + math.Log(math.Expm1(c.lse[i]-stay)) - zero
		if p.s != nil {
			open *= p.s[i]
		}
		if math.IsNaN(open) || math.IsInf(open, 1) {
			return math.NaN()
		}
		sum, n = sum+math.Max(1, open), n+1
	}
	return sum/float64(n) + math.Min(mostTogether, -math.Log(math.Exp2(1/float64(n))-1))
}

// Start implements Adapter.
func (p dlpProposer) Start(k int, x []int32, grad []float64) {
	if p.follow == nil || p.tune[k].half == 0 {
		return // nothing is adapted, or there is no burn-in to do it in
	}
	p.fill(&p.cur[k], k, x, grad, x)
	p.shift(k)
}

// Adapt implements Adapter.
func (p dlpProposer) Adapt(k int, m Move) {
	if p.follow != nil {
		p.shift(k)
	}
	p.dlp.Adapt(k, m)
}

// shift has the step size of chain k follow its state.
func (p dlpProposer) shift(k int) {
	p.tune[k].shift(p.follow.enter(k, p.openness(k)))
	p.alpha[k] = p.tune[k].value()
}
