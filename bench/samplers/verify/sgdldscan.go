package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// The law of SGDLD's weighted states on the Gaussian–Bernoulli model of
// section 4, without the Monte Carlo error of a chain: a visit to a state is
// simulated many times over, every jump by its probability instead of a draw,
// and the balance of the visits is solved. By the symmetries of the model (any
// order of the coordinates, all bits flipped) the 16 states are 3 classes: one
// bit unlike the others in class 1, two in class 2, none in class 0.

// estimator is a way to turn mini-batches into ratios r̂ of neighbours.
type estimator struct {
	name string
	// add adds an estimate to the cache. f are the flip logits at the state, by
	// a draw of the auxiliary variable u, f2 by a second one, and back those of
	// the return at each neighbour, by a draw of u given that neighbour.
	add func(num, den []float64, f, f2, back, joint *[4]float64)
	// two and nb say that f2 and back are used.
	two, nb     bool
	logs, rates bool // num is a sum of logarithms. With rates set, g is left out
}

var estimators = []estimator{
	{name: "mean ψ_i(y) / mean ψ_i(x), one site",
		add: func(num, den []float64, f, _, _, _ *[4]float64) {
			for i, l := range f {
				num[i] += logistic(l)
				den[i] += logistic(-l)
			}
		}},
	{name: "mean ψ(y) / mean ψ(x), all sites", add: func(num, den []float64, f, _, _, _ *[4]float64) {
		p := stay(f)
		for i, l := range f {
			num[i] += p * math.Exp(l)
			den[i] += p
		}
	}},
	{name: "mean of ψ(y)/ψ(x)", add: func(num, den []float64, f, _, _, _ *[4]float64) {
		for i, l := range f {
			num[i] += math.Exp(l)
			den[i]++
		}
	}},
	{name: "mean of log ψ(y)/ψ(x)", logs: true, add: func(num, den []float64, f, _, _, _ *[4]float64) {
		for i, l := range f {
			num[i] += l
			den[i]++
		}
	}},
	{name: "ψ_i(y) and ψ_i(x) from separate draws", two: true,
		add: func(num, den []float64, f, f2, _, _ *[4]float64) {
			for i, l := range f {
				num[i] += logistic(l)
				den[i] += logistic(-f2[i])
			}
		}},
	{name: "mean ψ_i(y) given x / mean ψ_i(x) given y", nb: true,
		add: func(num, den []float64, f, _, back, _ *[4]float64) {
			for i, l := range f {
				num[i] += logistic(l)
				den[i] += logistic(back[i])
			}
		}},
	{name: "mean ψ(y) given x / mean ψ(x) given y, all sites", nb: true,
		add: func(num, den []float64, f, _, _, joint *[4]float64) {
			p := stay(f)
			for i, l := range f {
				num[i] += p * math.Exp(l)
				den[i] += joint[i]
			}
		}},
	{name: "rate = mean ψ(y), all sites", rates: true,
		add: func(num, den []float64, f, _, _, _ *[4]float64) {
			p := stay(f)
			for i, l := range f {
				num[i] += p * math.Exp(l)
				den[i]++
			}
		}},
}

// balances are functions g(t) = t·g(1/t), and one that is not balanced.
var balances = []struct {
	name string
	g    func(t float64) float64
}{
	{"t/(1+t)", func(t float64) float64 { return t / (1 + t) }},
	{"√t", math.Sqrt},
	{"min(1,t)", func(t float64) float64 { return math.Min(1, t) }},
	{"max(1,t)", func(t float64) float64 { return math.Max(1, t) }},
	{"1+t", func(t float64) float64 { return 1 + t }},
	{"(t−1)/log t", func(t float64) float64 {
		if math.Abs(t-1) < 1e-6 {
			return 1
		}
		return (t - 1) / math.Log(t)
	}},
	{"t log t/(t−1)", func(t float64) float64 {
		if math.Abs(t-1) < 1e-6 {
			return 1
		}
		return t * math.Log(t) / (t - 1)
	}},
	{"t (not balanced)", func(t float64) float64 { return t }},
}

// normalisers are what h is divided by to give ε. The argument self is g(1).
var normalisers = []struct {
	name string
	of   func(r *[4]float64, sum, self float64) float64
}{
	{"ΣR", func(_ *[4]float64, sum, _ float64) float64 { return sum }},
	{"g(1) + ΣR", func(_ *[4]float64, sum, self float64) float64 { return self + sum }},
	{"4g(1) + ΣR", func(_ *[4]float64, sum, self float64) float64 { return 4*self + sum }},
	{"‖R‖₂", func(r *[4]float64, _, _ float64) float64 {
		return math.Sqrt(r[0]*r[0] + r[1]*r[1] + r[2]*r[2] + r[3]*r[3])
	}},
	{"max R", func(r *[4]float64, _, _ float64) float64 { return slices.Max(r[:]) }},
}

func logistic(l float64) float64 { return 1 / (1 + math.Exp(-l)) }

// stay is ψ(x) over all sites.
func stay(f *[4]float64) float64 {
	p := 1.0
	for _, l := range f {
		p *= logistic(-l)
	}
	return p
}

// draw fills f with the flip logits at class c (its first c bits are 1) by one
// draw of u: l = W^½u + b with W^½u ~ N(Wx, W), and W = ½I + ½11ᵀ. With apart
// every logit has a draw of its own.
func draw(rng *rand.Rand, c int, apart bool, f *[4]float64) {
	common := rng.NormFloat64()
	for i := range f {
		if apart {
			common = rng.NormFloat64()
		}
		mean, sign := 0.5*float64(c)-1.25, 1.0
		if i < c {
			mean, sign = mean+0.5, -1
		}
		f[i] = sign * (mean + math.Sqrt(0.5)*(common+rng.NormFloat64()))
	}
}

// flows are the weight of a visit to each class, and where it ends.
type flows struct {
	weight [3]float64    // Σ ε over the steps of a visit
	jump   [3][3]float64 // expected jumps from a class to a class
	before [3]float64    // Σ ε over the steps that stay
	after  [3][3]float64 // Σ ε over the steps that jump, by where to
}

// law is the distribution over classes of states weighted by their own ε, and
// of states weighted by the ε that led to them.
func (f *flows) law() (own, led [3]float64) {
	v := [3]float64{1, 1, 1}
	for range 2000 { // the classes alternate: average two steps
		var n [3]float64
		for a := range 3 {
			out := f.jump[a][0] + f.jump[a][1] + f.jump[a][2]
			for b := range 3 {
				n[b] += v[a] * f.jump[a][b] / out
			}
		}
		for a := range 3 {
			v[a] = (v[a] + n[a]) / 2
		}
	}
	for a := range 3 {
		out := f.jump[a][0] + f.jump[a][1] + f.jump[a][2]
		own[a] += v[a] * f.weight[a] / out
		led[a] += v[a] * f.before[a] / out
		for b := range 3 {
			led[b] += v[a] * f.after[a][b] / out
		}
	}
	return own, led
}

// classTV is the total variation between π and a law over classes.
func classTV(law [3]float64, pi [5]float64) float64 {
	truth := [3]float64{2 * pi[0], 8 * pi[1], 6 * pi[2]}
	sum, tv := law[0]+law[1]+law[2], 0.0
	for c, p := range truth {
		tv += math.Abs(law[c]/sum-p) / 2
	}
	return tv
}

// visits simulates n visits to every class with one estimator, for all
// balancing functions and normalisers on the same draws, or for one of each.
func visits(rng *rand.Rand, e *estimator, apart, cache bool, h float64, n int,
	only *[2]int) [][]flows {
	out := make([][]flows, len(balances))
	for j := range out {
		out[j] = make([]flows, len(normalisers))
	}
	steps := 1
	if cache {
		steps = int(math.Ceil(math.Log(3e-4) / math.Log(1-h)))
	}
	alive := make([]float64, len(balances)*len(normalisers))
	var f, f2, back, joint [4]float64
	num, den := make([]float64, 4), make([]float64, 4)
	for c := range 3 {
		for range n {
			for j := range alive {
				alive[j] = 1
			}
			clear(num)
			clear(den)
			for range steps {
				draw(rng, c, apart, &f)
				if e.two {
					draw(rng, c, apart, &f2)
				}
				if e.nb {
					for i := range 4 {
						to, at := c+1, c // the neighbour's class, and where its odd bit is
						if i < c {
							to, at = c-1, c-1
						}
						var g [4]float64
						draw(rng, to, false, &g)
						back[i], joint[i] = g[at], stay(&g)*math.Exp(g[at])
					}
				}
				e.add(num, den, &f, &f2, &back, &joint)
				step(e, out, alive, c, h, num, den, only)
			}
		}
	}
	return out
}

// step adds one step of a visit to class c to the flows of all settings.
func step(e *estimator, out [][]flows, alive []float64, c int, h float64, num, den []float64,
	only *[2]int) {
	for j := range balances {
		if e.rates && j > 0 {
			break
		}
		if only != nil && j != only[0] {
			continue
		}
		var r [4]float64
		sum := 0.0
		for i := range r {
			t := num[i] / den[i]
			if e.logs {
				t = math.Exp(t)
			}
			if !e.rates {
				t = balances[j].g(t)
			}
			r[i] = t
			sum += t
		}
		self := balances[j].g(1)
		for m := range normalisers {
			if only != nil && m != only[1] {
				continue
			}
			fl, a := &out[j][m], &alive[j*len(normalisers)+m]
			eps := h / normalisers[m].of(&r, sum, self)
			go1 := math.Min(1, eps*sum)
			fl.weight[c] += *a * eps
			fl.before[c] += *a * (1 - go1) * eps
			for i, q := range r {
				to := c + 1
				if i < c {
					to = c - 1
				}
				to = min(to, 4-to)
				fl.jump[c][to] += *a * go1 * q / sum
				fl.after[c][to] += *a * go1 * q / sum * eps
			}
			*a *= 1 - go1
		}
	}
}

// setting is one reading of the published description.
type setting struct {
	est   *estimator
	apart bool // a draw of u for every neighbour
	g, z  int  // indices into balances and normalisers
	led   bool // ε weighs the state that it led to
	l1    bool // the error is L1, twice the total variation
}

func (s setting) String() string {
	out := s.est.name
	if s.apart {
		out += ", a draw of u per neighbour"
	}
	if !s.est.rates {
		out += ", g = " + balances[s.g].name
	}
	out += ", Z = " + normalisers[s.z].name
	if s.led {
		out += ", ε to the next state"
	}
	if s.l1 {
		return out + ", L1"
	}
	return out
}

// result is a setting with its four errors, in the order of sgdldCases.
type result struct {
	setting
	err, se [4]float64
}

// off is the largest deviation from the published errors, as |log ratio|.
func (r *result) off() float64 {
	off := 0.0
	for ci, c := range sgdldCases {
		off = math.Max(off, math.Abs(math.Log(r.err[ci]/c.want)))
	}
	return off
}

// seen reads the error of a setting out of the flows of its visits.
func (s setting) seen(fl [][]flows, pi [5]float64) float64 {
	own, led := fl[s.g][s.z].law()
	if s.led {
		own = led
	}
	tv := classTV(own, pi)
	if s.l1 {
		tv *= 2
	}
	return tv
}

// size is the number of visits that costs about as much as n steps.
func size(n int, cache bool, h float64) int {
	if cache && h < 0.5 {
		return n / 8
	}
	return n
}

// scanSGDLD evaluates all settings roughly, nearest to the published errors
// first.
func scanSGDLD(pi [5]float64, n int, seed uint64) []result {
	var out []result
	for ei := range estimators {
		e := &estimators[ei]
		for _, apart := range []bool{false, true} {
			if apart && (e.nb || e.rates) {
				continue
			}
			var fl [4][][]flows
			for ci, c := range sgdldCases {
				rng := rand.New(rand.NewPCG(seed, uint64(100*ei+ci)))
				fl[ci] = visits(rng, e, apart, c.cache, c.h, size(n, c.cache, c.h), nil)
			}
			for g := range balances {
				if e.rates && g > 0 {
					break
				}
				for z := range normalisers {
					for how := range 4 {
						r := result{setting: setting{e, apart, g, z, how >= 2, how%2 == 1}}
						for ci := range r.err {
							r.err[ci] = r.seen(fl[ci], pi)
						}
						out = append(out, r)
					}
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b result) int { return cmp.Compare(a.off(), b.off()) })
	return out
}

// refine evaluates one setting again, from groups that give standard errors.
func refine(s setting, pi [5]float64, n int, seed uint64) result {
	r := result{setting: s}
	const groups = 8
	for ci, c := range sgdldCases {
		var v []float64
		for j := range groups {
			rng := rand.New(rand.NewPCG(seed, uint64(1000+groups*ci+j)))
			fl := visits(rng, s.est, s.apart, c.cache, c.h, size(n, c.cache, c.h)/groups, &[2]int{s.g, s.z})
			v = append(v, s.seen(fl, pi))
		}
		e := over(v)
		r.err[ci], r.se[ci] = e.mean, e.se
	}
	return r
}
