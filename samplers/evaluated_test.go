package samplers

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Every sampler that asks for energies reports each state that it asked about, with the target's
// energy and its chain, and as many as it counts.
func TestEvaluated(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 9))
	tab := newTable(rng, Categories(3, 3), 1, 0.2)
	for _, info := range List() {
		x0 := [][]int32{{0, 0, 0}, {2, 1, 0}, {1, 1, 1}}
		calls, seen := make([]int, len(x0)), map[string]bool{}
		run, err := Start(t.Context(), fresh(t, info.Name), tab, x0, Options{
			Seed: 1, Burnin: 5, Evaluated: func(k int, x []int32, u float64) {
				calls[k]++
				seen[fmt.Sprint(k, x)] = true
				if want := tab.u[tab.index(x)]; u != want {
					t.Errorf("%s: %v has %v, want %v", info.Name, x, u, want)
				}
			},
		})
		if err != nil {
			t.Fatal(info.Name, err)
		}
		for range 30 {
			if err := run.Step(t.Context()); err != nil {
				t.Fatal(info.Name, err)
			}
			for k, x := range run.X {
				if !seen[fmt.Sprint(k, x)] && run.U[k] == run.U[k] {
					t.Errorf("%s: chain %d is at %v, which was not reported", info.Name, k, x)
				}
			}
		}
		for k, n := range calls {
			evals := run.Stats[k].Evals
			switch info.Name {
			case "gibbs", "sgdld":
				if n != 0 {
					t.Errorf("%s: %d energies without any", info.Name, n)
				}
			case "gibbs-mh": // which counts its conditionals too
				evals -= 30
				fallthrough
			default:
				if n != evals || n < 5 {
					t.Errorf("%s: chain %d has %d reports and %d evaluations", info.Name, k, n, evals)
				}
			}
		}
		before := len(seen)
		if err := run.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if (info.Name == "gibbs" || info.Name == "sgdld") && len(seen) == before {
			t.Errorf("%s: what Refresh evaluates was not reported", info.Name)
		}
	}
}
