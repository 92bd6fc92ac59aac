package anneal

import (
	"slices"
	"testing"

	"infill/samplers"
)

// TestNeighbours compares the list with one that was written by hand.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	d, err := samplers.NewDomain(
		samplers.Coord{Kind: samplers.Nominal, K: 4, Allowed: []bool{true, false, true, true}},
		samplers.Coord{Kind: samplers.Ordinal, K: 3},
		samplers.Coord{Kind: samplers.Binary, Low: -1, Step: 2},
		samplers.Coord{Kind: samplers.Nominal, K: 1},
		samplers.Coord{Kind: samplers.Nominal, K: 2},
		samplers.Coord{Kind: samplers.Binary},
	)
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		entry int
		neighbour
	}
	want := []listed{
		{0, neighbour{coord: 0, to: 0}}, {3, neighbour{coord: 0, to: 3}},
		{5, neighbour{coord: 2, to: 0}}, // entry 4 is the gradient of the ordinal coordinate
		{7, neighbour{coord: 4, to: 0}},
		{9, neighbour{coord: 5, to: 1}},
	}
	x := []int32{2, 1, 1, 0, 1, 0}
	for most := range len(want) + 1 {
		var got []listed
		for entry, n := range neighbours(d, x) {
			if len(got) == most {
				break
			}
			got = append(got, listed{entry, n})
		}
		if !slices.Equal(got, want[:most]) {
			t.Errorf("the first %d neighbours are %v, want %v", most, got, want[:most])
		}
	}
}
