package verify

import (
	"bytes"
	"context"
	"math"
	"sort"
	"testing"

	"infill/lab/papers"
	"infill/samplers"
)

// ownDraws takes each state of a grid for itself, from a law.
type ownDraws struct {
	dim int
	sum []float64 // of the law, up to each point
}

func newOwnDraws(dim int, law []float64) ownDraws {
	d, z := ownDraws{dim: dim}, 0.0
	for _, p := range law {
		z += p
		d.sum = append(d.sum, z)
	}
	return d
}

func (ownDraws) Info() samplers.Info { return samplers.Info{Name: "independent draws"} }

func (d ownDraws) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	return ownDrawsKernel{d, c}, nil
}

type ownDrawsKernel struct {
	ownDraws
	c *samplers.Chains
}

func (k ownDrawsKernel) Prepare(ctx context.Context) error { return k.c.StartEnergies(ctx) }

func (k ownDrawsKernel) Step(context.Context) error {
	for j, x := range k.c.X {
		u := k.c.RNG[j].Float64() * k.sum[len(k.sum)-1]
		i := sort.SearchFloat64s(k.sum, u)
		x[0], x[1] = int32(i%k.dim), int32(i/k.dim)
		k.c.U[j] = math.NaN()
		k.c.Last[j] = samplers.Move{Accepted: true, Prob: .25, Moved: true, Flips: 2, Hamming: 2}
	}
	return nil
}

// TestPeaksMeasures holds the measures of section 7 against independent draws, of the law itself
// and of another. N draws of S likely points have a KL that is larger by (S − 1)/2N, in either
// direction.
func TestPeaksMeasures(t *testing.T) {
	t.Parallel()
	p := peaksSize{spacing: 3, chains: 64, steps: 3000}
	target := must(papers.NewPeaks(5, p.spacing, 2, peaksFloor, unevenWeights(5)))
	pi, err := p.law(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	other, z := make([]float64, len(pi)), 0.0
	for i, v := range pi {
		other[i] = v * v
		z += v * v
	}
	for i := range other {
		other[i] /= z
	}
	draws := float64(p.chains * p.steps)
	for name, law := range map[string][]float64{"the law": pi, "its square": other} {
		var reverse, forward, modes float64
		var from, to [25]float64
		for i, q := range law {
			reverse += q * math.Log(q/pi[i])
			forward += pi[i] * math.Log(pi[i]/q)
			// The nearest mode, by all distances.
			x, y, best := i%p.dim(), i/p.dim(), 0
			far := func(m int) float64 {
				return math.Hypot(float64(x-3*(m%5+1)), float64(y-3*(m/5+1)))
			}
			for m := range from {
				if far(m) < far(best) {
					best = m
				}
			}
			from[best] += q
			to[best] += pi[i]
		}
		for m, q := range from {
			modes += q * math.Log(q/to[m])
		}
		noise := float64(len(pi)-1) / (2 * draws)
		got, err := p.run(t.Context(), newOwnDraws(p.dim(), law), 0, target, pi, 4)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, want, within float64) {
			if math.Abs(got-want) > within {
				t.Errorf("draws of %s: %s is %.5f, want %.5f ± %.5f", name, what, got, want, within)
			}
		}
		near("KL(empirical ‖ π)", got.reverse, reverse+noise, noise/2+reverse/30)
		near("KL(π ‖ empirical)", got.forward, forward+noise, noise/2+forward/30)
		near("KL of the modes", got.modes, modes+24/(2*draws), 24/draws+modes/30)
		near("modes of a chain", got.visited, 25, .01)
		near("mean probability", got.acc, .25, 1e-9)
	}
}

// TestModes is section 7 on a grid of 90×90 points. ACS goes from mode to mode. DMALA stays about
// where it began, unless its step is larger, and gets further where modes are wider.
func TestModes(t *testing.T) {
	t.Parallel()
	var page, log bytes.Buffer
	p := peaksSize{spacing: 15, chains: 32, steps: 400}
	if err := p.write(t.Context(), &page, &env{seed: 1, log: &log}); err != nil {
		t.Fatal(err)
	}
	type row struct{ kl, visited, acc float64 }
	got := map[string]row{}
	for _, r := range cellsOf(t, page.String()) {
		got[r[0]+" "+r[1]+" "+r[2]] = row{number(t, r[6]), number(t, r[7]), number(t, r[8])}
	}
	if len(got) != 13 {
		t.Errorf("%d rows in\n%s", len(got), &page)
	}
	for _, kind := range []string{"0.15 even", "0.175 even", "0.2 even", "0.15 uneven", "0.2 uneven"} {
		acs, dmala := got[kind+" ACS"], got[kind+" DMALA"]
		if !(acs.kl < dmala.kl/2 && acs.visited > 2*dmala.visited && dmala.visited >= 1 && dmala.visited < 4) {
			t.Errorf("%s: ACS %+v, DMALA %+v", kind, acs, dmala)
		}
		if !(dmala.acc > .6 && dmala.acc < .9 && acs.acc > .35 && acs.acc < dmala.acc) {
			t.Errorf("%s: probabilities of ACS %+v, DMALA %+v", kind, acs, dmala)
		}
	}
	large, small := got["0.15 even DMALA, α = 600"], got["0.15 even DMALA"]
	if !(large.visited > small.visited && large.acc < .1) {
		t.Errorf("DMALA with a large step %+v, with a small one %+v", large, small)
	}
	if walk := got["0.15 even random walk"]; !(walk.visited > small.visited && walk.acc < .1) {
		t.Errorf("a random walk %+v, DMALA %+v", walk, small)
	}
	if a, b := small.kl, got["0.2 even DMALA"].kl; !(b < a) {
		t.Errorf("DMALA has a KL of %g with narrow modes and %g with wide ones", a, b)
	}
}
