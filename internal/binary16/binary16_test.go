package binary16

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"testing"
)

// TestRound compares with the definition: the nearest of all half-precision numbers, the one with
// an even last bit where two are as near.
func TestRound(t *testing.T) {
	t.Parallel()
	value := func(h uint16) float64 { // of a finite one
		m, e := float64(h&0x3ff), int(h>>10&31)
		if e > 0 {
			m, e = m+1024, e-1
		}
		return math.Ldexp(m, e-24)
	}
	check := func(x float32) {
		t.Helper()
		abs := math.Abs(float64(x))
		best := uint16(sort.Search(0x7c00, func(i int) bool { return value(uint16(i)) >= abs }))
		if best > 0 {
			// The distances are exact: both are differences of float32 numbers.
			above := new(big.Float).Sub(big.NewFloat(value(best)), big.NewFloat(abs))
			below := new(big.Float).Sub(big.NewFloat(abs), big.NewFloat(value(best-1)))
			if c := below.Cmp(above); c < 0 || c == 0 && best&1 == 1 {
				best--
			}
		}
		if math.Signbit(float64(x)) {
			best |= 0x8000
		}
		if got := Widen(best); !math.IsInf(float64(got), 0) && math.Abs(float64(got)) !=
			value(best&0x7fff) {
			t.Fatalf("Widen(%#x) = %g, want %g", best, got, value(best&0x7fff))
		}
		if got := Round(x); got != best {
			t.Fatalf("Round(%g) = %#x, want %#x", x, got, best)
		}
	}
	for h := range uint16(0x7c00) { // each number, its neighbours, the middle to the next
		v := float32(value(h))
		mid := float32((value(h) + value(h+1)) / 2)
		for _, x := range []float32{v, -v, mid, math.Nextafter32(mid, 0), math.Nextafter32(mid, 1e9)} {
			check(x)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		if x := math.Float32frombits(r.Uint32()); x == x && !math.IsInf(float64(x), 0) {
			check(x)
		}
	}
	for x, want := range map[float32]uint16{float32(math.Inf(1)): 0x7c00,
		float32(math.Inf(-1)): 0xfc00, 1e30: 0x7c00, 65519: 0x7bff, 65520: 0x7c00} {
		if got := Round(x); got != want {
			t.Errorf("Round(%g) = %#x, want %#x", x, got, want)
		}
	}
	if got := Round(float32(math.NaN())); got&0x7c00 != 0x7c00 || got&0x3ff == 0 {
		t.Errorf("Round(NaN) = %#x", got)
	}
}

// TestWiden has values of the standard.
func TestWiden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		h    uint16
		want float64
	}{{0, 0}, {0x3c00, 1}, {0x3555, 0.333251953125}, {0x7bff, 65504}, {0x0400,
		math.Ldexp(1, -14)}, {0x03ff, 1023 * math.Ldexp(1, -24)},
		{0x8001, -math.Ldexp(1, -24)}, {0x7c00, math.Inf(1)}, {0xfc00, math.Inf(-1)}} {
		if got := float64(Widen(c.h)); got != c.want {
			t.Errorf("%#x: %v, want %v", c.h, got, c.want)
		}
	}
	if v := Widen(0x7e00); v == v {
		t.Errorf("NaN became %v", v)
	}
	if !math.Signbit(float64(Widen(0x8000))) {
		t.Error("negative zero lost its sign")
	}
}
