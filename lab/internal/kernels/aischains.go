package kernels

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"infill/samplers"
)

// annealing is the state of chains that all go the same way between q and π.
type annealing struct {
	AISOptions
	n    int // chains
	t    samplers.Target
	rows samplers.RowConditioner // nil: no rows
	d    *samplers.Domain
	logq [][]float64 // normalised
	cum  [][]float64 // cumulative weights, for draws by bisection
	free []int       // coordinates with a choice
	rng  []*rand.Rand
	x, y [][]int32
	u, v []float64
	f, g [][]float64 // rows of x and y
	logw []float64
	lw   []float64 // scratch
	c    []float64
}

func newAnnealing(t samplers.Target, logq [][]float64, n int, o AISOptions) (*annealing, error) {
	d := t.Domain()
	if len(logq) != d.Len() {
		return nil, fmt.Errorf("%w: q of %d coordinates, want %d", samplers.ErrState, len(logq), d.Len())
	}
	most := 0
	for i := range logq {
		most = max(most, d.K(i))
	}
	a := &annealing{AISOptions: o, n: n, t: t, d: d,
		x: matrix[int32](n, d.Len()), y: matrix[int32](n, d.Len()),
		u: make([]float64, n), v: make([]float64, n),
		logw: make([]float64, n), rng: make([]*rand.Rand, n),
		lw: make([]float64, most), c: make([]float64, most)}
	if r, ok := t.(samplers.RowConditioner); ok {
		a.rows = r
		a.f, a.g = matrix[float64](n, d.RowLen()), matrix[float64](n, d.RowLen())
	}
	for i, q := range logq {
		if len(q) != d.K(i) {
			return nil, fmt.Errorf("%w: q of coordinate %d has %d entries, want %d",
				samplers.ErrState, i, len(q), d.K(i))
		}
		p, cum := make([]float64, len(q)), make([]float64, len(q))
		for v := range p {
			p[v] = q[v]
			if !d.Allows(i, int32(v)) {
				p[v] = negInf
			}
		}
		lse := logSumExp(p)
		if !finite(lse) {
			return nil, fmt.Errorf("%w: q of coordinate %d has the normaliser %v", samplers.ErrState, i,
				math.Exp(lse))
		}
		sum := 0.0
		for v := range p {
			p[v] -= lse
			sum += math.Exp(p[v])
			cum[v] = sum
		}
		a.logq, a.cum = append(a.logq, p), append(a.cum, cum)
		if d.Support(i) > 1 {
			a.free = append(a.free, i)
		}
	}
	return a, nil
}

func (a *annealing) logqOf(x []int32) float64 {
	s := 0.0
	for i, v := range x {
		s += a.logq[i][v]
	}
	return s
}

// draw fills x with an independent draw of every coordinate.
func (a *annealing) draw(rng *rand.Rand, x []int32) {
	for i, cum := range a.cum {
		x[i] = int32(searchCum(rng.Float64()*cum[len(cum)-1], cum))
	}
}

// share estimates the logarithm of q's normaliser on the support, and the variance of the estimate.
func (a *annealing) share() (logShare, variance float64, err error) {
	if a.Support == nil {
		return 0, 0, nil
	}
	rng := samplers.NewStream(a.Seed, a.ID+"\x00share", 0)
	x := make([]int32, a.d.Len())
	hits := 0
	for range shareDraws {
		a.draw(rng, x)
		if a.Support(x) {
			hits++
		}
	}
	if hits < shareHits {
		return 0, 0, fmt.Errorf("%w: %d of %d do, and %d are needed",
			ErrRare, hits, shareDraws, shareHits)
	}
	s := float64(hits) / shareDraws
	return math.Log(s), (1 - s) / (s * shareDraws), nil
}

// start draws the first states from q on the support.
func (a *annealing) start(ctx context.Context) error {
	for k := range a.x {
		a.rng[k] = samplers.NewStream(a.Seed, a.ID+"\x00ais", k)
		for n := 0; ; n++ {
			if n == startDraws {
				return fmt.Errorf("%w: none of %d does", ErrRare, n)
			}
			a.draw(a.rng[k], a.x[k])
			if a.Support == nil || a.Support(a.x[k]) {
				break
			}
		}
	}
	if err := a.energies(ctx, a.x, a.u, a.f); err != nil {
		return err
	}
	for k, u := range a.u {
		if math.IsNaN(u) || math.IsInf(u, 1) {
			a.u[k] = negInf
		}
	}
	return nil
}

// resume begins with the states of From.
func (a *annealing) resume(ctx context.Context) error {
	for k, x := range a.From {
		if err := a.d.Check(x); err != nil {
			return fmt.Errorf("draw %d of π: %w", k+1, err)
		}
		copy(a.x[k], x)
		a.rng[k] = samplers.NewStream(a.Seed, a.ID+"\x00back", k)
	}
	if err := a.energies(ctx, a.x, a.u, a.f); err != nil {
		return err
	}
	for k, u := range a.u {
		if !finite(u) || math.IsInf(a.logqOf(a.x[k]), -1) {
			return fmt.Errorf("%w: draw %d of π has the energy %v, or q is 0 there; take states of "+
				"positive probability", samplers.ErrState, k+1, u)
		}
	}
	return nil
}

// walk adds up the weights along the rungs, with a step at each of those between the ends: from q
// to π, or down the other way.
func (a *annealing) walk(ctx context.Context, down bool) error {
	for r := 1; ; r++ {
		a.gain()
		if r == a.Rungs {
			return nil
		}
		at := r
		if down {
			at = a.Rungs - r
		}
		if err := a.step(ctx, at); err != nil {
			return err
		}
	}
}

// gain adds what the weights gain between two rungs.
func (a *annealing) gain() {
	for k := range a.x {
		a.logw[k] += (a.u[k] - a.logqOf(a.x[k])) / float64(a.Rungs)
	}
}

func (a *annealing) energies(ctx context.Context, x [][]int32, u []float64, f [][]float64) error {
	var err error
	if a.rows != nil {
		err = a.rows.EnergyRows(ctx, x, u, f, nil)
	} else {
		err = a.t.Energy(ctx, x, u)
	}
	if err != nil || a.Support == nil {
		return err
	}
	for k := range x {
		if !a.Support(x[k]) {
			u[k] = negInf
		}
	}
	return nil
}

// step moves every chain by one proposal for π_β of rung r.
func (a *annealing) step(ctx context.Context, r int) error {
	if len(a.free) == 0 {
		return nil
	}
	beta := float64(r) / float64(a.Rungs)
	var who []int
	var y [][]int32
	var g [][]float64
	for k, x := range a.x {
		i := a.coord(k, r)
		if math.IsInf(a.u[k], -1) {
			continue // the weight is 0, whatever comes
		}
		v := a.propose(k, i, beta)
		if v < 0 || int32(v) == x[i] {
			continue
		}
		copy(a.y[k], x)
		a.y[k][i] = int32(v)
		who, y = append(who, k), append(y, a.y[k])
		if a.g != nil {
			g = append(g, a.g[k])
		}
	}
	if len(who) == 0 {
		return nil
	}
	if err := a.energies(ctx, y, a.v[:len(who)], g); err != nil {
		return err
	}
	for j, k := range who {
		u, i := a.v[j], a.coord(k, r)
		row := a.row(k, i)
		la := beta * (u - a.u[k] - row[a.y[k][i]] + row[a.x[k][i]])
		if math.IsNaN(la) || math.IsInf(u, 1) || la < 0 && a.rng[k].Float64() >= math.Exp(la) {
			continue
		}
		a.u[k] = u
		a.x[k], a.y[k] = a.y[k], a.x[k]
		if a.f != nil {
			a.f[k], a.g[k] = a.g[k], a.f[k]
		}
	}
	return nil
}

// coord is the coordinate of chain k's proposal in step r.
func (a *annealing) coord(k, r int) int { return a.free[(k+r)%len(a.free)] }

// row is log f_i at the state of chain k.
func (a *annealing) row(k, i int) []float64 {
	if a.rows == nil {
		return a.logq[i]
	}
	return a.f[k][a.d.RowOffset(i):][:a.d.K(i)]
}

// propose draws a category of coordinate i, −1 for none.
func (a *annealing) propose(k, i int, beta float64) int {
	row, q := a.row(k, i), a.logq[i]
	lw := a.lw[:len(q)]
	for v := range lw {
		lw[v] = negInf
		if !math.IsInf(q[v], -1) {
			lw[v] = (1-beta)*q[v] + beta*row[v]
		}
	}
	v, _ := drawLog(a.rng[k], lw, a.c)
	return v
}
