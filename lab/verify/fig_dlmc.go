package verify

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"infill/lab/internal/kernels"
	"infill/lab/papers"
	"infill/lab/targets"
	"infill/samplers"
)

// dlmcModel is a model of DLMC's paper (its appendix C).
type dlmcModel struct {
	name  string
	steps int // kept, after a burn-in of a quarter of it: more where a step is cheap
	make  func(rng *rand.Rand) samplers.Target
}

// dlmcModels are the models of the paper's figures 3 to 8, and the Ising models as DISCS computes
// them. size divides their sizes.
func dlmcModels(size int) []dlmcModel {
	lattice := side / size
	var out []dlmcModel
	add := func(name string, steps int, f func(rng *rand.Rand) samplers.Target) {
		out = append(out, dlmcModel{name, steps, f})
	}
	for _, variance := range []float64{0.125, 12.5} {
		add(fmt.Sprintf("Bernoulli, variance %g", variance), 2000, func(rng *rand.Rand) samplers.Target {
			theta := make([]float64, 10000/size)
			for i := range theta {
				theta[i] = math.Sqrt(2*variance) * rng.NormFloat64() // of two weights
			}
			return must(targets.NewBernoulli(theta, false))
		})
	}
	for _, c := range []int{4, 8} {
		add(fmt.Sprintf("categorical, C = %d", c), 8000/c, func(rng *rand.Rand) samplers.Target {
			theta := make([][]float64, 2000/size)
			for i := range theta {
				theta[i] = make([]float64, c)
				for v := range theta[i] {
					theta[i][v] = math.Sqrt(1.125) * rng.NormFloat64()
				}
			}
			return must(targets.NewCategorical(theta))
		})
	}
	for _, t := range []struct {
		name  string
		scale float64 // of field and coupling
	}{{"high", 1}, {"low", 2}} {
		add("Ising, "+t.name+", eq. 106", 10000, func(rng *rand.Rand) samplers.Target {
			return ising106(rng, lattice, t.scale)
		})
		add("Ising, "+t.name+", public code", 10000, func(rng *rand.Rand) samplers.Target {
			return isingCode(rng, lattice, t.scale)
		})
	}
	for _, c := range []int{4, 8} {
		add(fmt.Sprintf("Potts, C = %d", c), 10000, func(rng *rand.Rand) samplers.Target {
			return potts106(rng, 30/size, c)
		})
	}
	for _, f := range []struct {
		name                     string
		length, chains, c, steps int
	}{{"FHMM, L = 200, K = 10", 200, 10, 2, 24000}, {"FHMM, L = 100, K = 20", 100, 20, 2, 24000},
		{"FHMM, C = 4", 200, 10, 4, 8000}, {"FHMM, C = 8", 200, 10, 8, 3000}} {
		add(f.name, f.steps, func(rng *rand.Rand) samplers.Target {
			return must(papers.NewFHMM(rng, f.length/size, f.chains, f.c, 0.9, 0.8, 2))
		})
	}
	return out
}

// inner says whether a site lies in the centred disc of half the area of a square lattice.
func inner(i, n int) bool {
	r, c := float64(i/n)/float64(n)-0.5, float64(i%n)/float64(n)-0.5
	return r*r+c*c < 0.5/math.Pi
}

// isingField is θ of equation 106: uniform in (−2, 1), and in (−1, 2) inside, times scale.
func isingField(rng *rand.Rand, n int, scale float64) []float64 {
	theta := make([]float64, n*n)
	for i := range theta {
		theta[i] = 3*rng.Float64() - 2
		if inner(i, n) {
			theta[i]++
		}
		theta[i] *= scale
	}
	return theta
}

// ising106 is equation 106 on {0,1}: U = Σ θ_i x_i + λ Σ 1[x_i = x_j] over edges, λ = scale/2. In
// s = 2x − 1 that is a field θ/2, and λ/2 for an edge.
func ising106(rng *rand.Rand, n int, scale float64) *targets.Ising {
	b := isingField(rng, n, scale)
	for i := range b {
		b[i] /= 2
	}
	return must(targets.NewIsing(n, n, false, scale/8, b, false)) // an edge has twice the coupling
}

// isingCode is the same as DISCS computes it: U = Σ θ_i s_i + 2λ Σ s_i s_j over edges.
func isingCode(rng *rand.Rand, n int, scale float64) *targets.Ising {
	return must(targets.NewIsing(n, n, false, scale/2, isingField(rng, n, scale), false))
}

// potts106 is equation 106 on C categories, λ = 1: θ_i[v] uniform in (−1.5, 1.5) minus .5(v + 1)/C,
// or plus inside.
func potts106(rng *rand.Rand, n, c int) *targets.Potts {
	field := make([]float64, 0, n*n*c)
	for i := range n * n {
		for v := range c {
			shift := -0.5 * float64(v+1) / float64(c)
			if inner(i, n) {
				shift = -shift
			}
			field = append(field, 3*rng.Float64()-1.5+shift)
		}
	}
	return must(targets.NewPotts(n, n, c, false, 1, field))
}

// dlmcSamplers are the samplers of the paper that change many coordinates a step, first with √ and
// then with t/(1+t).
var dlmcSamplers = []struct {
	name string
	make func(b samplers.Balance) samplers.Sampler
}{
	{"DMALA", func(b samplers.Balance) samplers.Sampler { return &samplers.DMALA{Balance: b} }},
	{"PAS", func(b samplers.Balance) samplers.Sampler { return &kernels.PAS{Balance: b} }},
	{"DLMC", func(b samplers.Balance) samplers.Sampler { return &samplers.DLMC{Balance: b} }},
	{"DLMCf", func(b samplers.Balance) samplers.Sampler {
		return &samplers.DLMC{Euler: true, Balance: b}
	}},
}

// dlmcCell is what the chains of a sampler gave on a model: ESS of 50,000 steps over the calls of
// one, by chain, from all kept steps and from the first half of them.
type dlmcCell struct{ Whole, Half []float64 }

// dlmcChains are the chains of figDLMC.
const dlmcChains = 3

func figDLMC(ctx context.Context, w io.Writer, e *env) error {
	head := []string{"model"}
	for _, s := range dlmcSamplers {
		head = append(head, s.name+" √", s.name+" ratio")
	}
	calls := [][]string{head}
	paths := [][]string{{"model", "PAS √", "PAS ratio", "√ over that above",
		"ratio over that above"}}
	quotients := [][]string{{"model", "DMALA", "PAS", "DLMC", "DLMCf",
		"best of DLMC and DLMCf / best of the others", "steps", "whole / half", "orders changed"}}
	for j, m := range dlmcModels(1) {
		t := m.make(rand.New(rand.NewPCG(e.seed, uint64(20+j))))
		settings := fmt.Sprintf("%s, %d chains, %d steps", m.name, dlmcChains, m.steps)
		cells, err := kept(e, fmt.Sprintf("11-%d", j), settings, func() ([]dlmcCell, error) {
			return dlmcRow(ctx, t, dlmcChains, m.steps/4, m.steps, e.seed)
		})
		if err != nil {
			return err
		}
		row, quotient := []string{m.name}, []string{m.name}
		best, logs := [2]float64{}, 0.0
		for i, c := range cells {
			whole := over(c.Whole)
			row = append(row, whole.String())
			best[i/4] = max(best[i/4], whole.mean)
			logs += math.Log(whole.mean/over(c.Half).mean) / float64(len(cells))
			if i%2 == 1 {
				quotient = append(quotient, fmt.Sprintf("%.2f", whole.mean/over(cells[i-1].Whole).mean))
			}
		}
		calls = append(calls, row)
		quotients = append(quotients, append(quotient, fmt.Sprintf("%.2f", best[1]/best[0]),
			fmt.Sprint(m.steps), fmt.Sprintf("%.2f", math.Exp(logs)), fmt.Sprint(changed(cells))))
		e.progress("DLMC's models: %s", m.name)
		bare, err := kept(e, fmt.Sprintf("11-nosingles-%d", j), settings, func() ([][]float64, error) {
			return dlmcPaths(ctx, t, dlmcChains, m.steps/4, m.steps, e.seed)
		})
		if err != nil {
			return err
		}
		one, other := over(bare[0]), over(bare[1])
		paths = append(paths, []string{m.name, one.String(), other.String(),
			fmt.Sprintf("%.2f", one.mean/over(cells[2].Whole).mean),
			fmt.Sprintf("%.2f", other.mean/over(cells[3].Whole).mean)})
	}
	fmt.Fprint(w, text("dlmc", dlmcChains))
	lines(w, calls...)
	fmt.Fprint(w, text("dlmc_quotients"))
	lines(w, quotients...)
	fmt.Fprint(w, text("dlmc_singles"))
	lines(w, paths...)
	fmt.Fprint(w, text("dlmc_note"))
	return nil
}

// dlmcPaths are ESS of 50,000 steps over the calls of one, by chain, of PAS without proposals of a
// single coordinate: with √ and with t/(1+t).
func dlmcPaths(ctx context.Context, t samplers.Target, chains, burnin, steps int, seed uint64) (
	[][]float64, error) {
	out := make([][]float64, 2)
	err := parallel(len(out), func(i int) error {
		s := &kernels.PAS{Balance: []samplers.Balance{samplers.Sqrt, samplers.Ratio}[i], NoSingles: true}
		r, err := essOf(ctx, s, t, chains, burnin, steps, seed)
		if err != nil {
			return err
		}
		for k := range chains {
			calls := float64(kernels.Calls(s.Info(), r.stats[k])) / float64(steps)
			out[i] = append(out[i], 50000/calls*r.ess[k]/float64(steps))
		}
		return nil
	})
	return out, err
}

// changed counts the pairs of cells whose order is another with all steps than with half of them,
// although it was clear then: by more than two standard errors of the difference.
func changed(cells []dlmcCell) (n int) {
	for i, a := range cells {
		for _, b := range cells[:i] {
			x, y := over(a.Half), over(b.Half)
			if math.Abs(x.mean-y.mean) > 2*math.Hypot(x.se, y.se) &&
				(x.mean < y.mean) != (over(a.Whole).mean < over(b.Whole).mean) {
				n++
			}
		}
	}
	return n
}

// dlmcRow runs all samplers on a model: √ and t/(1+t) of each in turn.
func dlmcRow(ctx context.Context, t samplers.Target, chains, burnin, steps int,
	seed uint64) ([]dlmcCell, error) {
	out := make([]dlmcCell, 2*len(dlmcSamplers))
	err := parallel(len(out), func(i int) error {
		s := dlmcSamplers[i/2].make([]samplers.Balance{samplers.Sqrt, samplers.Ratio}[i%2])
		r, err := essOf(ctx, s, t, chains, burnin, steps, seed)
		if err != nil {
			return err
		}
		for k := range chains {
			calls := float64(kernels.Calls(s.Info(), r.stats[k])) / float64(steps)
			out[i].Whole = append(out[i].Whole, 50000/calls*r.ess[k]/float64(steps))
			out[i].Half = append(out[i].Half, 50000/calls*r.half[k]/float64(steps/2))
		}
		return nil
	})
	return out, err
}
