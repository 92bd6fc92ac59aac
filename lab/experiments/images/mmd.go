package images

import (
	"math"
	"math/bits"
)

// A Sample is states made ready for MMD. It has the mean of the kernel over pairs of two different
// ones.
type Sample struct {
	packed [][]uint64
	sites  int
	levels int
	within float64
}

// NewSample packs states of at most 16 levels. There must be two at least.
func NewSample(x [][]int32, levels int) *Sample {
	s := &Sample{sites: len(x[0]), levels: levels, packed: make([][]uint64, len(x))}
	// A level takes as many bits as there are levels, one of them set. Two states then differ in two
	// bits for every site at which they differ.
	for k, state := range x {
		p := make([]uint64, (len(state)*levels+63)/64)
		for i, v := range state {
			at := i*levels + int(v)
			p[at/64] |= 1 << (at % 64)
		}
		s.packed[k] = p
	}
	table, n := s.kernel(), float64(len(x))
	for k, a := range s.packed {
		for _, b := range s.packed[:k] {
			s.within += 2 * table[differ(a, b)]
		}
	}
	s.within /= n * (n - 1)
	return s
}

// kernel is exp(−d/sites) by 2d, for d the number of sites at which states differ.
func (s *Sample) kernel() []float64 {
	table := make([]float64, 2*s.sites+1)
	for d := range table {
		table[d] = math.Exp(-float64(d) / 2 / float64(s.sites))
	}
	return table
}

func differ(a, b []uint64) int {
	d := 0
	for w, v := range a {
		d += bits.OnesCount64(v ^ b[w])
	}
	return d
}

// MMD is the squared maximum mean discrepancy of two samples for the kernel
//
//	k(x, y) = exp(−(share of sites at which x and y differ))
//
// estimated without bias, as a U-statistic (Gretton and others 2012, equation 3). It may therefore
// be below 0. DLP and ACS name no kernel. This one comes from the public code that both build on,
// GWG's mmd.py. That takes the V-statistic, which is biased: it is larger by (1 − the mean of k
// between two states)·(1/n + 1/m).
func MMD(a, b *Sample) float64 {
	table, sum := a.kernel(), 0.0
	for _, x := range a.packed {
		for _, y := range b.packed {
			sum += table[differ(x, y)]
		}
	}
	return a.within + b.within - 2*sum/float64(len(a.packed)*len(b.packed))
}
