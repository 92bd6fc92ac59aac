package samplers

import "math"

// acsTune is the automatic tuning of ACS for one chain, spread over the n steps
// of the burn-in, for which the paper has 500 (section 4.4). It tunes
//
//   - α_min to the step size that is accepted with probability ρ* at BetaMin,
//     but at most α_max/√2, so that a cycle remains;
//   - α_max to the largest step size that is accepted with probability ρ* at
//     the β that is best for it. (In the paper this β is BetaMax. Where
//     coordinates depend on each other enough, BetaMax has ρ* only at steps
//     smaller than α_min; where they do not, BetaMax is the best β.)
//   - β_k to the most accepted β in [BetaMin, β_{k−1}].
//
// So a cycle begins at an acceptance near ρ* and goes above it: towards its end β_k is better than
// the BetaMin that α_min was tuned at. Where even AlphaCeil is accepted more often, α_max is
// AlphaCeil. That is 60 as in the paper's algorithm 2. Its appendix D.4, on learning, has 5. Where
// steps above 5 are accepted the difference counts: on 200 independent coordinates of 4 categories
// the ESS per evaluation is .46 with 60 and .13 with 5, on binary ones .67 and .53. On the Ising,
// Potts, RBM and regression targets of lab/compare both give the same within 20 %. With 60 the
// search has a range of 7 in place of 4.6 in log α, so that short burn-ins find α less exactly.
//
// The search takes the acceptance to fall as α grows. The paper's figure 3 has one that does not,
// on a deep model, which is why its search for α_max comes down from AlphaCeil (algorithm 4,
// lab/experiments/contrast). Where the acceptance falls below ρ* and rises above it again, α_max
// here may be the smaller of the step sizes that have it.
//
// The stages:
//
//  1. InitBurnin, min(100, n/5) steps: the first half at (AlphaCeil, BetaMax)
//     without acceptance test; the second with it, α falling to AlphaFloor and β
//     to BetaMin, because a large target accepts nothing at AlphaCeil alone.
//  2. EstimateAlphaMin, 3/10 of the rest: up to four rounds on α, β = BetaMin.
//     It comes before EstimateAlphaMax, whose search begins at its result.
//  3. EstimateAlphaMax, 4/10: a round on α, β = BetaMax, and then in turn one on
//     β at the α found and one on α at the β found, five rounds in all, or three
//     when there are fewer than 75 steps. When no α from α_min up has the
//     acceptance ρ* at BetaMax, β starts at BetaMin.
//  4. EstimateBalSched, 3/10: a round on β at each of up to five α, evenly spaced
//     in log α from α_max (whose β is known) down to α_min, of 15 steps or more.
//     β_k is linear in log α between them.
//
// A burn-in below 100 steps has EstimateAlphaMin only: its α is α_max, and β_k is BetaMin. A large
// target does not even forget its start in 25 steps; α_max then comes out too large. With given
// step sizes there are stages 1 and 4 only, β at α_max included. With FixedBeta there are stages 1
// to 3 without rounds on β. With both there is stage 1, at AlphaMax.
//
// A round tries five candidates, one step each in turn: so all are tried at the
// same states, the chain moves on while candidates that accept nothing are
// tried, and the states come from a chain that runs. What counts is the mean of
// the acceptance probabilities. Candidates for α are evenly spaced in log α;
// the first round spans [AlphaFloor, AlphaCeil], each later one ζ = ½ of the
// one before (in log α, at least a factor of 2) about the best so far, which
// may lie at an end, so that a misleading round is put right. The best is where
// the acceptance, made decreasing by isotonic regression over the rounds (each
// weighs half of the next), passes ρ*, between candidates. Candidates for β
// span [BetaMin, BetaMax], then half of it about the best so far, and in stage
// 4 [BetaMin, β of the larger α]; the one accepted most wins, refined by the
// parabola through it and its neighbours.
//
// The paper's algorithms 3, 4 and 5 are simpler. The tested steps of algorithm 3 are whole cycles
// of equation 8 from AlphaCeil to AlphaFloor, where ours fall once. A round of algorithm 4 tries
// step sizes within a share ζ|ρ − ρ*| of the best so far, below it for α_max and above it for
// α_min, one step each from the same state, and goes on from the best. (The text of appendix A adds
// and subtracts ζ|ρ − ρ*| in place of multiplying.) Algorithm 5 tries ten β at every position of
// the cycle but the first, which has β_max, and appends β_min.
type acsTune struct {
	cfg                ACS
	alphaMax, alphaMin float64
	beta               []float64 // β_k
	stage              acsStage
	burnin             int
	left               int  // steps left in the stage
	total              int  // steps of the stage
	rounds             int  // rounds left in the stage
	onBeta             bool // the present round varies β
	point              acsPoint
	lo, hi             float64 // range of the present round, of log α or β
	width, span        float64 // of the next range of log α and of β
	each               int     // steps per candidate; 0: none are tried
	n                  int     // steps made in the round
	sum                [acsCandidates]float64
	fit                isotonic
	knots              [acsKnots]acsPoint // EstimateBalSched: what has been found
	found, wanted      int
}

// acsPoint is a step size, as its logarithm, and its exponent.
type acsPoint struct{ logAlpha, beta float64 }

type acsStage uint8

const (
	acsFree acsStage = iota // InitBurnin, without acceptance test
	acsWarm                 // InitBurnin, with it
	acsMin
	acsMax
	acsBal
	acsDone
)

const (
	acsCandidates = 5
	acsZeta       = 0.5
	acsSpread     = math.Sqrt2 / 2 // α_min is at most this share of α_max
	acsInit       = 100            // steps of InitBurnin, and the least burn-in that has it
	acsRounds     = 4              // of EstimateAlphaMin, at most
	acsKnots      = 6              // of the β schedule, at most
)

func newACSTune(cfg ACS, burnin int) acsTune {
	t := acsTune{cfg: cfg, alphaMax: cfg.AlphaMax, alphaMin: cfg.AlphaMin, beta: make([]float64,
		cfg.Cycle), burnin: burnin}
	if t.alphaMax == 0 {
		t.alphaMax, t.alphaMin = cfg.AlphaCeil, cfg.AlphaFloor
	}
	t.linearBeta()
	t.stage = acsDone
	if burnin > 0 {
		t.enter(acsFree)
	}
	return t
}

// auto reports whether the step sizes are tuned, too.
func (t *acsTune) auto() bool { return t.cfg.AlphaMax == 0 }

// fixed reports whether nothing is tuned.
func (t *acsTune) fixed() bool { return !t.auto() && t.cfg.FixedBeta }

// linearBeta sets β_k where none is tuned: linearly with α_k.
func (t *acsTune) linearBeta() {
	for k := range t.beta {
		f := t.cosine(k) / t.alphaMax
		t.beta[k] = t.cfg.BetaMin + f*(t.cfg.BetaMax-t.cfg.BetaMin)
	}
}

// knotBeta sets β_k from the knots found, linearly in log α between them.
func (t *acsTune) knotBeta() {
	for k := range t.beta {
		x, j := math.Log(t.cosine(k)), 1
		for j < t.found && t.knots[j].logAlpha > x {
			j++
		}
		a := t.knots[j-1]
		t.beta[k] = a.beta
		if j < t.found {
			b := t.knots[j]
			f := math.Min(math.Max((a.logAlpha-x)/(a.logAlpha-b.logAlpha), 0), 1)
			t.beta[k] += f * (b.beta - a.beta)
		}
	}
}

// budget is the number of steps of a stage.
func (t *acsTune) budget(s acsStage) int {
	n, init := t.burnin, 0
	if n >= acsInit || t.fixed() {
		init = min(acsInit, n/5)
	}
	n -= init
	low, high := 0, 0 // of EstimateAlphaMin and EstimateAlphaMax
	switch {
	case !t.auto():
	case t.cfg.FixedBeta:
		low, high = n/2, n-n/2
	case t.burnin < acsInit:
		low = n
	default:
		low, high = n*3/10, n*4/10
	}
	switch s {
	case acsFree:
		return init / 2
	case acsWarm:
		return init - init/2
	case acsMin:
		return low
	case acsMax:
		return high
	case acsBal:
		if !t.cfg.FixedBeta {
			return n - low - high
		}
	}
	return 0
}

// enter begins a stage, or the first after it that has any steps.
func (t *acsTune) enter(s acsStage) {
	t.stage, t.total, t.rounds, t.onBeta, t.fit.n = s, t.budget(s), 0, false, 0
	t.left = t.total
	floor, ceil := math.Log(t.cfg.AlphaFloor), math.Log(t.cfg.AlphaCeil)
	affordable := t.total / acsCandidates
	switch {
	case s == acsDone:
		return
	case s == acsMin:
		t.rounds = min(acsRounds, affordable)
		t.point, t.width = acsPoint{(floor + ceil) / 2, t.cfg.BetaMin}, ceil-floor
	case s == acsMax && t.cfg.FixedBeta:
		t.rounds = min(acsRounds, affordable)
		t.point, t.width = acsPoint{(floor + ceil) / 2, t.cfg.BetaMax}, ceil-floor
	case s == acsMax && t.auto():
		if t.rounds = min(3, affordable); affordable >= 15 {
			t.rounds = 5
		}
		t.point, t.width = acsPoint{math.Log(t.alphaMin), t.cfg.BetaMax}, ceil-math.Log(t.alphaMin)
		t.span = t.cfg.BetaMax - t.cfg.BetaMin
	case s == acsBal && !t.cfg.FixedBeta:
		t.planKnots()
	}
	t.nextRound()
}

// planKnots decides at which step sizes EstimateBalSched tunes β. β at α_max is
// known already where α_max was tuned.
func (t *acsTune) planKnots() {
	t.found = 0
	if t.auto() {
		t.found = 1
	}
	t.rounds = min(acsKnots-t.found, t.total/(acsCandidates*3))
	if t.alphaMax == t.alphaMin {
		t.rounds = min(t.rounds, 1-t.found)
	} else if t.found+t.rounds < 2 {
		t.rounds = 0
	}
	t.wanted = t.found + t.rounds
	t.aim()
}

// aim sets α of the knot to be tuned next.
func (t *acsTune) aim() {
	hi, lo := math.Log(t.alphaMax), math.Log(t.alphaMin)
	t.point.logAlpha = hi
	if t.wanted > 1 {
		t.point.logAlpha += (lo - hi) * float64(t.found) / float64(t.wanted-1)
	}
}
