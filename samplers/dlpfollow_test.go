package samplers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// peaked has independent coordinates, each with one category that is far likelier than all others
// together: log-weights theta.
type peaked struct {
	domain *Domain
	theta  [][]float64
}

func newPeaked(t *testing.T, coords, k int, height float64) *peaked {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	p := &peaked{}
	dims := make([]Coord, coords)
	for i := range dims {
		dims[i] = Coord{Kind: Nominal, K: k}
		row := make([]float64, k)
		for v := range row {
			row[v] = rng.NormFloat64()
		}
		row[7*i] += height
		p.theta = append(p.theta, row)
	}
	var err error
	if p.domain, err = NewDomain(dims...); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *peaked) Domain() *Domain { return p.domain }

func (p *peaked) Energy(_ context.Context, x [][]int32, u []float64) error {
	for k := range x {
		u[k] = 0
		for i, v := range x[k] {
			u[k] += p.theta[i][v]
		}
	}
	return nil
}

func (p *peaked) EnergyGrad(ctx context.Context, x [][]int32, u []float64, g [][]float64) error {
	for k := range x {
		for i := range p.theta {
			copy(g[k][p.domain.GradOffset(i):], p.theta[i])
		}
	}
	return p.Energy(ctx, x, u)
}

// On a target of one likely state, where a step size that is right at a random start is far too
// small, 25 steps bring it to the acceptance that it aims at.
func TestStepSizesArrive(t *testing.T) {
	t.Parallel()
	const chains = 40
	target := newPeaked(t, 3, 2000, 12)
	rng := rand.New(rand.NewPCG(6, 6))
	starts := matrix[int32](chains, 3)
	for _, x := range starts {
		for i := range x {
			x[i] = rng.Int32N(2000)
		}
	}
	for _, s := range []Sampler{&DMALA{}, &DMALA{Precondition: []float64{0.8, 1, 1.25}},
		&DMALA{TargetAcceptance: 0.8}} {
		run, err := Start(t.Context(), s, target, starts, Options{Seed: 3, Burnin: 25})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Sample(t.Context(), 100); err != nil {
			t.Fatal(err)
		}
		var st Stats
		for _, c := range run.Stats {
			st.Add(c)
		}
		goal := s.(*DMALA).TargetAcceptance
		if goal == 0 {
			goal = usualAcceptance
		}
		if a := st.MeanProb(); math.Abs(a-goal) > 0.12 {
			t.Errorf("%+v: mean acceptance probability %.3f, %.3f wanted; step size %v", s, a, goal,
				run.Tuning(0))
		}
	}
}

// The openness of a state is what its definition says, whatever the step size is.
func TestOpenness(t *testing.T) {
	t.Parallel()
	target := newPeaked(t, 3, 300, 6)
	x := []int32{3, 7, 200} // the second at its peak
	for _, g := range []Balance{Sqrt, Ratio, Max, Min} {
		for _, step := range []float64{0.1, 0.5, 20} {
			for _, s := range [][]float64{nil, {0.5, 1, 2}} {
				c := &Chains{Target: target, Domain: target.domain, X: [][]int32{x}, Burnin: 10}
				d, err := newDLP(c, "dmala", 0, g, s, 0)
				if err != nil {
					t.Fatal(err)
				}
				d.now[0] = step
				p := dlpProposer{newFactorised(c.Domain, d, 1), d, newFollower(d)}
				grad := matrix[float64](1, c.Domain.GradLen())
				if err := target.EnergyGrad(t.Context(), c.X, make([]float64, 1), grad); err != nil {
					t.Fatal(err)
				}
				p.fill(&p.cur[0], 0, x, grad[0], x)
				want := -math.Log(math.Cbrt(2) - 1) // of three coordinates
				for i, v := range x {
					sum := 0.0
					for w, th := range target.theta[i] {
						if int32(w) != v {
							sum += math.Exp(g.Log(th-target.theta[i][v]) - g.Log(0))
						}
					}
					l := math.Log(sum)
					if s != nil {
						l *= s[i]
					}
					want += math.Max(1, l) / 3
				}
				if got := p.openness(0); math.Abs(got-want) > 1e-6 {
					t.Errorf("%v, step size %v, precondition %v: openness %v, want %v", g, step, s, got, want)
				}
				d.now[0] *= 2
				if got := p.openness(0); !math.IsNaN(got) {
					t.Errorf("openness %v from weights of another step size", got)
				}
			}
		}
	}
}
