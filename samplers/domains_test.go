package samplers

import "slices"

// The domains of the tests: coordinates that are all alike.

func Bits(n int) *Domain { return alike(n, Coord{Kind: Binary}) }

func Spins(n int) *Domain { return alike(n, Coord{Kind: Binary, Low: -1, Step: 2}) }

func Categories(n, k int) *Domain { return alike(n, Coord{Kind: Nominal, K: k}) }

func Integers(n, k int, low float64) *Domain {
	return alike(n, Coord{Kind: Ordinal, K: k, Low: low})
}

func alike(n int, c Coord) *Domain { return mustDomain(repeat(n, c)) }

func repeat(n int, c Coord) []Coord { return slices.Repeat([]Coord{c}, n) }

func mustDomain(coords []Coord) *Domain {
	d, err := NewDomain(coords...)
	if err != nil {
		panic(err)
	}
	return d
}
