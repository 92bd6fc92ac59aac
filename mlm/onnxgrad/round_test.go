package onnxgrad

import (
	"math"
	"math/rand/v2"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
)

// toBFloat16 keeps eight binary digits, to the nearest and to even in the middle.
func toBFloat16(x float32) float64 {
	if x == 0 {
		return 0
	}
	_, e := math.Frexp(float64(x))
	unit := math.Ldexp(1, e-8)
	return math.RoundToEven(float64(x)/unit) * unit
}

// The runtime computes products of the rounded factors, rounds them, and takes no rounding out.
func TestRoundProducts(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	const n = 8
	rng := rand.New(rand.NewPCG(5, 1))
	w, x, z := numbers(rng, n*n), numbers(rng, n), numbers(rng, n)
	m := squares("MatMul", "FusedMatMul", w, n)
	if k := RoundProducts(m); k != 2 {
		t.Errorf("%d products", k)
	}
	out := runSquares(t, m, ort.Config{Level: ort.LevelExtended}, n, x, z)
	for k, in := range [][]float32{x, z} {
		for c := range n {
			want := 0.0
			for i := range n {
				at := i*n + c
				if k == 1 {
					at = c*n + i
				}
				want += toBFloat16(in[i]) * toBFloat16(w[at])
			}
			// Half a unit of the last digit, and what the sum in float32 may be off by.
			y := float64(out[k][c])
			if math.Abs(want-y) > math.Abs(want)/256+1e-5 || y != toBFloat16(out[k][c]) {
				t.Errorf("product %d, column %d: %v, want %v, rounded", k, c, y, want)
			}
		}
	}
}
