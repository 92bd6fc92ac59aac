package samplers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// written hides that a rule's weights are linear in Δ, so that they are written
// down before they are summed.
type written struct{ rule }

func (written) linear(int, int) (slope, stay float64, ok bool) { return 0, 0, false }

// TestSumsOfLinearWeights: what is summed without being written down are the same
// bits, over several blocks of categories, wherever the current one and the
// likeliest are; and what is no distribution is none either way.
func TestSumsOfLinearWeights(t *testing.T) {
	t.Parallel()
	const k = 2*blockLen + 100
	d, err := NewDomain(Coord{Kind: Nominal, K: k})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 1))
	for name, r := range map[string]*dlp{
		"sqrt": {dom: d, g: Sqrt, scales: scales{now: []float64{0.15}}},
		"beta": {dom: d, scales: scales{now: []float64{0.3}}, beta: []float64{0.8}},
	} {
		if _, _, ok := r.linear(0, 0); !ok {
			t.Fatalf("%s: not linear", name)
		}
		sum, write := newFactorised(d, r, 1), newFactorised(d, written{r}, 1)
		for range 3000 {
			g := make([]float64, k)
			scale := math.Exp(8 * rng.Float64())
			for v := range g {
				g[v] = scale * rng.NormFloat64()
			}
			at := func() int32 {
				edges := []int{
					0, blockLen - 1, blockLen, 2*blockLen - 1, 2 * blockLen, k - 1, rng.IntN(k), rng.IntN(k),
				}
				return int32(edges[rng.IntN(len(edges))])
			}
			x, y := at(), at()
			if bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}; rng.IntN(10) == 0 {
				g[at()] = bad[rng.IntN(len(bad))]
			}
			a, b := &sum.cur[0], &write.cur[0]
			lw, m := sum.sums(a, 0, 0, 0, x, y, g)
			lw2, m2 := write.sums(b, 0, 0, 0, x, y, g)
			if finite(m) != finite(m2) ||
				finite(m) && (m != m2 || lw != lw2 || !slices.Equal(a.cum, b.cum)) {
				t.Fatalf(
					"%s, from %d to %d: log-weight %v, largest %v, sums %v; written down %v, %v, %v", name, x, y,
					lw, m, a.cum, lw2, m2, b.cum,
				)
			}
		}
	}
}
