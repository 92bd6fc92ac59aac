package samplers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRandomIsUniform counts draws of domains of all kinds against the uniform law of the states
// that Check allows, which is enumerated. All of them must come and no other.
func TestRandomIsUniform(t *testing.T) {
	t.Parallel()
	const n = 20000
	for j := range 12 {
		rng := rand.New(rand.NewPCG(uint64(j), 7))
		tab := newTable(rng, smallDomain(rng, j), 1, 0)
		d, count := tab.dom, make([]float64, len(tab.states))
		for _, x := range d.Randoms(rng, n) {
			count[tab.index(x)]++
		}
		want, chi, free := n/d.Size(), 0.0, -1.0
		for s, x := range tab.states {
			if d.Check(x) != nil {
				if count[s] > 0 {
					t.Errorf("domain %d: %v is not allowed and comes %v times", j, x, count[s])
				}
				continue
			}
			chi += (count[s] - want) * (count[s] - want) / want
			free++
		}
		// χ² has mean free and variance 2·free.
		if free+1 != d.Size() || math.Abs(chi-free) > 6*math.Sqrt(2*free) {
			t.Errorf("domain %d: χ² is %v with %v degrees of freedom", j, chi, free)
		}
	}
}

// TestRandomDraws: results with a seed stay only as long as a coordinate takes one IntN, in order.
func TestRandomDraws(t *testing.T) {
	t.Parallel()
	d, err := NewDomain(Coord{Kind: Binary}, Coord{K: 5}, Coord{Kind: Ordinal, K: 3, Low: -1},
		Coord{K: 5, Allowed: []bool{false, true, false, true, true}}, Coord{K: 1})
	if err != nil {
		t.Fatal(err)
	}
	a, b := NewStream(1, "draws", 0), NewStream(1, "draws", 0)
	single := d.K(4) // its only value is drawn too
	for _, x := range d.Randoms(a, 100) {
		want := []int32{int32(b.IntN(2)), int32(b.IntN(5)), int32(b.IntN(3)),
			[]int32{1, 3, 4}[b.IntN(3)], int32(b.IntN(single))}
		if !slices.Equal(x, want) {
			t.Fatalf("state %v, want %v", x, want)
		}
	}
	if a.Uint64() != b.Uint64() {
		t.Error("it drew more than it says")
	}
}
