package samplers

import (
	"fmt"
	"math"

	"infill/internal/nearest"
)

// Kind says what the categories of a coordinate mean.
type Kind uint8

const (
	Nominal Kind = iota // no order: one-hot vectors
	Binary              // the numbers Low and Low+Step
	Ordinal             // the numbers Low + v·Step, v = 0..K−1
)

// String returns the kind's name.
func (k Kind) String() string {
	return nearest.Of([]string{"nominal", "binary", "ordinal"}, "kind", k)
}

// maxCategories bounds K_i and the length of a gradient, so that sizes read
// from a file cannot overflow or exhaust memory by mistake.
const maxCategories = 1 << 28

// Coord describes one coordinate of a domain.
type Coord struct {
	Kind Kind
	K    int     // number of categories, at least 1; 0 means 2 for Binary
	Low  float64 // numeric value of category 0 (Binary, Ordinal)
	Step float64 // spacing of the values; 0 means 1 (Binary, Ordinal)
	// Allowed restricts the support: Allowed[v] is false where category v has probability zero. nil
	// allows all; otherwise its length is K. A Binary coordinate takes no mask.
	Allowed []bool
}

// value is the number that category v stands for; v itself for Nominal.
func (c *Coord) value(v int32) float64 {
	if c.Kind == Nominal {
		return float64(v)
	}
	return c.Low + float64(v)*c.Step
}

// ok reports whether category v is in the support.
func (c *Coord) ok(v int) bool { return c.Allowed == nil || c.Allowed[v] }

// Domain is the space Θ of a target. It is immutable and safe for concurrent
// use once made.
type Domain struct {
	coords  []Coord
	off     []int // gradient offset per coordinate
	free    []int // allowed categories per coordinate
	gradLen int
	rowOff  []int // of the rows, with their length at the end
	maxK    int
	minD2   float64 // smallest squared distance of a move
}

// NewDomain checks the coordinates and lays out the gradient. Bits are
//
//	NewDomain(slices.Repeat([]Coord{{Kind: Binary}}, n)...)
func NewDomain(coords ...Coord) (*Domain, error) {
	d := &Domain{coords: make([]Coord, len(coords)), off: make([]int, len(coords)), free: make([]int,
		len(coords)), rowOff: make([]int, len(coords)+1), minD2: math.Inf(1)}
	if len(coords) == 0 {
		return nil, fmt.Errorf("%w: a domain needs at least one coordinate", ErrDomain)
	}
	for i, c := range coords {
		if c.Kind == Binary && c.K == 0 {
			c.K = 2
		}
		if c.Step == 0 {
			c.Step = 1
		}
		if err := c.check(i); err != nil {
			return nil, err
		}
		d.free[i] = c.K
		if c.Allowed != nil {
			c.Allowed = append([]bool(nil), c.Allowed...)
			d.free[i] = 0
			for _, ok := range c.Allowed {
				if ok {
					d.free[i]++
				}
			}
			if d.free[i] == 0 {
				return nil, fmt.Errorf("%w: coordinate %d allows no category, want at least one", ErrDomain, i)
			}
			if d.free[i] == c.K {
				c.Allowed = nil
			}
		}
		d.coords[i] = c
		d.off[i] = d.gradLen
		d.gradLen += d.gradWidth(i)
		d.rowOff[i+1] = d.rowOff[i] + c.K
		if d.gradLen > maxCategories {
			return nil, fmt.Errorf("%w: more than %d gradient entries together; use fewer coordinates or "+
				"categories", ErrDomain, maxCategories)
		}
		d.maxK = max(d.maxK, c.K)
		if d.free[i] > 1 {
			d.minD2 = min(d.minD2, c.dist2(1))
		}
	}
	if math.IsInf(d.minD2, 1) { // nothing can move
		d.minD2 = 2
	}
	return d, nil
}

// check checks coordinate i, whose defaults are set.
func (c *Coord) check(i int) error {
	switch {
	case c.Kind > Ordinal:
		return fmt.Errorf("%w: coordinate %d has unknown kind %d, want Nominal, Binary or Ordinal",
			ErrDomain, i, c.Kind)
	case c.K < 1 || c.K > maxCategories:
		return fmt.Errorf("%w: coordinate %d has %d categories, want 1 to %d", ErrDomain, i, c.K,
			maxCategories)
	case c.Kind == Binary && c.K != 2:
		return fmt.Errorf("%w: binary coordinate %d has %d categories, want 2", ErrDomain, i, c.K)
	case c.Kind == Binary && c.Allowed != nil:
		return fmt.Errorf("%w: binary coordinate %d has a support mask; leave a fixed "+
			"coordinate out instead", ErrDomain, i)
	case math.IsNaN(c.Low) || math.IsInf(c.Low, 0) || math.IsNaN(c.Step) || math.IsInf(c.Step, 0):
		return fmt.Errorf("%w: coordinate %d has values %g + v·%g, want finite Low and Step",
			ErrDomain, i, c.Low, c.Step)
	case c.Allowed != nil && len(c.Allowed) != c.K:
		return fmt.Errorf("%w: coordinate %d has a mask of %d entries for %d categories, want "+
			"one for each", ErrDomain, i, len(c.Allowed), c.K)
	}
	return nil
}

// dist2 is the squared distance between categories that are steps apart.
func (c *Coord) dist2(steps float64) float64 {
	if c.Kind == Nominal {
		return 2
	}
	return steps * steps * c.Step * c.Step
}

// Len is the number of coordinates.
func (d *Domain) Len() int { return len(d.coords) }

// Coord returns the description of coordinate i.
func (d *Domain) Coord(i int) Coord { return d.coords[i] }

// K is the number of categories of coordinate i.
func (d *Domain) K(i int) int { return d.coords[i].K }

// Support is the number of allowed categories of coordinate i.
func (d *Domain) Support(i int) int { return d.free[i] }

// Value is the number that category v of coordinate i stands for.
func (d *Domain) Value(i int, v int32) float64 { return d.coords[i].value(v) }

// Allows reports whether category v of coordinate i is in the support.
func (d *Domain) Allows(i int, v int32) bool {
	return v >= 0 && int(v) < d.coords[i].K && d.coords[i].ok(int(v))
}

// GradLen is the length of a gradient.
func (d *Domain) GradLen() int { return d.gradLen }

// GradOffset is the index of coordinate i's first gradient entry. A nominal one has K(i) of them,
// another one.
func (d *Domain) GradOffset(i int) int { return d.off[i] }

// gradWidth is the number of gradient entries of coordinate i.
func (d *Domain) gradWidth(i int) int {
	if d.coords[i].Kind == Nominal {
		return d.coords[i].K
	}
	return 1
}

// RowOffset is where the row of coordinate i begins, its K(i) entries, in the rows of a state.
func (d *Domain) RowOffset(i int) int { return d.rowOff[i] }

// RowLen is the length of the rows of a state: Σ of K.
func (d *Domain) RowLen() int { return d.rowOff[len(d.coords)] }

// row returns the row of coordinate i.
func (d *Domain) row(rows []float64, i int) []float64 {
	return rows[d.rowOff[i]:d.rowOff[i+1]]
}

// sums returns what stands behind the rows of a state, see NeedRows: two numbers for each
// coordinate, or nil.
func (d *Domain) sums(rows []float64) []float64 {
	if n := d.RowLen(); len(rows) > n {
		return rows[n:]
	}
	return nil
}

// movable are the coordinates with more than one allowed category. Without any the error is an
// ErrDomain.
func (d *Domain) movable() (free []int32, err error) {
	for i, n := range d.free {
		if n > 1 {
			free = append(free, int32(i))
		}
	}
	if free == nil {
		return nil, fmt.Errorf("%w: no coordinate has more than one allowed category, so that there "+
			"is nothing to sample; allow another category of some coordinate, or take the only "+
			"state as the answer", ErrDomain)
	}
	return free, nil
}

// Size is the number of states, +Inf when it exceeds float64.
func (d *Domain) Size() float64 {
	n := 1.0
	for _, f := range d.free {
		n *= float64(f)
	}
	return n
}

// Check reports, as an error that wraps ErrState, why x is not a state of d.
func (d *Domain) Check(x []int32) error {
	if len(x) != len(d.coords) {
		return fmt.Errorf("%w: %d coordinates, want %d", ErrState, len(x), len(d.coords))
	}
	for i, v := range x {
		if v < 0 || int(v) >= d.coords[i].K {
			return fmt.Errorf("%w: coordinate %d is %d, want 0 to %d", ErrState, i, v, d.coords[i].K-1)
		}
		if !d.coords[i].ok(int(v)) {
			return fmt.Errorf("%w: coordinate %d is %d, which the support mask excludes; want an allowed "+
				"category", ErrState, i, v)
		}
	}
	return nil
}

// Delta is Δ_i(to) of the package documentation, from the gradient grad of a state whose
// coordinate i is from.
func (d *Domain) Delta(i int, from, to int32, grad []float64) float64 {
	return d.coords[i].delta(d.grad(grad, i), from, to)
}

// delta is Δ_i(v): the first-order estimate of the change of U when the
// coordinate moves from xi to v, given its gradient entries g.
func (c *Coord) delta(g []float64, xi, v int32) float64 {
	if c.Kind == Nominal {
		return g[v] - g[xi]
	}
	return g[0] * float64(v-xi) * c.Step
}

// grad returns the gradient entries of coordinate i.
func (d *Domain) grad(g []float64, i int) []float64 {
	return g[d.off[i] : d.off[i]+d.gradWidth(i)]
}

// maskOut sets the entries outside the support to −∞.
func maskOut(d *Domain, i int, lp []float64) {
	if a := d.coords[i].Allowed; a != nil {
		for v, ok := range a {
			if !ok {
				lp[v] = negInf
			}
		}
	}
}
