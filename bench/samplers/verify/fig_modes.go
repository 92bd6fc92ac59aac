package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"infill/samplers"
	"infill/samplers/targets"
)

// modesRun is what chains on the grid of modes did by some numbers of steps.
type modesRun struct {
	kl      [][]float64 // [mark][chain], KL(π ‖ visits) over the modes
	pooled  []float64   // [mark], of all chains together
	visited float64     // modes visited by a chain, at the last mark
	acc     float64
}

// runModes starts all chains at the central mode.
func runModes(ctx context.Context, s samplers.Sampler, t *targets.Modes, chains int, marks []int, seed uint64) (*modesRun, error) {
	x0 := make([][]int32, chains)
	count := make([][]float64, chains+1) // the last is the sum
	for k := range count {
		count[k] = make([]float64, 25)
		if k < chains {
			x0[k] = []int32{187, 187}
		}
	}
	run, err := samplers.Start(ctx, s, t, x0, samplers.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	out, truth := &modesRun{}, t.Weights()
	for _, mark := range marks {
		err := run.Steps(ctx, mark-run.Done(), func(r *samplers.Run) error {
			for k, x := range r.X {
				m := t.Mode(x)
				count[k][m]++
				count[chains][m]++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		kl := make([]float64, chains+1)
		out.visited = 0
		for k, n := range count {
			total := 0.0
			for _, c := range n {
				total += c + 0.5
			}
			for m, p := range truth {
				kl[k] += p * math.Log(p*total/(n[m]+0.5)) // half a visit added: no zeros
				if k < chains && n[m] > 0 {
					out.visited += 1 / float64(chains)
				}
			}
		}
		out.kl, out.pooled = append(out.kl, kl[:chains]), append(out.pooled, kl[chains])
	}
	var st samplers.Stats
	for _, s := range run.Stats {
		st.Add(s)
	}
	out.acc = st.MeanProb()
	return out, nil
}

// unevenWeights are the weights of the uneven version.
func unevenWeights(seed uint64) []float64 {
	weights := make([]float64, 25)
	rng := rand.New(rand.NewPCG(seed, 2))
	for j := range weights {
		weights[j] = 0.2 + rng.ExpFloat64()
	}
	return weights
}

var modesSamplers = []struct {
	name, want string
	s          samplers.Sampler
}{
	{"ACS", ".13", &samplers.ACS{AlphaMax: 1575, AlphaMin: 3, FixedBeta: true}},
	{"DMALA", ".70", &samplers.DMALA{StepSize: 53}},
}

func figModes(ctx context.Context, w io.Writer, e *env) error {
	const chains, steps, sigma = 16, 10000, 20
	fmt.Fprintf(w, "5×5 modes 75 apart on two ordinal coordinates, σ = %d, weights ∝ 0.2 + Exp(1) in the uneven version; α_max = 1575, α_min = 3, s = 20 for ACS (β linear in α from .95 to .5), α = 53 for DMALA, penalty ‖Δx‖²/(2α); %d chains of %d steps from the central mode. KL(π ‖ empirical) over the 25 modes, mean over chains and pooled.\n\n", sigma, chains, steps)
	rows := [][]string{{"version", "sampler", "published KL", "KL of one chain here", "KL pooled", "acceptance", "modes visited by a chain"}}
	for _, v := range []struct {
		name string
		w    []float64
	}{{"even", nil}, {"uneven", unevenWeights(e.seed)}} {
		t := must(targets.NewModes(5, 75, sigma, v.w))
		for _, c := range modesSamplers {
			r, err := runModes(ctx, c.s, t, chains, []int{steps}, e.seed)
			if err != nil {
				return err
			}
			want := c.want
			if v.w == nil {
				want = "–"
			}
			rows = append(rows, []string{v.name, c.name, want, over(r.kl[0]).String(), fmt.Sprintf("%.4f", r.pooled[0]), fmt.Sprintf("%.3f", r.acc), fmt.Sprintf("%.1f", r.visited)})
		}
	}
	lines(w, rows...)
	marks := []int{1000, 2000, 3000, 4000, 5000, 7000, 10000}
	fmt.Fprint(w, "\nThe published width, weights and number of steps are not known to us. The same error of one chain on the uneven version by width and number of steps, ACS / DMALA:\n\n")
	head := []string{"σ"}
	for _, m := range marks {
		head = append(head, fmt.Sprintf("%d steps", m))
	}
	rows = [][]string{head}
	for _, sigma := range []float64{18, 20, 22, 24} {
		t := must(targets.NewModes(5, 75, sigma, unevenWeights(e.seed)))
		row := []string{fmt.Sprint(sigma)}
		var by []*modesRun
		for _, c := range modesSamplers {
			r, err := runModes(ctx, c.s, t, chains, marks, e.seed)
			if err != nil {
				return err
			}
			by = append(by, r)
		}
		for j := range marks {
			row = append(row, fmt.Sprintf("%.2f / %.2f", over(by[0].kl[j]).mean, over(by[1].kl[j]).mean))
		}
		rows = append(rows, row)
	}
	lines(w, rows...)
	fmt.Fprint(w, modesNote)
	return nil
}

const modesNote = `
DMALA's published .70 is met with σ = 24 at 7000 steps, and nearly with σ = 20 and 22 at 10000; ACS's published .13 is met between
4000 and 5000 steps of σ = 20 and 22. No width and number of steps of this table gives both: where DMALA is at .70, ACS is near .05,
so that ACS is further ahead here than published, and width and length of the run are not what differs. The published weights, and
how KL was taken, remain open.
`
