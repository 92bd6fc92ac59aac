package papers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"infill/lab/targets"
)

// TestFHMMOneHot compares U and its gradient with the multilinear form of log p and the square of
// the residual, written out on one-hot vectors, and with differences of it.
func TestFHMMOneHot(t *testing.T) {
	t.Parallel()
	f := must(NewFHMM(rand.New(rand.NewPCG(2, 2)), 4, 2, 3, 0.9, 0.8, 1.5))
	start := []float64{math.Log(0.9), math.Log(0.05), math.Log(0.05)}
	formula := func(h []float64) float64 {
		s := 0.0
		for i := range f.Length {
			res := f.Y[i] - f.W0
			for c := range 2 {
				at := (i*2 + c) * 3
				for v := range 3 {
					res -= f.W[c*3+v] * h[at+v]
					if i == 0 {
						s += start[v] * h[at+v]
						continue
					}
					for u := range 3 {
						p := 0.1
						if u == v {
							p = 0.8
						}
						s += h[at-6+u] * h[at+v] * math.Log(p)
					}
				}
			}
			s -= res*res/(2*1.5*1.5) + math.Log(1.5*math.Sqrt(2*math.Pi))
		}
		return s
	}
	x := []int32{0, 1, 0, 2, 2, 2, 1, 2}
	h, grad := make([]float64, 24), make([]float64, 24)
	for i, v := range x {
		h[3*i+int(v)] = 1
	}
	if u, want := f.eval(x, grad), formula(h); math.Abs(u-want) > 1e-10 {
		t.Errorf("U is %.12f, want %.12f", u, want)
	}
	want := make([]float64, 24)
	for j, old := range h {
		h[j] = old + 1e-5
		up := formula(h)
		h[j] = old - 1e-5
		want[j] = (up - formula(h)) / 2e-5
		h[j] = old
	}
	for i := range x { // only differences within a vector mean something
		for v := 3 * i; v < 3*i+3; v++ {
			if got, want := grad[v]-grad[3*i], want[v]-want[3*i]; math.Abs(got-want) > 1e-5 {
				t.Errorf("slope %d is %g above the first of its vector, want %g", v, got, want)
			}
		}
	}
}

// TestFHMMLaw reads the states off observations without noise, and counts how chains begin and
// go on.
func TestFHMMLaw(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for _, k := range []int{2, 4} {
		const n = 4000
		begin, stay, moves := 0., 0., make([]float64, k) // moves by category, as steps of v + 1, …
		for range n {
			f := must(NewFHMM(rng, 2, 1, k, 0.9, 0.8, 1e-9))
			state := func(t int) int {
				for v, w := range f.W {
					if math.Abs(f.Y[t]-f.W0-w) < 1e-6 {
						return v
					}
				}
				return -1
			}
			if state(0) == 0 {
				begin += 1. / n
			}
			if step := (state(1) - state(0) + k) % k; step == 0 {
				stay += 1. / n
			} else {
				moves[step] += 1. / n
			}
		}
		if math.Abs(begin-0.9) > 0.024 || math.Abs(stay-0.8) > 0.032 { // five standard errors
			t.Errorf("k = %d: %.3f begin in state 0, %.3f stay, want .9 and .8", k, begin, stay)
		}
		for step, p := range moves[1:] {
			if math.Abs(p-0.2/float64(k-1)) > 0.032 {
				t.Errorf("k = %d: %.3f move by %d, want %.3f", k, p, step+1, 0.2/float64(k-1))
			}
		}
	}
}

// TestFHMMNoise: observations lie off the state that makes them by a normal number of the given
// scale. States far apart tell which.
func TestFHMMNoise(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	const sigma = 0.05
	sum, fourth, n := 0., 0., 0.
	for n < 20000 {
		f := must(NewFHMM(rng, 40, 1, 2, 0.9, 0.8, sigma))
		if math.Abs(f.W[1]) < 0.7 {
			continue
		}
		for _, y := range f.Y {
			off := math.Min(math.Abs(y-f.W0), math.Abs(y-f.W0-f.W[1])) / sigma
			sum, fourth, n = sum+off*off, fourth+off*off*off*off, n+1
		}
	}
	if v := sum / n; math.Abs(v-1) > 5*math.Sqrt(2/n) {
		t.Errorf("the noise has variance %.4f σ², want 1", v)
	}
	if v := fourth / n; math.Abs(v-3) > 5*math.Sqrt(96/n) {
		t.Errorf("the fourth moment of the noise is %.3f σ⁴, want 3", v)
	}
}

// TestFHMMExactLimits: sharp observations underflow nothing, and what is too large is refused.
func TestFHMMExactLimits(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	f := must(NewFHMM(rng, 5, 2, 3, 1-1e-12, 1-1e-12, 1e-4))
	f.Y[2] += 50 // against everything that is likely
	z, marg, err := f.Exact()
	e := must(targets.Enumerate(context.Background(), f))
	if err != nil || math.Abs(z-e.LogZ) > 1e-9*math.Abs(e.LogZ) {
		t.Fatalf("log Z is %g, %v, enumerated %g", z, err, e.LogZ)
	}
	for i := range 10 {
		for v, p := range e.Marginal(i) {
			if math.Abs(marg[3*i+v]-p) > 1e-6 {
				t.Errorf("P(x_%d = %d) is %g, enumerated %g", i, v, marg[3*i+v], p)
			}
		}
	}
	for _, c := range [][3]int{{2, 17, 2}, {300, 16, 2}, {1, 11, 3}} {
		f := must(NewFHMM(rng, c[0], c[1], c[2], 0.9, 0.8, 2))
		if _, _, err := f.Exact(); !errors.Is(err, targets.ErrTooLarge) {
			t.Errorf("%v: %v", c, err)
		}
	}
}
