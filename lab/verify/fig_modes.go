package verify

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"infill/lab/internal/kernels"
	"infill/lab/papers"
	"infill/samplers"
)

// A peaksSize is how large the toy of ACS is. Chains begin at one uniform state, and all states of
// all chains are counted on the grid.
type peaksSize struct{ spacing, chains, steps int }

// paperPeaks is the toy as ACS's code has it: a grid of 450×450 points.
var paperPeaks = peaksSize{spacing: 75, chains: 128, steps: 10000}

const peaksFloor = 1e-10

// dim is how many values a coordinate has.
func (p peaksSize) dim() int { return 6 * p.spacing }

// scale is a length of this grid, divided by the same of the paper's. With widths by it and α by
// its square a smaller grid has the same walls between modes.
func (p peaksSize) scale() float64 { return float64(p.spacing) / 75 }

// peaksRun is the outcome of one start.
type peaksRun struct {
	reverse float64 // KL(empirical ‖ π) on the grid
	forward float64 // KL(π ‖ empirical + 1e-10) on the grid
	modes   float64 // KL(empirical ‖ π) of the nearest modes
	visited float64 // modes visited by a chain
	acc     float64
}

// run runs the chains. The slice pi is the probability of every point of the grid. The steps of the
// burn-in, in which the sampler adapts, count.
func (p peaksSize) run(ctx context.Context, s samplers.Sampler, burnin int, t *papers.Peaks,
	pi []float64, seed uint64) (*peaksRun, error) {
	rng, dim := rand.New(rand.NewPCG(seed, 3)), p.dim()
	x, y := int32(rng.IntN(dim)), int32(rng.IntN(dim))
	x0 := make([][]int32, p.chains)
	for k := range x0 {
		x0[k] = []int32{x, y}
	}
	run, err := samplers.Start(ctx, s, t, x0, samplers.Options{Seed: seed, Burnin: burnin})
	if err != nil {
		return nil, err
	}
	count := make([]float64, len(pi))
	seen := make([][25]bool, p.chains)
	err = run.Steps(ctx, p.steps, func(r *samplers.Run) error {
		for k, x := range r.X {
			count[int(x[1])*dim+int(x[0])]++
			seen[k][t.Mode(x)] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &peaksRun{}
	var pm, qm [25]float64
	for i, want := range pi {
		q := count[i] / float64(p.chains*p.steps)
		m := t.Mode([]int32{int32(i % dim), int32(i / dim)})
		pm[m] += want
		qm[m] += q
		out.forward += want * math.Log(want/(q+peaksFloor))
		if q > 0 {
			out.reverse += q * math.Log(q/want)
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
				out.visited += 1 / float64(p.chains)
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

// law is the probability of every point of the grid.
func (p peaksSize) law(ctx context.Context, t *papers.Peaks) ([]float64, error) {
	dim := p.dim()
	var points [][]int32
	for i := range dim * dim {
		points = append(points, []int32{int32(i % dim), int32(i / dim)})
	}
	pi := make([]float64, len(points))
	if err := t.Energy(ctx, points, pi); err != nil {
		return nil, err
	}
	z := 0.0
	for i, u := range pi {
		pi[i] = math.Exp(u)
		z += pi[i]
	}
	for i := range pi {
		pi[i] /= z
	}
	return pi, nil
}

// alpha is (c·450)⁴ on the paper's grid, how the code of ACS turns its step sizes c into α on two
// coordinates of 450 values.
func (p peaksSize) alpha(c float64) float64 {
	return math.Pow(c*450, 4) * p.scale() * p.scale()
}

type peaksSampler struct {
	name, want string
	s          samplers.Sampler
	burnin     int
}

func (p peaksSize) samplers() []peaksSampler {
	return []peaksSampler{
		{"ACS", ".13", &samplers.ACS{AlphaMax: p.alpha(.014), AlphaMin: p.alpha(.003), Power: 4,
			BetaMax: .5, FixedBeta: true}, 0},
		{"DMALA", ".70", &samplers.DMALA{StepSize: p.alpha(.006)}, 0},
		{"DMALA, α = 600", "–", &samplers.DMALA{StepSize: p.alpha(.011)}, 0},
		{"random walk", "–", &kernels.RWM{Flips: 2, NoSingles: true}, 0},
		{"AB", "–", &kernels.AB{}, p.steps / 10},
	}
}

func figModes(ctx context.Context, w io.Writer, e *env) error {
	return paperPeaks.write(ctx, w, e)
}

// write is section 7 on a grid of this size.
func (p peaksSize) write(ctx context.Context, w io.Writer, e *env) error {
	fmt.Fprint(w, text("modes"))
	rows := [][]string{{"dist_var", "weights", "sampler", "second-hand", "KL(empirical ‖ π)",
		"KL(π ‖ empirical)", "of the 25 modes alone", "modes visited by a chain",
		"mean probability"}}
	for _, v := range []struct {
		dist    float64
		name    string
		weights []float64
		n       int // of samplers
	}{{.15, "even", nil, 5}, {.175, "even", nil, 2}, {.2, "even", nil, 2},
		{.15, "uneven", unevenWeights(e.seed), 2}, {.2, "uneven", unevenWeights(e.seed), 2}} {
		t := must(papers.NewPeaks(5, p.spacing, v.dist*25*p.scale(), peaksFloor, v.weights))
		pi, err := p.law(ctx, t)
		if err != nil {
			return err
		}
		for _, c := range p.samplers()[:v.n] {
			var rev, fwd, modes, visited, acc []float64
			runs := make([]*peaksRun, 3)
			err := parallel(len(runs), func(i int) (err error) {
				runs[i], err = p.run(ctx, c.s, c.burnin, t, pi, e.seed+uint64(i))
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
