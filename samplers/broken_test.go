package samplers

import (
	"context"
	"math/rand/v2"
	"testing"
)

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
		m.p = forgetsOld{m.p.(*gibbsProposer)}
	}
	return k, err
}

type forgetsOld struct{ *gibbsProposer }

func (f forgetsOld) Reverse(k int, _, y []int32, _ []float64) float64 {
	return -f.lp[k][y[f.i[k]]]
}

// TestBrokenEnergySamplersFail: on every target the enumeration finds what is
// wrong with copies of the samplers that have one deliberate error.
func TestBrokenEnergySamplersFail(t *testing.T) {
	t.Parallel()
	eachTable(t, 32, func(t *testing.T, _ *rand.Rand, tab *tableTarget) {
		for _, c := range []struct {
			name   string
			s      Sampler
			target Target
		}{
			{"gibbs of masked conditionals", &Gibbs{}, tab},
			{"gibbs-mh without its reverse term", &noReverse{}, tab},
			{"gibbs-mh with a conditional that is none", &GibbsMH{}, unmasked{tab}},
		} {
			if b, s := kernelErrors(t, tab, c.target, c.s, 1); b < 1e-6 && s < 1e-6 {
				t.Errorf("%s violates balance by %g only: the test has no power", c.name, b)
			}
		}
	})
}
