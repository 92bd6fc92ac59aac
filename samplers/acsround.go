package samplers

import "math"

// nextRound sets up the next round of the stage. After the last one the stage
// lasts until its steps are made.
func (t *acsTune) nextRound() {
	t.n, t.each, t.sum = 0, 0, [acsCandidates]float64{}
	if t.rounds > 0 {
		t.each = t.left / (acsCandidates * t.rounds)
	}
	if t.each == 0 {
		if t.left == 0 {
			t.end()
		}
		return
	}
	floor, ceil := math.Log(t.cfg.AlphaFloor), math.Log(t.cfg.AlphaCeil)
	switch {
	case t.stage == acsBal:
		t.onBeta, t.lo, t.hi = true, t.cfg.BetaMin, t.cfg.BetaMax
		if t.found > 0 {
			t.hi = t.knots[t.found-1].beta
		}
	case t.onBeta:
		t.lo = math.Max(math.Min(t.point.beta-t.span/2, t.cfg.BetaMax-t.span), t.cfg.BetaMin)
		t.hi = t.lo + t.span
		t.span *= acsZeta
	case t.stage == acsMax && !t.cfg.FixedBeta:
		// α_min has the acceptance ρ* at BetaMin, so the best β has it at a
		// larger α: from α_min to AlphaCeil at first, then about the best so
		// far with more room above than below.
		t.lo = math.Max(t.point.logAlpha-math.Ln2, math.Log(t.alphaMin))
		t.hi = math.Min(t.lo+t.width, ceil)
		t.width = 3 * math.Ln2
	default:
		t.lo = math.Max(math.Min(t.point.logAlpha-t.width/2, ceil-t.width), floor)
		t.hi = t.lo + t.width
		t.width = math.Min(t.width, math.Max(t.width*acsZeta, math.Ln2))
	}
}

// at is the point of candidate j of the present round.
func (t *acsTune) at(j int) acsPoint {
	p := t.point
	v := t.lo + (t.hi-t.lo)*float64(j)/(acsCandidates-1)
	if t.onBeta {
		p.beta = v
	} else {
		p.logAlpha = v
	}
	return p
}

// next is (α, β) of the next step, and whether it goes untested.
func (t *acsTune) next(done int) (alpha, beta float64, free bool) {
	switch t.stage {
	case acsFree:
		return t.alphaMax, t.cfg.BetaMax, true
	case acsWarm:
		f := float64(t.total-t.left) / float64(t.total)
		if t.fixed() {
			f = 0
		}
		return t.alphaMax * math.Pow(t.alphaMin/t.alphaMax,
			f), t.cfg.BetaMax + f*(t.cfg.BetaMin-t.cfg.BetaMax), false
	case acsMin, acsMax, acsBal:
		p := t.point
		if t.each > 0 {
			p = t.at(t.n % acsCandidates)
		}
		return math.Exp(p.logAlpha), p.beta, false
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
	if t.each > 0 && t.stage >= acsMin {
		t.sum[t.n%acsCandidates] += a
		if t.n++; t.n == t.each*acsCandidates {
			t.endRound()
			return
		}
	}
	if t.left <= 0 {
		t.end()
	}
}

// endRound takes over what the round has shown.
func (t *acsTune) endRound() {
	t.rounds--
	joint := t.stage == acsMax && !t.cfg.FixedBeta
	switch {
	case t.stage == acsBal:
		t.point.beta = t.bestBeta()
		t.knots[t.found] = t.point
		t.found++
		t.aim()
	case t.onBeta:
		t.point.beta = t.bestBeta()
		t.onBeta = false
	default:
		if joint {
			t.fit.n = 0 // another β
		}
		t.fit.discount(0.5)
		for j, s := range t.sum {
			t.fit.add(t.at(j).logAlpha, s/float64(t.each), float64(t.each))
		}
		var above bool
		t.point.logAlpha, above = t.fit.crossing(t.cfg.TargetAcceptance)
		if joint && !above {
			t.point = acsPoint{math.Log(t.alphaMin), t.cfg.BetaMin}
		}
		t.onBeta = joint
	}
	t.nextRound()
}

// bestBeta is the best candidate of a round on β, moved to the top of the
// parabola through it and its neighbours; the smallest β when all are equal.
func (t *acsTune) bestBeta() float64 {
	best := 0
	for j, s := range t.sum {
		if s > t.sum[best] {
			best = j
		}
	}
	v := float64(best)
	if best > 0 && best < acsCandidates-1 {
		a, b, c := t.sum[best-1], t.sum[best], t.sum[best+1]
		v += (c - a) / (2 * (2*b - a - c)) // b > a, b ≥ c
	}
	return t.lo + (t.hi-t.lo)*v/(acsCandidates-1)
}

// end closes a stage with what it has found and begins the next.
func (t *acsTune) end() {
	switch t.stage {
	case acsMin:
		if t.auto() {
			t.alphaMin = math.Exp(t.point.logAlpha)
		}
	case acsMax:
		if t.auto() {
			t.onBeta = false
			if t.total < acsCandidates {
				t.point = acsPoint{math.Log(t.alphaMin), t.cfg.BetaMin}
			}
			t.alphaMax = math.Exp(t.point.logAlpha)
			t.alphaMin = math.Min(t.alphaMin, t.alphaMax*acsSpread)
			t.linearBeta()
			t.knots[0] = t.point
		}
	case acsBal:
		if t.found == 1 && t.auto() {
			t.knots[1], t.found = acsPoint{math.Log(t.alphaMin), t.cfg.BetaMin}, 2
		}
		if !t.cfg.FixedBeta && t.found > 0 {
			t.knotBeta()
		}
	}
	t.enter(t.stage + 1)
}

// finish ends the tuning with what has been learnt.
func (t *acsTune) finish() {
	for range acsDone {
		if t.stage != acsDone {
			t.end()
		}
	}
}

// isotonic holds measured acceptances a at abscissae x with weights w, sorted
// by x.
type isotonic struct {
	x, a, w [acsRounds * acsCandidates]float64
	n       int
}

func (f *isotonic) discount(by float64) {
	for i := range f.n {
		f.w[i] *= by
	}
}

// add enters a measurement; there is room for all rounds of a stage.
func (f *isotonic) add(x, a, w float64) {
	i := f.n
	for ; i > 0 && f.x[i-1] > x; i-- {
		f.x[i], f.a[i], f.w[i] = f.x[i-1], f.a[i-1], f.w[i-1]
	}
	f.x[i], f.a[i], f.w[i] = x, a, w
	f.n++
}

// crossing is where the decreasing curve nearest to the measurements in least
// squares (pool adjacent violators) passes the goal, linear between blocks of
// equal value. Without a passage it is the first or last abscissa; above says
// that the curve reaches the goal at all.
func (f *isotonic) crossing(goal float64) (x float64, above bool) {
	b := *f
	b.n = 0
	for i := range f.n {
		b.x[b.n], b.a[b.n], b.w[b.n] = f.x[i], f.a[i], f.w[i]
		b.n++
		for b.n > 1 && b.a[b.n-1] >= b.a[b.n-2] {
			p, q := b.n-2, b.n-1
			w := b.w[p] + b.w[q]
			b.x[p] = (b.w[p]*b.x[p] + b.w[q]*b.x[q]) / w
			b.a[p] = (b.w[p]*b.a[p] + b.w[q]*b.a[q]) / w
			b.w[p] = w
			b.n--
		}
	}
	switch {
	case b.a[0] < goal:
		return f.x[0], false
	case b.a[b.n-1] >= goal:
		return f.x[f.n-1], true
	}
	i := 1
	for b.a[i] >= goal {
		i++
	}
	r := (b.a[i-1] - goal) / (b.a[i-1] - b.a[i])
	return b.x[i-1] + r*(b.x[i]-b.x[i-1]), true
}
