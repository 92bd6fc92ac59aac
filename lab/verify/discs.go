package verify

import (
	"context"
	"math"
	"math/rand/v2"

	"infill/lab/internal/diag"
	"infill/samplers"
)

// lattice is the Ising model of section 6 with everything that a locally
// balanced sampler needs of a site worked out once: it depends on the site's
// spin and on how many of its neighbours are up only. Such a class has the
// number 10·site + 5·spin + neighbours up.
type lattice struct {
	near  [][]int   // neighbours of each site
	delta []float64 // ΔU of a flip, by class
	rate  []float64 // Q = g(exp(Δ))
	refs  [][]int32 // reference states
}

func newLattice(u []float64, refs [][]int32, g samplers.Balance) *lattice {
	b := discsField(u)
	l := &lattice{near: make([][]int, len(b)), refs: refs}
	l.delta, l.rate = make([]float64, 10*len(b)), make([]float64, 10*len(b))
	for i := range b {
		r, c := i/side, i%side
		for _, n := range []struct {
			ok bool
			j  int
		}{{r > 0, i - side}, {r < side-1, i + side}, {c > 0, i - 1}, {c < side-1, i + 1}} {
			if n.ok {
				l.near[i] = append(l.near[i], n.j)
			}
		}
		for s := range 2 {
			for up := range len(l.near[i]) + 1 {
				k := 10*i + 5*s + up
				l.delta[k] = -2 * float64(2*s-1) * (b[i] + float64(2*up-len(l.near[i])))
				l.rate[k] = math.Exp(g.Log(l.delta[k]))
			}
		}
	}
	return l
}

// solver is how a flip's probability follows from h, Q and ν.
type solver int

const (
	interpolate  solver = iota // DLMC: ν(1−exp(−hQ/ν))
	eulerClipped               // DLMCf as DISCS has it for two categories: min(hQ, ν)
	// as it has it for more, and as samplers.DLMCf: hQ/(hQ + max(1−hQ, 1−ν))
	eulerScaled
)

// flips is a proposal at one h, by class.
type flips struct {
	below []uint32  // flip where 32 random bits are less
	logit []float64 // log P(flip) − log P(stay)
	stay  []float64 // log P(stay)
}

func (l *lattice) flips(s solver, h float64) *flips {
	f := &flips{make([]uint32, len(l.rate)), make([]float64, len(l.rate)),
		make([]float64, len(l.rate))}
	for k, q := range l.rate {
		if q == 0 {
			continue // no such class
		}
		nu, other := 1/(1+math.Exp(-l.delta[k])), 1/(1+math.Exp(l.delta[k]))
		p, stay := h*q, 0.0
		switch s {
		case interpolate:
			p, stay = -nu*math.Expm1(-h*q/nu), other+nu*math.Exp(-h*q/nu)
		case eulerClipped:
			if stay = 1 - p; p > nu {
				p, stay = nu, other
			}
		case eulerScaled:
			stay = math.Max(1-p, other)
			p, stay = p/(p+stay), stay/(p+stay)
		}
		f.below[k] = uint32(math.Min(p*(1<<32), 1<<32-1))
		f.logit[k], f.stay[k] = math.Log(p)-math.Log(stay), math.Log(stay)
	}
	return f
}

// latticeChain is a chain on a lattice.
type latticeChain struct {
	class, next []uint8 // the class of each site, without the site
	rng         *rand.PCG
	far         []uint16 // Σ|x − x0| for each reference state
	at          *flips
	stay        float64 // Σ log P(stay) at the state, by at
	flip, touch []int   // scratch
	seen        []int   // step that last touched a site
	step        int
}

func (l *lattice) chain(rng *rand.Rand) *latticeChain {
	c := &latticeChain{class: make([]uint8, len(l.near)), next: make([]uint8, len(l.near)),
		seen: make([]int, len(l.near)), rng: rand.NewPCG(rng.Uint64(), 1)}
	x := make([]int32, len(l.near))
	for i := range x {
		x[i] = int32(rng.IntN(2))
	}
	for _, ref := range l.refs {
		c.far = append(c.far, uint16(hamming(x, ref)))
	}
	for i, near := range l.near {
		c.class[i] = uint8(5 * x[i])
		for _, j := range near {
			c.class[i] += uint8(x[j])
		}
	}
	return c
}

// move proposes and decides. It returns the probability of acceptance.
func (c *latticeChain) move(l *lattice, f *flips) float64 {
	if c.at != f {
		c.at, c.stay = f, 0
		for i, k := range c.class {
			c.stay += f.stay[10*i+int(k)]
		}
	}
	c.flip, c.touch = c.flip[:0], c.touch[:0]
	for i := 0; i < len(c.class); i += 2 {
		r := c.rng.Uint64()
		if uint32(r) < f.below[10*i+int(c.class[i])] {
			c.flip = append(c.flip, i)
		}
		if uint32(r>>32) < f.below[10*i+10+int(c.class[i+1])] {
			c.flip = append(c.flip, i+1)
		}
	}
	if len(c.flip) == 0 {
		return 1
	}
	c.step++
	copy(c.next, c.class)
	la := 0.0
	touch := func(i int) {
		if c.seen[i] != c.step {
			c.seen[i], c.touch = c.step, append(c.touch, i)
		}
	}
	for _, i := range c.flip {
		la -= f.logit[10*i+int(c.class[i])]
	}
	for _, i := range c.flip {
		la += l.delta[10*i+int(c.next[i])]
		up := c.next[i] < 5
		touch(i)
		if up {
			c.next[i] += 5
		} else {
			c.next[i] -= 5
		}
		for _, j := range l.near[i] {
			touch(j)
			if up {
				c.next[j]++
			} else {
				c.next[j]--
			}
		}
	}
	stay := c.stay
	for _, i := range c.touch {
		stay += f.stay[10*i+int(c.next[i])] - f.stay[10*i+int(c.class[i])]
	}
	for _, i := range c.flip {
		la += f.logit[10*i+int(c.next[i])]
	}
	la += stay - c.stay
	p := math.Exp(math.Min(la, 0))
	if float64(c.rng.Uint64()>>11) < p*(1<<53) {
		c.class, c.next = c.next, c.class
		c.stay = stay
		for _, i := range c.flip {
			v := int32(c.class[i] / 5)
			for j, ref := range l.refs {
				if ref[i] == v {
					c.far[j]--
				} else {
					c.far[j]++
				}
			}
		}
	}
	return p
}

// discsRun is what chains with the adaptation of DISCS gave.
type discsRun struct {
	ESS   [][]float64 // by reference state and chain; 1 for a chain that did not move
	Stuck int         // chains that did not move in the kept steps
}

// runDISCS runs DLMC as the code of DISCS has it: h = τ is common to all
// chains, begins at 1, and changes at every step, the kept ones too, by
// 3(a−.574)/Z, down to 1/Z at least. The a is the mean acceptance probability of the chains
// and Z their mean ΣQ, taken at each of the first 200 steps and at every 20th
// afterwards. τ is rounded to a per cent, so that few proposals are worked out.
func runDISCS(ctx context.Context, l *lattice, s solver, chains, burnin, steps int,
	seed uint64) (*discsRun, error) {
	rng := rand.New(rand.NewPCG(seed, 6))
	c := make([]*latticeChain, chains)
	f := make([][][]uint16, chains) // [chain][reference state][step]
	for k := range c {
		c[k] = l.chain(rng)
		f[k] = make([][]uint16, len(l.refs))
		for j := range f[k] {
			f[k][j] = make([]uint16, 0, steps)
		}
	}
	known := map[int]*flips{}
	tau, z := 1.0, 0.0
	for n := 1; n <= burnin+steps; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cent := int(math.Round(100 * math.Log(tau)))
		if known[cent] == nil {
			if len(known) > 100 {
				clear(known)
			}
			known[cent] = l.flips(s, math.Exp(float64(cent)/100))
		}
		a := 0.0
		for k := range c {
			a += c[k].move(l, known[cent]) / float64(chains)
			if n > burnin {
				for j, v := range c[k].far {
					f[k][j] = append(f[k][j], v)
				}
			}
		}
		if n < 200 || n%20 == 0 {
			z = 0
			for _, c := range c {
				for i, k := range c.class {
					z += l.rate[10*i+int(k)] / float64(chains)
				}
			}
		}
		tau = math.Max(tau*z+3*(a-0.574), 1) / z
	}
	out := &discsRun{ESS: make([][]float64, len(l.refs))}
	x := make([]float64, steps)
	for k := range f {
		for j := range f[k] {
			moved := false
			for n, v := range f[k][j] {
				x[n] = float64(v)
				moved = moved || v != f[k][j][0]
			}
			ess := 1.0
			if moved {
				ess = diag.ESSFirst(x)
			} else if j == 0 {
				out.Stuck++
			}
			out.ESS[j] = append(out.ESS[j], ess)
		}
	}
	return out, nil
}
