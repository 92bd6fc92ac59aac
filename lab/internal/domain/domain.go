// Package domain makes domains whose coordinates are all alike.
package domain

import (
	"slices"

	"infill/samplers"
)

// Bits is {0,1}^n, for n of at least 1 as in all domains here.
func Bits(n int) *samplers.Domain { return of(n, samplers.Coord{Kind: samplers.Binary}) }

// Spins is {−1,+1}^n.
func Spins(n int) *samplers.Domain {
	return of(n, samplers.Coord{Kind: samplers.Binary, Low: -1, Step: 2})
}

// Categories is n nominal coordinates of k categories each.
func Categories(n, k int) *samplers.Domain {
	return of(n, samplers.Coord{Kind: samplers.Nominal, K: k})
}

// Integers is n ordinal coordinates with the values low..low+k−1.
func Integers(n, k int, low float64) *samplers.Domain {
	return of(n, samplers.Coord{Kind: samplers.Ordinal, K: k, Low: low})
}

// of panics where the experiments ask for a domain that there is not, see [samplers.NewDomain].
func of(n int, c samplers.Coord) *samplers.Domain {
	d, err := samplers.NewDomain(slices.Repeat([]samplers.Coord{c}, n)...)
	if err != nil {
		panic(err)
	}
	return d
}
