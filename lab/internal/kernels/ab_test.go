package kernels

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/internal/testmode"
	"infill/lab/internal/domain"
	"infill/lab/targets"
	"infill/samplers"
)

// TestABSearchFindsTheTop of a known accepted distance.
func TestABSearchFindsTheTop(t *testing.T) {
	t.Parallel()
	top := func(alpha, beta float64) float64 {
		a, b := math.Log(alpha/3), (beta-0.73)/0.2
		return math.Exp(-a*a/4 - b*b + 0.3*a*b)
	}
	for _, c := range []struct {
		s           abSearch
		alpha, beta float64
		tolA, tolB  float64
	}{
		{abSearch{tuneAlpha: true, tuneBeta: true, ratio: 4, delta: 0.1, each: 2, alpha: 0.05, beta: 0.5}, 3, 0.73, 0.1, 0.02},
		{abSearch{tuneAlpha: true, ratio: 4, delta: 0.1, each: 3, alpha: 0.05, beta: 0.73}, 3, 0.73, 0.1, 0},
		{abSearch{tuneBeta: true, onBeta: true, ratio: 4, delta: 0.1, each: 1, alpha: 3, beta: 0.5}, 3, 0.73, 0, 0.02},
	} {
		s := c.s
		for range 20 * 3 * s.each {
			a, b := s.point()
			s.score(top(a, b))
		}
		s.stop = true
		a, b := s.point()
		if math.Abs(math.Log(a/c.alpha)) > c.tolA || math.Abs(b-c.beta) > c.tolB {
			t.Errorf("%+v: ends at (%.3f, %.3f), want (%g, %g)", c.s, a, b, c.alpha, c.beta)
		}
	}
}

// TestABSchedule walks through the rounds as the doc comment has them.
func TestABSchedule(t *testing.T) {
	t.Parallel()
	s := abSearch{tuneAlpha: true, tuneBeta: true, ratio: 4, delta: 0.1, each: 2, alpha: 1, beta: 0.5}
	for round, c := range []struct {
		points [3][2]float64
		scores [3]float64
	}{
		{[3][2]float64{{0.25, 0.5}, {1, 0.5}, {4, 0.5}}, [3]float64{0, 0, 0}}, // nothing moved: up
		{[3][2]float64{{4, 0.5}, {4, 0.5}, {4, 0.6}}, [3]float64{2, 1, 1}},    // ½, but not the middle one: δ stays
		{[3][2]float64{{1, 0.5}, {4, 0.5}, {16, 0.5}}, [3]float64{1, 2, 1}},   // the middle one: r becomes 2
		{[3][2]float64{{4, 0.5}, {4, 0.5}, {4, 0.6}}, [3]float64{0, 1, 3}},    // up
		{[3][2]float64{{2, 0.6}, {4, 0.6}, {8, 0.6}}, [3]float64{5, 5, 4}},    // equals: the middle one, r becomes √2
		{[3][2]float64{{4, 0.5}, {4, 0.6}, {4, 0.7}}, [3]float64{0, 0, 0}},    // β does not go up by itself; δ halves
		{[3][2]float64{{4 / math.Sqrt2, 0.6}, {4, 0.6}, {4 * math.Sqrt2, 0.6}}, [3]float64{0, 0, 1}},
		{[3][2]float64{{4 * math.Sqrt2, 0.55}, {4 * math.Sqrt2, 0.6}, {4 * math.Sqrt2, 0.65}}, [3]float64{0, 0, 1}},
	} {
		for j := range 3 {
			for range 2 {
				a, b := s.point()
				if !near(a, c.points[j][0]) || !near(b, c.points[j][1]) {
					t.Fatalf("round %d, value %d: (%g, %g), want %v", round, j, a, b, c.points[j])
				}
				s.score(c.scores[j])
			}
		}
	}
	if !near(s.alpha, 4*math.Sqrt2) || !near(s.beta, 0.65) {
		t.Errorf("ends at (%g, %g)", s.alpha, s.beta)
	}
}

// near is equality but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) }

// TestABRunsOnWhatItFound: after the burn-in every step has the best (α, β) and
// no longer a value under trial, whether or not the burn-in ends amid a round.
func TestABRunsOnWhatItFound(t *testing.T) {
	t.Parallel()
	tab := newTable(rand.New(rand.NewPCG(3, 1)), domain.Bits(4), 1, 0.2)
	for _, burnin := range []int{1, 12, 150, 151, 155} {
		var k samplers.Kernel
		run, err := samplers.Start(context.Background(), shows{&AB{}, &k}, tab, [][]int32{{0, 1, 0, 1}},
			samplers.Options{Seed: 1, Burnin: burnin})
		if err != nil {
			t.Fatal(err)
		}
		s := &k.(*abKernel).search[0]
		if err := run.Steps(context.Background(), burnin, nil); err != nil {
			t.Fatal(err)
		}
		want := run.Tuning(0)
		if err := run.Steps(context.Background(), 20, func(*samplers.Run) error {
			if alpha, beta := s.point(); alpha != want["step-size"] || beta != want["beta"] {
				t.Errorf("burn-in %d: a step at (%g, %g), tuned to %v", burnin, alpha, beta, want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestABRaisesTheJumpDistance: tuned, chains go farther per step than from where
// the search began (α half of DMALA's start, β = ½), and than with DMALA's tuned
// step size. Single chains vary by a fifth, so the test is of the mean of 8.
func TestABRaisesTheJumpDistance(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	problems := []samplers.Target{
		must(targets.NewPotts(10, 10, 4, false, 0.8, []float64{0, 0.3, -0.2, 0.5})),
	}
	if testmode.All() {
		problems = append(problems, must(targets.NewIsing(20, 20, true, 0.1, []float64{0.2}, false)))
	}
	for _, target := range problems {
		const burnin = 1000
		jump := func(s samplers.Sampler) (mean float64) {
			const chains = 8
			run, err := samplers.Start(
				ctx, s, target, randomStarts(target.Domain(), chains),
				samplers.Options{Seed: 3, Burnin: burnin},
			)
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Steps(ctx, burnin, nil); err != nil {
				t.Fatal(err)
			}
			run.ResetStats()
			if err := run.Steps(ctx, 500, nil); err != nil {
				t.Fatal(err)
			}
			for _, s := range run.Stats {
				mean += s.JumpDistance() / chains
			}
			return mean
		}
		run, err := samplers.Start(
			ctx, &AB{}, target, randomStarts(target.Domain(), 1), samplers.Options{Burnin: burnin},
		)
		if err != nil {
			t.Fatal(err)
		}
		first := run.Tuning(0)
		tuned, start, dmala := jump(
			&AB{},
		), jump(
			&AB{StepSize: first["step-size"], Beta: first["beta"]},
		), jump(
			&samplers.DMALA{},
		)
		if tuned < 1.2*start || tuned < 1.2*dmala {
			t.Errorf(
				"tuned %.3g accepted changes a step, %.3g at the search's start %v, %.3g by DMALA", tuned,
				start, first, dmala,
			)
		}
	}
}
