package samplers

import "math"

// acsTune is the automatic tuning of ACS for one chain (Pynadath et al. 2024,
// algorithms 2 to 4), spread over the burn-in of n steps:
//
//  1. InitBurnin: steps at (AlphaCeil, BetaMax), the first half without
//     acceptance test, the second with; 50 and 50 of the paper, but at most
//     n/5 in all.
//  2. EstimateAlphaMax, 30 % of n, β = BetaMax: a round tries five step sizes
//     and keeps as α the one whose acceptance is nearest ρ* (the largest of
//     equals). The first round spaces them evenly in [ζα, α] from α = AlphaCeil,
//     ζ = ½; later ones in [ζα, α/ζ], at most AlphaCeil, so that a round misled
//     by its few steps is put right by the next and does not ratchet α down.
//  3. EstimateAlphaMin, 20 % of n, β = BetaMin: the same from AlphaFloor up, in
//     [α, α/ζ] at first and then in [ζα, α/ζ], within [AlphaFloor, AlphaMax].
//  4. EstimateBalSched, the rest: for k = 1, 2, … in turn, five candidates
//     evenly spaced in [BetaMin, β_{k−1}], of which the best acceptance at α_k
//     wins; β_0 = BetaMax. When the steps do not suffice for every k, only
//     some are tried and those between take the value of the one before.
//
// Each stage has eight rounds at most, and a candidate as many steps as that
// allows, one at least. Acceptance is the mean acceptance probability.
type acsTune struct {
	cfg                ACS
	alphaMax, alphaMin float64
	beta               []float64 // β_k
	stage              acsStage
	left               int // steps left in the stage
	total              int // steps of the stage
	burnin             int

	lo, hi float64 // interval of the present round
	each   int     // steps per candidate
	cand   int
	n      int
	sum    [acsCandidates]float64
	k      int // EstimateBalSched: the k being tuned
	stride int
}

type acsStage uint8

const (
	acsFree acsStage = iota // InitBurnin, without acceptance test
	acsWarm                 // InitBurnin, with it
	acsMax
	acsMin
	acsBal
	acsDone
)

const (
	acsCandidates = 5
	acsZeta       = 0.5
	acsRounds     = 8
	acsInit       = 100
)

func newACSTune(cfg ACS, burnin int) acsTune {
	t := acsTune{cfg: cfg, alphaMax: cfg.AlphaMax, alphaMin: cfg.AlphaMin, beta: make([]float64, cfg.Cycle), burnin: burnin}
	if t.alphaMax == 0 {
		t.alphaMax, t.alphaMin = cfg.AlphaCeil, cfg.AlphaFloor
	}
	t.linearBeta()
	if burnin == 0 {
		t.stage = acsDone
		return t
	}
	t.enter(acsFree)
	return t
}

func (t *acsTune) linearBeta() {
	for k := range t.beta {
		f := t.cosine(k) / t.alphaMax
		t.beta[k] = t.cfg.BetaMin + f*(t.cfg.BetaMax-t.cfg.BetaMin)
	}
}

// budget is the number of steps of a stage.
func (t *acsTune) budget(s acsStage) int {
	n := t.burnin
	init := min(acsInit, n/5)
	tuneAlpha := t.cfg.AlphaMax == 0
	switch s {
	case acsFree:
		return init / 2
	case acsWarm:
		return init - init/2
	case acsMax:
		if tuneAlpha {
			return n * 3 / 10
		}
	case acsMin:
		if tuneAlpha {
			return n / 5
		}
	case acsBal:
		if !t.cfg.FixedBeta {
			rest := n - init
			if tuneAlpha {
				rest -= n*3/10 + n/5
			}
			return rest
		}
	}
	return 0
}

// enter begins a stage, or the first after it that has any steps.
func (t *acsTune) enter(s acsStage) {
	t.stage = s
	if s == acsBal {
		t.linearBeta()
	}
	if s == acsDone {
		return
	}
	t.total = t.budget(s)
	t.left = t.total
	if t.left <= 0 {
		t.enter(s + 1)
		return
	}
	t.each = max(1, t.total/(acsCandidates*acsRounds))
	t.cand, t.n, t.sum = 0, 0, [acsCandidates]float64{}
	switch s {
	case acsMax:
		t.lo, t.hi = acsZeta*t.alphaMax, t.alphaMax
	case acsMin:
		t.alphaMin = t.cfg.AlphaFloor
		t.lo, t.hi = t.alphaMin, math.Min(t.alphaMin/acsZeta, t.alphaMax)
	case acsBal:
		if len(t.beta) < 2 {
			t.enter(acsDone)
			return
		}
		knots := max(1, min(len(t.beta)-1, t.total/acsCandidates))
		t.stride = (len(t.beta) - 1 + knots - 1) / knots
		t.each = max(1, t.total/(acsCandidates*((len(t.beta)-1+t.stride-1)/t.stride)))
		t.k = 1
		t.beta[0] = t.cfg.BetaMax
		t.lo, t.hi = t.cfg.BetaMin, t.beta[0]
	}
}

// candidate is the value under trial.
func (t *acsTune) candidate(j int) float64 {
	return t.lo + (t.hi-t.lo)*float64(j)/(acsCandidates-1)
}

// point is (α, β) of the next step, and whether it goes untested.
func (t *acsTune) point(done int) (alpha, beta float64, free bool) {
	switch t.stage {
	case acsFree:
		return t.alphaMax, t.cfg.BetaMax, true
	case acsWarm:
		return t.alphaMax, t.cfg.BetaMax, false
	case acsMax:
		return t.candidate(t.cand), t.cfg.BetaMax, false
	case acsMin:
		return t.candidate(t.cand), t.cfg.BetaMin, false
	case acsBal:
		return t.cosine(t.k), t.candidate(t.cand), false
	}
	k := done % t.cfg.Cycle
	return t.cosine(k), t.beta[k], false
}

// learn takes the acceptance probability of a step of the burn-in.
func (t *acsTune) learn(a float64) {
	if t.stage == acsDone {
		return
	}
	t.left--
	if t.stage >= acsMax {
		t.sum[t.cand] += a
		if t.n++; t.n == t.each {
			t.n = 0
			if t.cand++; t.cand == acsCandidates {
				t.endRound()
			}
		}
	}
	if t.left <= 0 && t.stage != acsDone {
		t.enter(t.stage + 1)
	}
}

// endRound keeps the best candidate and sets up the next round.
func (t *acsTune) endRound() {
	best := 0
	for j := range t.sum {
		better := t.sum[j] > t.sum[best]
		if t.stage != acsBal {
			goal := t.cfg.TargetAcceptance * float64(t.each)
			better = math.Abs(t.sum[j]-goal) <= math.Abs(t.sum[best]-goal)
		}
		if better {
			best = j
		}
	}
	v := t.candidate(best)
	switch t.stage {
	case acsMax:
		t.alphaMax = v
		t.lo, t.hi = acsZeta*v, math.Min(v/acsZeta, t.cfg.AlphaCeil)
		t.alphaMin = math.Min(t.alphaMin, v)
	case acsMin:
		t.alphaMin = math.Min(v, t.alphaMax)
		t.lo, t.hi = math.Max(acsZeta*t.alphaMin, math.Min(t.cfg.AlphaFloor, t.alphaMax)), math.Min(t.alphaMin/acsZeta, t.alphaMax)
	case acsBal:
		for k := t.k; k < len(t.beta) && k < t.k+t.stride; k++ {
			t.beta[k] = v
		}
		t.k += t.stride
		t.hi = v
		if t.k >= len(t.beta) {
			t.enter(acsDone)
			return
		}
	}
	t.cand, t.sum = 0, [acsCandidates]float64{}
}

// finish ends the tuning with what has been learnt.
func (t *acsTune) finish() { t.stage = acsDone }
