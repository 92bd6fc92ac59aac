package samplers

import "iter"

// A Neighbour is a state that differs from another in one coordinate.
type Neighbour struct {
	Coord int   // the coordinate in which they differ
	To    int32 // its category in the neighbour
}

// Neighbours lists the neighbours of x in the support, in ascending order of coordinate and
// category, each with its entry in what a NeighbourEstimator fills. x must be a state of d and stay
// as it is meanwhile. Of ordinal coordinates none are listed, as such estimates have no place for
// their neighbours.
func (d *Domain) Neighbours(x []int32) iter.Seq2[int, Neighbour] {
	return func(yield func(int, Neighbour) bool) {
		for i := range d.coords {
			switch c := &d.coords[i]; c.Kind {
			case Binary:
				if !yield(d.off[i], Neighbour{i, 1 - x[i]}) {
					return
				}
			case Nominal:
				for v := range int32(c.K) {
					if v != x[i] && c.ok(int(v)) && !yield(d.off[i]+int(v), Neighbour{i, v}) {
						return
					}
				}
			}
		}
	}
}
