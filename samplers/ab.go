package samplers

import (
	"context"
	"fmt"
	"math"
)

// AB is the any-scale balanced sampler (Sun et al. 2023) in its first-order
// form: every coordinate moves in parallel with
//
//	q_i(v) ∝ exp(β Δ_i(v) − ‖v − θ_i‖²/(2α))
//
// accepted by Metropolis–Hastings. β = ½ is the locally balanced proposal of
// DMALA, right for small steps; β = 1 is the globally balanced one, right when
// α is large and coordinates are independent. Both are tuned to the
// longest accepted jumps, by a schedule that is ours, as that of the paper was not at hand.
type AB struct {
	StepSize float64 // α; 0 tunes it
	Beta     float64 // β in [½, 1]; 0 tunes it
}

func (s *AB) Attach(c *Chains) (Kernel, error) {
	if s.Beta != 0 && !(s.Beta >= 0.5 && s.Beta <= 1) {
		return nil, &ParamError{abInfo.Name, "beta", fmt.Sprint(s.Beta),
			"a number from 0.5 to 1, or 0 for automatic"}
	}
	d, err := newStrided(c, abInfo.Name, s.StepSize)
	if err != nil {
		return nil, err
	}
	p := &abProposer{strided: d}
	for k := range d.beta {
		d.beta[k] = s.Beta
		if s.Beta == 0 {
			d.beta[k] = 0.5
		}
		if s.StepSize == 0 {
			d.alpha[k] = startStep(c.Domain)
			if c.Burnin > 0 {
				d.alpha[k] /= 2
			}
		}
		if s.StepSize == 0 || s.Beta == 0 {
			p.search = append(p.search, abSearch{
				tuneAlpha: s.StepSize == 0, tuneBeta: s.Beta == 0, onBeta: s.StepSize != 0,
				ratio: 4, delta: 0.1, each: max(2, c.Burnin/60), alpha: d.alpha[k], beta: d.beta[k],
			})
		}
	}
	return newMH(c, p, mhOptions{MHOptions: MHOptions{Gradient: true}, anytime: true})
}

type abProposer struct {
	*strided
	search []abSearch // per chain; empty when nothing is tuned
}

// Schedule sets (α, β) of the next step.
func (p *abProposer) Schedule(_ context.Context, _ int, untested []bool) error {
	for k := range p.search {
		p.alpha[k], p.beta[k] = p.search[k].point()
	}
	p.schedule(untested)
	return nil
}

// setStride implements strider.
func (p *abProposer) setStride(s Stride) {
	p.search = nil
	p.strided.setStride(s)
}

func (p *abProposer) Adapt(k int, m Move) {
	if len(p.search) > 0 {
		p.search[k].score(m.Prob * float64(m.Flips))
	}
}

func (p *abProposer) Freeze(k int) {
	if len(p.search) > 0 {
		p.search[k].stop = true
	}
}

// Tuning implements Adapter.
func (p *abProposer) Tuning(k int) map[string]float64 {
	if len(p.search) > 0 {
		return map[string]float64{"step-size": p.search[k].alpha, "beta": p.search[k].beta}
	}
	return map[string]float64{"step-size": p.alpha[k], "beta": p.beta[k]}
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

func (s *AB) Info() Info { return abInfo }

var abInfo = Info{
	Name: "ab", Title: "Any-scale balanced sampler",
	Exact: true, Corrected: true,
	Doc: "parallel moves with step size and balancing exponent tuned to the " +
		"longest accepted jumps (Sun et al. 2023)",
	Needs: []Need{NeedGradients}, Cost: "1 energy and gradient", StepCalls: callsOfGradients,
	Params: []Param{
		stepParam(func(s Sampler, v float64) { s.(*AB).StepSize = v }),
		{
			Name: "beta", Default: "auto", Min: 0.5, Max: 1, Auto: true,
			Doc: "exponent β of the balancing function; auto tunes it in the burn-in",
			Set: func(s Sampler, v Value) { s.(*AB).Beta = v.Number },
		},
	},
}
