package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// TestAddParameterGradient holds the gradient of a sum of U against finite differences, added to what
// was there.
func TestAddParameterGradient(t *testing.T) {
	t.Parallel()
	for _, k := range []int{2, 3} {
		r, err := NewRBM(4, k, 3, k == 2)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(uint64(k), 1))
		r.Randomise(rng, 1, 0.5)
		x := make([][]int32, 5)
		for n := range x {
			x[n] = make([]int32, r.D)
			for i := range x[n] {
				x[n][i] = int32(rng.IntN(k))
			}
		}
		sum := func() (total float64) {
			u := make([]float64, len(x))
			if err := r.Energy(context.Background(), x, u); err != nil {
				t.Fatal(err)
			}
			for _, v := range u {
				total += v
			}
			return total
		}
		const before, scale, h = 0.25, -0.5, 1e-5
		parts := map[string][2][]float64{}
		for name, values := range map[string][]float64{"B": r.B, "C": r.C, "W": r.W} {
			g := make([]float64, len(values))
			for i := range g {
				g[i] = before
			}
			parts[name] = [2][]float64{values, g}
		}
		r.AddParameterGradient(x, scale, parts["B"][1], parts["C"][1], parts["W"][1])
		for name, part := range parts {
			for i, v := range part[0] {
				part[0][i] = v + h
				up := sum()
				part[0][i] = v - h
				down := sum()
				part[0][i] = v
				if want := before + scale*(up-down)/(2*h); math.Abs(part[1][i]-want) > 1e-8 {
					t.Errorf("k = %d: gradient in %s_%d is %v, want %v", k, name, i, part[1][i], want)
				}
			}
		}
	}
}
