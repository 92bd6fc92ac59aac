package samplers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// scalesOf runs ACS for n steps on a small target and returns (α, β) of each
// step and the kernel's tuning.
func scalesOf(t *testing.T, s *ACS, burnin, n int) ([][2]float64, *acsProposer) {
	t.Helper()
	tab := newTable(rand.New(rand.NewPCG(3, 1)), Bits(4), 1, 0.2)
	run, err := Start(
		context.Background(), s, tab, [][]int32{{0, 1, 0, 1}}, Options{Seed: 1, Burnin: burnin},
	)
	if err != nil {
		t.Fatal(err)
	}
	p := run.kernel.(*mhKernel).p.(*acsProposer)
	var out [][2]float64
	if err := run.Steps(context.Background(), n, func(*Run) error {
		out = append(out, [2]float64{p.now[0], p.beta[0]})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out, p
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) }

// TestACSSchedule compares α_k and β_k of given step sizes with numbers worked
// out by hand: cos(π k/4) is 1, √½, 0, −√½.
func TestACSSchedule(t *testing.T) {
	t.Parallel()
	r := math.Sqrt2 / 2
	for _, c := range []struct {
		power float64
		alpha [4]float64
	}{
		{0, [4]float64{2, 1 + r, 1, 0.5}},
		{4, [4]float64{2, math.Pow(1+r, 4) / 8, 0.5, 0.5}},
	} {
		s := &ACS{
			AlphaMax: 2, AlphaMin: 0.5, BetaMax: 0.9, BetaMin: 0.6, Cycle: 4, Power: c.power,
			FixedBeta: true,
		}
		const burnin = 26 // of which min(100, 26/5) steps are InitBurnin
		got, _ := scalesOf(t, s, burnin, burnin+12)
		for n, g := range got {
			k := n % 4
			if n < burnin/5 {
				k = 0
			}
			if beta := 0.6 + 0.3*c.alpha[k]/2; !near(g[0], c.alpha[k]) || !near(g[1], beta) {
				t.Errorf("power %g, step %d: (α, β) = %v, want (%g, %g)", c.power, n, g, c.alpha[k], beta)
			}
		}
	}
}

// TestACSInitBurnin is algorithm 3 of the paper: 50 steps at α_ceil and β_max without an acceptance
// test, and 50 with it, in which both fall to α_floor and β_min, once and not in cycles.
func TestACSInitBurnin(t *testing.T) {
	t.Parallel()
	full, err := (&ACS{}).config()
	if err != nil {
		t.Fatal(err)
	}
	tune := newACSTune(full, 500)
	last := [2]float64{60, 0.95}
	for n := range 100 {
		a, b, free := tune.next(n)
		if first := n < 50; free != first || first && (a != 60 || b != 0.95) {
			t.Errorf("step %d: (α, β) = (%g, %g), untested %v", n, a, b, free)
		}
		if n > 50 && !(a < last[0] && b < last[1]) {
			t.Errorf("step %d: (α, β) = (%g, %g) after %v", n, a, b, last)
		}
		last = [2]float64{a, b}
		tune.learn(0.5)
	}
	if last[0] > 0.06 || last[1] > 0.51 || tune.stage != acsMin {
		t.Errorf("ends at (α, β) = %v in stage %d, want near (.05, .5)", last, tune.stage)
	}
}

// TestACSTuningEnds: with the last step of a burn-in of any length the tuning
// is over, has changed the step sizes, and the cycle runs on what it found,
// which never changes again.
func TestACSTuningEnds(t *testing.T) {
	t.Parallel()
	for _, burnin := range []int{0, 1, 4, 5, 7, 25, 99, 100, 101, 137, 500, 2000} {
		for _, s := range []*ACS{{}, {FixedBeta: true}, {AlphaMax: 2, AlphaMin: 0.5}, {AlphaMax: 2, AlphaMin: 2}, {Cycle: 1}, {Cycle: 3, Power: 4}} {
			name := fmt.Sprintf("%+v, burn-in %d", *s, burnin)
			_, p := scalesOf(t, s, burnin, burnin)
			tune := &p.tunes[0]
			if tune.stage != acsDone || tune.left > 0 {
				t.Errorf("%s: ends in stage %d with %d steps left", name, tune.stage, tune.left)
				continue
			}
			if auto := s.AlphaMax == 0; auto && burnin > 4 &&
				(tune.alphaMax == acsAlphaCeil && tune.alphaMin == acsAlphaFloor) {
				t.Errorf("%s: step sizes are as at the start", name)
			}
			if tune.alphaMin > tune.alphaMax ||
				s.AlphaMax == 0 && burnin > 0 && tune.alphaMin > tune.alphaMax*acsSpread {
				t.Errorf("%s: α from %g to %g is no cycle", name, tune.alphaMax, tune.alphaMin)
			}
			atEnd := p.Tuning(0)
			for k, b := range tune.beta {
				if !(b >= acsBetaMin && b <= acsBetaMax) || k > 0 && b > tune.beta[k-1]+1e-12 {
					t.Errorf("%s: β_%d = %g", name, k, b)
				}
			}
			got, p := scalesOf(t, s, burnin, burnin+2*len(tune.beta)+1)
			if later := p.Tuning(0); fmt.Sprint(later) != fmt.Sprint(atEnd) {
				t.Errorf("%s: tuned to %v, later %v", name, atEnd, later)
			}
			for n, g := range got[burnin:] {
				k := (burnin + n) % len(tune.beta)
				c := (math.Cos(math.Pi*float64(k)/float64(len(tune.beta))) + 1) / 2
				if s.Power > 0 {
					c = math.Pow(c, s.Power)
				}
				if alpha := math.Max(atEnd["alpha-max"]*c, atEnd["alpha-min"]); !near(g[0], alpha) ||
					g[1] != tune.beta[k] {
					t.Errorf("%s, position %d: (α, β) = %v, want (%g, %g)", name, k, g, alpha, tune.beta[k])
				}
			}
		}
	}
}

// hill is an acceptance of known answer: at β it is ½ where α = reach(β), which
// is largest at β = 0.71.
func hill(alpha, beta float64) float64 {
	x := alpha / reach(beta)
	return 1 / (1 + x*x*x)
}

func reach(beta float64) float64 {
	x := (beta - 0.71) / 0.15
	return 0.15 + 0.3*math.Exp(-x*x)
}

// tuned feeds f to the tuning in place of a chain.
func tunedACS(cfg ACS, burnin int, f func(alpha, beta float64) float64) *acsTune {
	full, err := cfg.config()
	if err != nil {
		panic(err)
	}
	t := newACSTune(full, burnin)
	for n := range burnin {
		a, b, _ := t.next(n)
		t.learn(f(a, b))
	}
	return &t
}

// TestACSFindsKnownOptimum: without noise the tuning finds the step sizes of
// acceptance ρ*, at BetaMin and at the best β, and the best β.
func TestACSFindsKnownOptimum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		burnin                     int
		tolMin, tolMax, tolB, curb float64
	}{{100, 0.2, 0.15, 0.1, 0.08}, {200, 0.1, 0.1, 0.08, 0.05}, {500, 0.05, 0.05, 0.05, 0.03}, {2000, 0.05, 0.05, 0.05, 0.03}} {
		g := tunedACS(ACS{}, c.burnin, hill)
		best, top := 0.71, reach(0.71)
		if math.Abs(math.Log(g.alphaMin/reach(0.5))) > c.tolMin {
			t.Errorf("burn-in %d: α_min = %.4f, want %.4f", c.burnin, g.alphaMin, reach(0.5))
		}
		if math.Abs(math.Log(g.alphaMax/top)) > c.tolMax {
			t.Errorf("burn-in %d: α_max = %.4f, want %.4f", c.burnin, g.alphaMax, top)
		}
		if math.Abs(g.beta[0]-best) > c.tolB {
			t.Errorf("burn-in %d: β_0 = %.4f, want %.4f", c.burnin, g.beta[0], best)
		}
		for k, b := range g.beta {
			a := g.cosine(k)
			if lost := hill(a, best) - hill(a, b); lost > c.curb {
				t.Errorf(
					"burn-in %d: at α = %.3f β = %.3f accepts %.3f less than the best", c.burnin, a, b, lost,
				)
			}
		}
	}
}

// TestACSTunesToGoal: the goal is what the acceptance at α_max comes to, for
// any ρ*; a short burn-in tunes at BetaMin.
func TestACSTunesToGoal(t *testing.T) {
	t.Parallel()
	for _, goal := range []float64{0.2, 0.5, 0.8} {
		for _, burnin := range []int{25, 60, 100, 500} {
			g := tunedACS(ACS{TargetAcceptance: goal}, burnin, hill)
			a := hill(g.alphaMax, g.beta[0])
			tol := 0.05
			if burnin <= 100 {
				tol = 0.1
			}
			if math.Abs(a-goal) > tol {
				t.Errorf("burn-in %d: acceptance at α_max is %.3f, want %.2f", burnin, a, goal)
			}
			if burnin < 100 && g.beta[0] != acsBetaMin {
				t.Errorf("burn-in %d: β_0 = %g", burnin, g.beta[0])
			}
		}
	}
	g := tunedACS(ACS{AlphaMax: 0.4, AlphaMin: 0.1}, 300, hill)
	if math.Abs(g.beta[0]-0.71) > 0.05 || g.alphaMax != 0.4 || g.alphaMin != 0.1 {
		t.Errorf(
			"given step sizes: α %g to %g, β_0 = %g, want .4, .1 and .71", g.alphaMax, g.alphaMin, g.beta[0],
		)
	}
}

// TestACSWithoutInformation: where acceptance says nothing, step sizes and β
// stay in their ranges, which end at α_floor and α_ceil of the paper's algorithm 2.
func TestACSWithoutInformation(t *testing.T) {
	t.Parallel()
	for _, a := range []float64{0, 1} {
		for _, burnin := range []int{25, 100, 500} {
			g := tunedACS(ACS{}, burnin, func(_, _ float64) float64 { return a })
			want := 0.05
			if a == 1 {
				want = 60
			}
			if !near(g.alphaMax, want) || !near(g.alphaMin, want*acsSpread) {
				t.Errorf(
					"acceptance always %g, burn-in %d: α from %g to %g, want %g", a, burnin, g.alphaMax,
					g.alphaMin, want,
				)
			}
			for k, b := range g.beta {
				if !(b >= acsBetaMin && b <= acsBetaMax) {
					t.Errorf("acceptance always %g, burn-in %d: β_%d = %g", a, burnin, k, b)
				}
			}
		}
	}
}

// TestIsotonicCrossing on least-squares fits worked out by hand.
func TestIsotonicCrossing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x, a, w []float64
		want    float64
		above   bool
	}{
		{[]float64{0, 1, 2}, []float64{1, 0.75, 0.25}, []float64{1, 1, 1}, 1.5, true},
		{[]float64{2, 0, 1}, []float64{0.25, 1, 0.75}, []float64{1, 1, 1}, 1.5, true},
		{[]float64{0, 1, 2, 3}, []float64{1, 0.6, 0.8, 0}, []float64{1, 1, 1, 1}, 1.5 + 1.5*2/7, true},    // pooled at 1.5: .7
		{[]float64{0, 1, 2, 3}, []float64{1, 0.5, 0.9, 0}, []float64{1, 3, 1, 1}, 1.25 + 1.75*1./6, true}, // .6
		{[]float64{1, 2}, []float64{0.4, 0.3}, []float64{1, 1}, 1, false},
		{[]float64{1, 2}, []float64{0.9, 0.6}, []float64{1, 1}, 2, true},
	} {
		var f isotonic
		for i := range c.x {
			f.add(c.x[i], c.a[i], c.w[i])
		}
		if x, above := f.crossing(0.5); !near(x, c.want) || above != c.above {
			t.Errorf("%v %v: crossing %g, %v, want %g, %v", c.x, c.a, x, above, c.want, c.above)
		}
	}
}
