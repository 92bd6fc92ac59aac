package targets_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"infill/internal/testmode"
	"infill/lab/targets"
	"infill/samplers"
)

// randomStarts draws n uniform states.
func randomStarts(d *samplers.Domain, n int) [][]int32 {
	rng := rand.New(rand.NewPCG(5, 5))
	out := make([][]int32, n)
	for k := range out {
		out[k] = make([]int32, d.Len())
		for i := range out[k] {
			out[k][i] = int32(rng.IntN(d.K(i)))
		}
	}
	return out
}

// cycleAcceptance is the mean acceptance probability at each position of the
// cycle over 8 chains and the given number of cycles after the burn-in, and the
// tuning of each chain.
func cycleAcceptance(
	t *testing.T, s *samplers.ACS, target samplers.Target, burnin, cycles int,
) ([20]float64, []map[string]float64) {
	t.Helper()
	const chains = 8
	run, err := samplers.Start(
		context.Background(), s, target, randomStarts(target.Domain(), chains),
		samplers.Options{Seed: 1, Burnin: burnin},
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Steps(context.Background(), burnin, nil); err != nil {
		t.Fatal(err)
	}
	var acc [20]float64
	var tuning []map[string]float64
	for k := range chains {
		tuning = append(tuning, run.Tuning(k))
	}
	if err := run.Steps(context.Background(), 20*cycles, func(r *samplers.Run) error {
		for _, m := range r.Last {
			acc[(r.Done()-1)%20] += m.Prob / float64(chains*cycles)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return acc, tuning
}

// TestACSAcceptance: on targets where the range of step sizes holds one of
// acceptance ρ*, it is what a cycle begins with, and no position of the cycle
// is far below it. Chains differ by a standard deviation of about .1, so their
// mean of 8 is within .1 by nearly three standard errors. After a burn-in of 200 the
// step size is less exact, and .15 is allowed. The usual run has the burn-in of 500
// only. The long one, with -v, prints this table, shorter and longer burn-ins included: the mean
// acceptance probability at the first, middle and last position of the cycle.
//
//	burn-in  Ising 20×20   Ising 5×5     Potts 10×10   modes
//	     25  .10 .31 .36   .32 .36 .38   .14 .29 .32   .52 .63 .65
//	    100  .45 .73 .73   .39 .39 .55   .47 .79 .77   .38 .53 .54
//	    200  .38 .67 .68   .44 .49 .58   .45 .74 .75   .41 .61 .57
//	    500  .48 .71 .70   .53 .62 .65   .48 .73 .74   .43 .65 .57
//	   2000  .54 .78 .78   .51 .57 .67   .57 .82 .83   .45 .63 .64
func TestACSAcceptance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		target samplers.Target
		s      samplers.ACS
	}{
		{"Ising 20×20", must(targets.NewIsing(20, 20, true, 0.1, []float64{0.2}, false)), samplers.ACS{}},
		{"Ising 20×20, ρ* = .7", must(targets.NewIsing(20, 20, true, 0.1, []float64{0.2}, false)), samplers.ACS{TargetAcceptance: 0.7}},
		{"Ising 5×5", must(targets.NewIsing(5, 5, true, 0.1, []float64{0.2}, false)), samplers.ACS{}},
		{"Potts 10×10", must(targets.NewPotts(10, 10, 4, false, 0.8, []float64{0, 0.3, -0.2, 0.5})), samplers.ACS{}},
		{"grid of modes", must(targets.NewModes(3, 12, 2, nil)), samplers.ACS{AlphaCeil: 1000}},
	} {
		goal := c.s.TargetAcceptance
		if goal == 0 {
			goal = 0.5
		}
		for _, burnin := range []int{25, 100, 200, 500, 2000} {
			tested := burnin == 500 || burnin == 200 && testmode.All()
			if !tested && (!testing.Verbose() || !testmode.All()) {
				continue
			}
			acc, tuning := cycleAcceptance(t, &c.s, c.target, burnin, 30)
			t.Logf(
				"%s, burn-in %d: acceptance %.2f %.2f %.2f at the start, middle and end of the cycle", c.name,
				burnin, acc[0], acc[10], acc[19],
			)
			if !tested {
				continue
			}
			off := 0.1
			if burnin == 200 {
				off = 0.15
			}
			if math.Abs(acc[0]-goal) > off {
				t.Errorf(
					"%s, burn-in %d: acceptance %.3f at the cycle's start, want %.2f", c.name, burnin, acc[0],
					goal,
				)
			}
			for k, a := range acc {
				if a < goal-off-0.02 || a > 0.95 {
					t.Errorf(
						"%s, burn-in %d: acceptance %.3f at position %d, want from %.2f to .95", c.name, burnin, a, k,
						goal-off-0.02,
					)
				}
			}
			for k, m := range tuning {
				if m["alpha-max"] < m["alpha-min"]*1.41 {
					t.Errorf("%s, burn-in %d, chain %d: %v is no cycle", c.name, burnin, k, m)
				}
			}
		}
	}
}
