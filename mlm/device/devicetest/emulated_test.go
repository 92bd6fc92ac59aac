package devicetest

import (
	"math"
	"math/rand/v2"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
)

// The runtime computes products of the rounded factors, rounds them, and takes no rounding out.
func TestRoundProducts(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	const n = 8
	rng := rand.New(rand.NewPCG(5, 1))
	w, x, z := Numbers(rng, n*n), Numbers(rng, n), Numbers(rng, n)
	m := Squares("MatMul", "FusedMatMul", w, n)
	Emulation{}.Rewrite(m, false)
	if k := len(m.Graph.Nodes); k != 2 {
		t.Errorf("%d nodes in float32", k)
	}
	Emulation{}.Rewrite(m, true)
	if k := len(m.Graph.Nodes); k != 2*7 { // two casts for each factor and result
		t.Errorf("%d nodes", k)
	}
	out := RunSquares(t, m, ort.Config{}, n, x, z)
	for k, in := range [][]float32{x, z} {
		for c := range n {
			want := 0.0
			for i := range n {
				at := i*n + c
				if k == 1 {
					at = c*n + i
				}
				want += ToBFloat16(in[i]) * ToBFloat16(w[at])
			}
			// Half a unit of the last digit, and what the sum in float32 may be off by.
			y := float64(out[k][c])
			if math.Abs(want-y) > math.Abs(want)/256+1e-5 || y != ToBFloat16(out[k][c]) {
				t.Errorf("product %d, column %d: %v, want %v, rounded", k, c, y, want)
			}
		}
	}
}
