package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSeeker: a scale is found whose logarithm is thousands away, and found again where it moves.
func TestSeeker(t *testing.T) {
	t.Parallel()
	// At a logarithm x a proposal moves with the first probability, and is accepted with the second.
	moves := func(x float64) float64 { return -math.Expm1(-math.Exp(x)) }
	accepted := func(x float64) float64 { return 1 / (1 + math.Exp(x)) }
	lo, hi := -20.0, 20.0
	for hi-lo > 1e-9 {
		x := (lo + hi) / 2
		if moves(x)*accepted(x)+1-moves(x) > usualAcceptance {
			lo = x
		} else {
			hi = x
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, at := range []float64{-3000, -40, 0, 700} {
		s := newSeeker(at+500, usualAcceptance)
		for n := range 400 {
			if n == 100 {
				at += 400
			}
			a := 1.0
			if x := s.log - at; rng.Float64() < moves(x) {
				a = accepted(x)
			}
			s.update(a)
		}
		s.freeze()
		if want := at + lo; math.Abs(s.log-want) > 1 {
			t.Errorf("the logarithm is %.2f, want %.2f", s.log, want)
		}
		before := s.log
		if s.update(0); s.log != before {
			t.Error("a scale changes after the burn-in")
		}
	}
}

// cliff is U(θ) = −2000(Σθ − 2)², whose rates span 10^4 nats.
type cliff struct{ dom *Domain }

func (c cliff) Domain() *Domain { return c.dom }

func (c cliff) Energy(ctx context.Context, x [][]int32, u []float64) error {
	return c.EnergyGrad(ctx, x, u, nil)
}

func (c cliff) EnergyGrad(_ context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k, x := range x {
		far := -2.0
		for _, v := range x {
			far += float64(v)
		}
		u[k] = -2000 * far * far
		for i := range x {
			if g != nil {
				g[k][i] = -4000 * far
			}
		}
	}
	return nil
}

// TestDLMCOnCliffs: chains come down from states whose rates no float64 holds, to those where two
// ones are left, and go from one of these to another.
func TestDLMCOnCliffs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, s := range []Sampler{&DLMC{}, &DLMC{Euler: true}} {
		ones := make([]int32, 12)
		for i := range ones {
			ones[i] = 1
		}
		run, err := Start(ctx, s, cliff{Bits(12)}, [][]int32{ones, ones, ones, ones},
			Options{Seed: 1, Burnin: 300})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Sample(ctx, 300); err != nil {
			t.Fatal(err)
		}
		for k, u := range run.U {
			if st := run.Stats[k]; u != 0 || st.MeanProb() < 0.3 || st.Hamming == 0 {
				t.Errorf("%s, chain %d: U = %g, mean probability %.2f, %d changes, %v", s.Info().Name, k, u,
					st.MeanProb(), st.Hamming, run.Tuning(k))
			}
		}
	}
}
