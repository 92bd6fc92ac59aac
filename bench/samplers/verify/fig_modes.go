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

// The toy of ACS as its code has it: 128 chains from one uniform state, 10000
// steps, all states of all chains counted on the 450×450 grid.
const (
	peaksChains = 128
	peaksSteps  = 10000
	peaksDim    = 450
	peaksFloor  = 1e-10
)

// peaksRun is the outcome of one start.
type peaksRun struct {
	reverse float64 // KL(empirical ‖ π) on the grid
	forward float64 // KL(π ‖ empirical + 1e-10) on the grid
	modes   float64 // KL(empirical ‖ π) of the nearest modes
	visited float64 // modes visited by a chain
	acc     float64
}

// runPeaks runs the chains. The slice pi is the probability of every point of the grid.
func runPeaks(ctx context.Context, s samplers.Sampler, t *targets.Peaks, pi []float64,
	seed uint64) (*peaksRun, error) {
	rng := rand.New(rand.NewPCG(seed, 3))
	x, y := int32(rng.IntN(peaksDim)), int32(rng.IntN(peaksDim))
	x0 := make([][]int32, peaksChains)
	for k := range x0 {
		x0[k] = []int32{x, y}
	}
	run, err := samplers.Start(ctx, s, t, x0, samplers.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	count := make([]float64, len(pi))
	seen := make([][25]bool, peaksChains)
	err = run.Steps(ctx, peaksSteps, func(r *samplers.Run) error {
		for k, x := range r.X {
			count[int(x[1])*peaksDim+int(x[0])]++
			seen[k][t.Mode(x)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &peaksRun{}
	var pm, qm [25]float64
	for i, p := range pi {
		q := count[i] / (peaksChains * peaksSteps)
		m := t.Mode([]int32{int32(i % peaksDim), int32(i / peaksDim)})
		pm[m] += p
		qm[m] += q
		out.forward += p * math.Log(p/(q+peaksFloor))
		if q > 0 {
			out.reverse += q * math.Log(q/p)
		}
	}
	for m, q := range qm {
		if q > 0 {
			out.modes += q * math.Log(q/pm[m])
		}
	}
	for _, s := range seen {
		for _, v := range s {
			if v {
				out.visited += 1.0 / peaksChains
			}
		}
	}
	var st samplers.Stats
	for _, s := range run.Stats {
		st.Add(s)
	}
	out.acc = st.MeanProb()
	return out, nil
}

// unevenWeights are the weights of an uneven version. The ones of the paper's figure are
// not known.
func unevenWeights(seed uint64) []float64 {
	weights := make([]float64, 25)
	rng := rand.New(rand.NewPCG(seed, 2))
	for j := range weights {
		weights[j] = 0.2 + rng.ExpFloat64()
	}
	return weights
}

// fourth is (c·450)⁴, how the code of ACS turns its step sizes c into α on two
// coordinates of 450 values.
func fourth(c float64) float64 { return math.Pow(c*peaksDim, 4) }

var peaksSamplers = []struct {
	name, want string
	s          samplers.Sampler
}{
	{"ACS", ".13", &samplers.ACS{AlphaMax: fourth(.014), AlphaMin: fourth(.003), Power: 4, BetaMax: .5,
		FixedBeta: true}},
	{"DMALA", ".70", &samplers.DMALA{StepSize: fourth(.006)}},
	{"DMALA, α = 600", "–", &samplers.DMALA{StepSize: fourth(.011)}},
}

func figModes(ctx context.Context, w io.Writer, e *env) error {
	fmt.Fprint(w, text("modes"))
	rows := [][]string{{"dist_var", "weights", "sampler", "second-hand", "KL(empirical ‖ π)",
		"KL(π ‖ empirical)", "of the 25 modes alone", "modes visited by a chain",
		"mean probability"}}
	for _, v := range []struct {
		dist    float64
		name    string
		weights []float64
		n       int // of peaksSamplers
	}{{.15, "even", nil, 3}, {.175, "even", nil, 2}, {.2, "even", nil, 2},
		{.15, "uneven", unevenWeights(e.seed), 2}, {.2, "uneven", unevenWeights(e.seed), 2}} {
		t := must(targets.NewPeaks(5, 75, v.dist*25, peaksFloor, v.weights))
		var points [][]int32
		for i := range peaksDim * peaksDim {
			points = append(points, []int32{int32(i % peaksDim), int32(i / peaksDim)})
		}
		pi := make([]float64, len(points))
		if err := t.Energy(ctx, points, pi); err != nil {
			return err
		}
		z := 0.0
		for i, u := range pi {
			pi[i] = math.Exp(u)
			z += pi[i]
		}
		for i := range pi {
			pi[i] /= z
		}
		for _, c := range peaksSamplers[:v.n] {
			var rev, fwd, modes, visited, acc []float64
			runs := make([]*peaksRun, 3)
			err := parallel(len(runs), func(i int) (err error) {
				runs[i], err = runPeaks(ctx, c.s, t, pi, e.seed+uint64(i))
				return err
			})
			if err != nil {
				return err
			}
			for _, r := range runs {
				rev, fwd, modes = append(rev, r.reverse), append(fwd, r.forward), append(modes, r.modes)
				visited, acc = append(visited, r.visited), append(acc, r.acc)
			}
			e.progress("%g %s %s %v %v", v.dist, v.name, c.name, over(rev), over(fwd))
			rows = append(rows, []string{fmt.Sprint(v.dist), v.name, c.name, c.want, over(rev).String(),
				over(fwd).String(), over(modes).String(), fmt.Sprintf("%.1f", over(visited).mean),
				fmt.Sprintf("%.3f", over(acc).mean)})
		}
	}
	lines(w, rows...)
	fmt.Fprint(w, text("modes_note"))
	return nil
}
