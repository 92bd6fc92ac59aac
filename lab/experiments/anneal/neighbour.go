package anneal

import (
	"iter"

	"infill/samplers"
)

// A neighbour is a state that differs from another in one coordinate.
type neighbour struct {
	coord int   // the coordinate in which they differ
	to    int32 // its category in the neighbour
}

// neighbours lists the neighbours of x in the support of d, in ascending order of coordinate and
// category, each with its entry in what a samplers.RatioEstimator fills. Of ordinal coordinates
// none are listed, as such estimates have no place for their neighbours.
func neighbours(d *samplers.Domain, x []int32) iter.Seq2[int, neighbour] {
	return func(yield func(int, neighbour) bool) {
		for i, v := range x {
			switch off := d.GradOffset(i); d.Coord(i).Kind {
			case samplers.Binary:
				if !yield(off, neighbour{i, 1 - v}) {
					return
				}
			case samplers.Nominal:
				for w := range int32(d.K(i)) {
					if w != v && d.Allows(i, w) && !yield(off+int(w), neighbour{i, w}) {
						return
					}
				}
			}
		}
	}
}
