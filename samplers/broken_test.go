package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// forgetful leaves a term out of the energies that it gives a sampler.
type forgetful struct{ *tableTarget }

func (f forgetful) Energy(ctx context.Context, x [][]int32, u []float64) error {
	err := f.tableTarget.Energy(ctx, x, u)
	for k := range x {
		u[k] -= 0.4 * float64(x[k][len(x[k])-1])
	}
	return err
}

// unmasked lets the conditional see the coordinate that it is to be blind to, so
// that the reverse term of Gibbs–MH is taken from a wrong conditional.
type unmasked struct{ *tableTarget }

func (m unmasked) Conditional(
	ctx context.Context, x [][]int32, i []int, lp [][]float64,
) error {
	err := m.tableTarget.Conditional(ctx, x, i, lp)
	for k := range x {
		lp[k][x[k][i[k]]] += 0.3 * float64(x[k][i[k]]+1)
	}
	return err
}

// noReverse is Gibbs–MH without the reverse term log f(θ_i) of its ratio.
type noReverse struct{ GibbsMH }

func (s *noReverse) Attach(c *Chains) (Kernel, error) {
	k, err := s.GibbsMH.Attach(c)
	if err == nil {
		m := k.(*mhKernel)
		m.p = forgetsOld{m.p.(*gibbsMHProposer)}
	}
	return k, err
}

type forgetsOld struct{ *gibbsMHProposer }

func (f forgetsOld) Reverse(k int, _, y []int32, _ []float64) float64 {
	return -f.lp[k][y[f.i[k]]]
}

// halfLB1 is LB-1 without the reverse term Z_g(θ') of its ratio.
type halfLB1 struct{ LB1 }

func (s *halfLB1) Attach(c *Chains) (Kernel, error) {
	k, err := s.LB1.Attach(c)
	if err != nil {
		return nil, err
	}
	return &halfBalanced{k.(*lb1Kernel)}, nil
}

type halfBalanced struct{ *lb1Kernel }

func (l *halfBalanced) Step(ctx context.Context) error {
	l.draw()
	if err := l.score(ctx, l.y, l.next); err != nil {
		return err
	}
	for k := range l.c.X {
		l.decide(k, 0)
	}
	return nil
}

// fixedCentre is a Hamming ball sampler that forgets to draw the centre.
type fixedCentre struct{ HammingBall }

func (f *fixedCentre) Attach(c *Chains) (Kernel, error) {
	k, err := f.HammingBall.Attach(c)
	if err == nil {
		k.(*ballKernel).recentre = false
	}
	return k, err
}

// notDrawn is block Gibbs whose weights depend on the state at hand: its own
// energy is raised within the block, so that the draw favours staying.
type notDrawn struct{ BlockGibbs }

func (s *notDrawn) Attach(c *Chains) (Kernel, error) {
	k, err := s.BlockGibbs.Attach(c)
	if err == nil {
		c.Target = sticky{c.Target, c}
	}
	return k, err
}

// sticky gives the state at hand more weight in its block than its
// normaliser has room for.
type sticky struct {
	Target
	c *Chains
}

func (s sticky) Energy(ctx context.Context, x [][]int32, u []float64) error {
	err := s.Target.Energy(ctx, x, u)
	for k := range x {
		if len(x) > 1 && hamming(x[k], s.c.X[0]) == 0 {
			u[k] += math.Abs(u[k])
		}
	}
	return err
}

// TestBrokenEnergySamplersFail: on every target the enumeration finds what is
// wrong with copies of the samplers that have one deliberate error.
func TestBrokenEnergySamplersFail(t *testing.T) {
	t.Parallel()
	eachTable(t, 32, func(t *testing.T, _ *rand.Rand, tab *tableTarget) {
		last := tab.dom.free[tab.dom.Len()-1] > 1
		for _, c := range []struct {
			name   string
			s      Sampler
			target Target
		}{
			{"gibbs of masked conditionals", &Gibbs{}, tab},
			{"exact-gibbs without a term", &ExactGibbs{}, forgetful{tab}},
			{"block-gibbs without a term", &BlockGibbs{}, forgetful{tab}},
			{"block-gibbs, weights that depend on the state", &notDrawn{}, tab},
			{"gibbs-mh without its reverse term", &noReverse{}, tab},
			{"gibbs-mh with a conditional that is none", &GibbsMH{}, unmasked{tab}},
			{"hb around the state itself", &fixedCentre{HammingBall{Block: 2}}, tab},
			{"lb1 without its reverse term", &halfLB1{LB1{Balance: Ratio}}, tab},
			{"lb1 without acceptance", uncorrected{&LB1{Balance: Ratio}}, tab},
		} {
			if _, ok := c.target.(forgetful); ok && !last {
				continue // the term is constant
			}
			if b, s := kernelErrors(t, tab, c.target, c.s, 1); b < 1e-6 && s < 1e-6 {
				t.Errorf("%s violates balance by %g only: the test has no power", c.name, b)
			}
		}
	})
}
