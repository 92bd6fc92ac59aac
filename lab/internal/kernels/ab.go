package kernels

import (
	"context"
	"fmt"
	"math"

	"infill/samplers"
)

// AB is the any-scale balanced sampler (Sun et al. 2023) in its first-order
// form: every coordinate moves in parallel with
//
//	q_i(v) ∝ exp(β Δ_i(v) − ‖v − θ_i‖²/(2α))
//
// accepted by Metropolis–Hastings. β = ½ is the locally balanced proposal of DMALA, right for small
// steps; β = 1 is the globally balanced one, right when α is large and coordinates are independent.
// Both are tuned to the longest accepted jumps, by a schedule that is ours, as that of the paper
// was not at hand. samplers.ACS makes the proposal, and is told α and β of every step.
type AB struct {
	StepSize float64 // α; 0 tunes it
	Beta     float64 // β in [½, 1]; 0 tunes it
}

func (s *AB) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	if s.Beta != 0 && !(s.Beta >= 0.5 && s.Beta <= 1) {
		return nil, &samplers.ParamError{Sampler: abInfo.Name, Param: "beta", Value: fmt.Sprint(s.Beta),
			Want: "a number from 0.5 to 1, or 0 for automatic"}
	}
	if !(s.StepSize >= 0 && !math.IsInf(s.StepSize, 1)) {
		return nil, &samplers.ParamError{Sampler: abInfo.Name, Param: "step size",
			Value: fmt.Sprint(s.StepSize), Want: "a positive number, or 0 for automatic"}
	}
	a := &abKernel{c: c, search: make([]abSearch, c.Len())}
	for k := range a.search {
		a.search[k] = abSearch{
			tuneAlpha: s.StepSize == 0, tuneBeta: s.Beta == 0, onBeta: s.StepSize != 0,
			ratio: 4, delta: 0.1, each: max(2, c.Burnin/60), alpha: s.StepSize, beta: s.Beta,
			stop: c.Burnin == 0 || s.StepSize != 0 && s.Beta != 0,
		}
		if s.Beta == 0 {
			a.search[k].beta = 0.5
		}
		if s.StepSize == 0 {
			a.search[k].alpha = startStep(c.Domain)
			if c.Burnin > 0 {
				a.search[k].alpha /= 2
			}
		}
	}
	acs := samplers.ACS{Scale: func(k int) (float64, float64, bool) {
		alpha, beta := a.search[k].point()
		return alpha, beta, false
	}}
	var err error
	a.Kernel, err = acs.Attach(c)
	return a, err
}

// startStep is where automatic step sizes start, as those of samplers.DMALA do: among K categories
// of nearly equal weight a nominal coordinate stays put half the time when 1/α = ln K, and an
// ordinal one starts with moves of a tenth of its range.
func startStep(d *samplers.Domain) float64 {
	sum := 0.0
	for i := range d.Len() {
		c := d.Coord(i)
		steps := 1.0
		switch c.Kind {
		case samplers.Nominal:
			sum += math.Log(1 / math.Max(1, math.Log(float64(d.Support(i)))))
			continue
		case samplers.Ordinal:
			steps = math.Max(1, float64(c.K)/10)
		}
		sum += math.Log(steps * steps * c.Step * c.Step / 2)
	}
	return math.Exp(sum / float64(d.Len()))
}

// abKernel is the kernel of ACS with the scales that the searches choose.
type abKernel struct {
	samplers.Kernel
	c      *samplers.Chains
	search []abSearch // per chain
}

// Step implements samplers.Kernel.
func (a *abKernel) Step(ctx context.Context) error {
	if err := a.Kernel.Step(ctx); err != nil {
		return err
	}
	for k := range a.search {
		s := &a.search[k]
		if !s.stop {
			s.score(a.c.Last[k].Prob * float64(a.c.Last[k].Flips))
			s.stop = a.c.Done()+1 >= a.c.Burnin
		}
	}
	return nil
}

// Tuning is what Run.Tuning gives.
func (a *abKernel) Tuning(k int) map[string]float64 {
	return map[string]float64{"step-size": a.search[k].alpha, "beta": a.search[k].beta}
}

// abSearch is an alternating three-point search: (α, β) start small, at half the automatic start
// of DMALA and at ½. Rounds alternate between α, which is first, and β; where one is given, all
// are on the other. A round tries three values (α/r, α, αr with r = 4 at first,
// or β−δ, β, β+δ with δ = 0.1, kept in [½, 1]) for L steps each, one value after
// the other, L = max(2, burn-in/60), and keeps the one with the largest mean of
// acceptance probability times proposed Hamming distance (the accepted jump
// distance without its sampling noise); of equals the middle one, but when
// nothing moved at all in a round on α, the largest. When the middle one wins,
// r becomes √r (not below 1.15) or δ becomes δ/2 (not below 0.01). Where β = ½
// or 1 an outer value equals the middle one; when it is that one that wins, δ
// stays. (To halve δ there, too, was tried: it fixes β near ½ too early and took
// 2 to 30 % off the effective samples of nine of ten targets.) There are about
// 20 rounds, up to 29 in a short burn-in; one that the burn-in's end cuts off counts
// for nothing.
type abSearch struct {
	tuneAlpha, tuneBeta bool
	onBeta              bool // the present round varies β
	stop                bool
	alpha, beta         float64 // the best so far
	ratio, delta        float64
	each                int // steps per candidate
	cand, n             int
	sum                 [3]float64
}

// candidate is the j-th value tried in the present round, j = 0, 1, 2.
func (s *abSearch) candidate(j int) (alpha, beta float64) {
	alpha, beta = s.alpha, s.beta
	if s.onBeta {
		beta = math.Min(math.Max(beta+float64(j-1)*s.delta, 0.5), 1)
	} else {
		alpha *= math.Pow(s.ratio, float64(j-1))
	}
	return alpha, beta
}

func (s *abSearch) point() (alpha, beta float64) {
	if s.stop {
		return s.alpha, s.beta
	}
	return s.candidate(s.cand)
}

func (s *abSearch) score(v float64) {
	s.sum[s.cand] += v
	if s.n++; s.n < s.each {
		return
	}
	s.n = 0
	if s.cand++; s.cand < len(s.sum) {
		return
	}
	best := 1
	if !s.onBeta && s.sum == [3]float64{} {
		best = 2 // nothing moved at all: go up
	}
	for j, v := range s.sum {
		if v > s.sum[best] {
			best = j
		}
	}
	s.alpha, s.beta = s.candidate(best)
	if best == 1 {
		if s.onBeta {
			s.delta = math.Max(s.delta/2, 0.01)
		} else {
			s.ratio = math.Max(math.Sqrt(s.ratio), 1.15)
		}
	}
	s.cand, s.sum = 0, [3]float64{}
	if s.onBeta && s.tuneAlpha || !s.onBeta && s.tuneBeta {
		s.onBeta = !s.onBeta
	}
}

func (s *AB) Info() samplers.Info { return abInfo }

var abInfo = samplers.Info{
	Name: "ab", Title: "Any-scale balanced sampler",
	Exact: true, Corrected: true,
	Doc: "parallel moves with step size and balancing exponent tuned to the " +
		"longest accepted jumps (Sun et al. 2023)",
	Needs: []samplers.Need{samplers.NeedGradients}, Cost: "1 energy and gradient",
	Params: []samplers.Param{
		{
			Name: "step-size", Default: "auto", OpenMin: true, Max: inf, Auto: true,
			Doc: "step size α; auto adapts it in the burn-in",
			Set: func(s samplers.Sampler, v samplers.Value) { s.(*AB).StepSize = v.Number },
		},
		{
			Name: "beta", Default: "auto", Min: 0.5, Max: 1, Auto: true,
			Doc: "exponent β of the balancing function; auto tunes it in the burn-in",
			Set: func(s samplers.Sampler, v samplers.Value) { s.(*AB).Beta = v.Number },
		},
	},
}
