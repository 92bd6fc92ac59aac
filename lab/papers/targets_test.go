package papers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"infill/lab/internal/check"
	"infill/lab/targets"
	"infill/lab/targets/targetstest"
	"infill/samplers"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// small returns one enumerable instance of every target.
func small() map[string]samplers.Gradienter {
	rng := rand.New(rand.NewPCG(11, 1))
	rbm := must(NewRBM(5, 2, 3, true))
	rbm.Randomise(rng, 1, 0.5)
	crbm := must(NewRBM(3, 4, 3, false))
	crbm.Randomise(rng, 1, 0.5)
	return map[string]samplers.Gradienter{
		"rbm":      rbm,
		"rbm k=4":  crbm,
		"fhmm":     must(NewFHMM(rng, 4, 2, 2, 0.7, 0.8, 0.7)),
		"fhmm k=3": must(NewFHMM(rng, 3, 2, 3, 0.6, 0.7, 0.9)),
		"peaks":    must(NewPeaks(2, 5, 1.5, 1e-3, []float64{1, 2, 3, 4})),
	}
}

func TestAbilitiesAgree(t *testing.T) {
	t.Parallel()
	targetstest.Abilities(t, small(), nil)
}

// TestSmoothGradients checks the gradients that are derivatives of a formula
// on real numbers, by finite differences of that formula.
func TestSmoothGradients(t *testing.T) {
	t.Parallel()
	all := small()
	const h = 1e-5
	p := all["peaks"].(*Peaks)
	f := func(a, b float64) float64 {
		s := 1e-3
		for j := range 4 {
			s += float64(j+1) * math.Exp(-math.Hypot(float64(j%2+1)*5-a, float64(j/2+1)*5-b)/1.5)
		}
		return math.Log(s)
	}
	g := make([]float64, 2)
	u := p.eval([]int32{3, 7}, g)
	if math.Abs(u-f(3, 7)) > 1e-10 || math.Abs(g[0]-(f(3+h, 7)-f(3-h, 7))/(2*h)) > 1e-6 ||
		math.Abs(g[1]-(f(3, 7+h)-f(3, 7-h))/(2*h)) > 1e-6 {
		t.Errorf("peaks: U %g, gradient %v", u, g)
	}
	if p.Mode([]int32{0, 0}) != 0 || p.Mode([]int32{14, 7}) != 1 || p.Mode([]int32{2, 8}) != 2 {
		t.Error("peaks: the nearest mode is another")
	}
	r := all["rbm"].(*RBM)
	rf := func(v []float64) float64 {
		s := 0.0
		for i, b := range r.B {
			s += b * v[i]
		}
		for j, c := range r.C {
			a := c
			for i := range v {
				a += r.W[j*r.D+i] * v[i]
			}
			s += math.Log(1 + math.Exp(a))
		}
		return s
	}
	fh := all["fhmm"].(*FHMM)
	ff := func(v []float64) float64 { // the multilinear form of log p
		s := 0.0
		for t := range fh.Length {
			res := fh.Y[t] - fh.W0
			for c := range fh.Chains {
				x := v[t*fh.Chains+c]
				res -= fh.W[2*c+1] * x
				if t == 0 {
					s += (1-x)*math.Log(fh.Start) + x*math.Log(1-fh.Start)
				} else {
					y := v[(t-1)*fh.Chains+c]
					same := x*y + (1-x)*(1-y)
					s += same*math.Log(fh.Stay) + (1-same)*math.Log(1-fh.Stay)
				}
			}
			s += -res*res/(2*fh.Sigma*fh.Sigma) - math.Log(fh.Sigma*math.Sqrt(2*math.Pi))
		}
		return s
	}
	targetstest.Smooth(t, "rbm", r, rf)
	targetstest.Smooth(t, "fhmm", fh, ff)
}

func TestExactAnswers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, target := range small() {
		e := must(targets.Enumerate(ctx, target))
		d := target.Domain()
		switch v := target.(type) {
		case *RBM:
			if z := must(v.LogZ()); math.Abs(z-e.LogZ) > 1e-10 {
				t.Errorf("%s: log Z %g, enumerated %g", name, z, e.LogZ)
			}
			m := must(v.Marginals())
			for i := range d.Len() {
				for s, p := range e.Marginal(i) {
					if math.Abs(m[i*v.K+s]-p) > 1e-10 {
						t.Errorf("%s: P(v_%d = %d) = %g, enumerated %g", name, i, s, m[i*v.K+s], p)
					}
				}
			}
		case *FHMM:
			z, m, err := v.Exact()
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(z-e.LogZ) > 1e-10 {
				t.Errorf("%s: log Z %g, enumerated %g", name, z, e.LogZ)
			}
			for i := range d.Len() {
				for s, p := range e.Marginal(i) {
					if math.Abs(m[i*v.K+s]-p) > 1e-10 {
						t.Errorf("%s: P(x_%d = %d) = %g, enumerated %g", name, i, s, m[i*v.K+s], p)
					}
				}
			}
		}
	}
}

// What is refused is named, with what is allowed.
func TestBadShapes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		err  error
		says string
	}{
		{second(NewRBM(2, 3, 1, true)), "categories is 3, want 2"},
		{second(NewRBM(0, 3, 1, false)), "visible units is 0, want 1 to"},
		{second(NewFHMM(rng, 3, 2, 2, 0, 0.5, 1)), "start is 0, want a number above 0 and below 1"},
		{second(NewFHMM(rng, 3, 2, 2, 0.5, 0.5, math.Inf(1))), "sigma is +Inf, want a number above 0"},
		{second(NewFHMM(rng, 3, 2, 1, 0.5, 0.5, 1)), "states of a chain is 1, want 2 to"},
		{second(NewPeaks(2, 5, 0, 1e-10, nil)), "width is 0, want a number above 0"},
		{second(NewPeaks(1, 5, 1, 1e-10, []float64{0})), "weight 0 is 0, want a number above 0"},
		{second(NewPeaks(2, 5, 1, 1e-10, []float64{1})), "weights is 1, want 4"},
		{second(NewPeaks(2, 5, 1, 0, nil)), "floor is 0, want a number above 0"},
	} {
		if !errors.Is(c.err, check.ErrShape) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%v, want %q", c.err, c.says)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// neighboursOf is a binary state and all that differ from it in one place.
func neighboursOf(x []int32) [][]int32 {
	out := [][]int32{x}
	for i := range x {
		y := append([]int32(nil), x...)
		y[i] = 1 - y[i]
		out = append(out, y)
	}
	return out
}
