package kernels

import (
	"context"
	"math"
	"sort"

	"infill/samplers"
)

// LB1 is the locally balanced sampler with exact neighbour energies (Zanella
// 2020, section 2): a single-coordinate change is drawn with probability
//
//	q(θ→θ') = g(π(θ')/π(θ)) / Z_g(θ),   Z_g(θ) = Σ_{neighbours} g(π(·)/π(θ))
//
// and accepted with probability min(1, Z_g(θ)/Z_g(θ')), to which the
// Metropolis–Hastings ratio reduces for a balanced g. Cost: the ΣK_i energies
// of all values of every coordinate a step.
type LB1 struct {
	Balance samplers.Balance // g
}

func (s *LB1) Attach(c *samplers.Chains) (samplers.Kernel, error) {
	if err := checkBalance(lb1Info.Name, s.Balance); err != nil {
		return nil, err
	}
	free, err := freeOf(c.Domain)
	if err != nil {
		return nil, err
	}
	l := &lb1Kernel{c: c, g: s.Balance, n: newNeighbourhood(c), y: matrix[int32](c.Len(),
		c.Domain.Len())}
	l.off = make([]int, len(free)+1)
	l.free = free
	total := 0.0
	for j, i := range free {
		total += float64(c.Domain.Support(int(i)))
		l.off[j+1] = l.off[j] + c.Domain.K(int(i))
	}
	if l.n.native == nil {
		if err := checkMany(lb1Info.Name, total); err != nil {
			return nil, err
		}
	}
	size := l.off[len(free)]
	l.cur, l.next = matrix[float64](c.Len(), size), matrix[float64](c.Len(), size)
	l.cum = make([]float64, size)
	l.curZ, l.ref = make([]float64, c.Len()), make([]float64, c.Len())
	return l, nil
}

type lb1Kernel struct {
	c         *samplers.Chains
	g         samplers.Balance
	n         *neighbourhood
	free      []int32
	off       []int
	y         [][]int32
	cur, next [][]float64 // log g at every neighbour, −∞ for no move
	curZ      []float64   // log Z_g at the current state
	ref       []float64   // U at the states last scored, up to a constant
	cum       []float64
	qs        []asked
	qx        [][]int32
}

// score sets rows[k] to the log-weights of the moves from x[k].
func (l *lb1Kernel) score(ctx context.Context, x [][]int32, rows [][]float64) error {
	l.qs, l.qx = l.qs[:0], l.qx[:0]
	for k := range x {
		for j, i := range l.free {
			l.qs = append(l.qs, asked{k, int(i), rows[k][l.off[j]:l.off[j+1]]})
			l.qx = append(l.qx, x[k])
		}
	}
	if err := l.n.fill(ctx, l.qx, l.qs); err != nil {
		return err
	}
	for _, q := range l.qs {
		clean(l.c, q.k, q.u, l.c.Domain.Coord(q.i).Allowed)
		at := x[q.k][q.i]
		ref := q.u[at]
		for v := range q.u {
			q.u[v] = l.g.Log(q.u[v] - ref)
		}
		q.u[at] = negInf
		l.ref[q.k] = ref
	}
	return nil
}

func (l *lb1Kernel) Prepare(ctx context.Context) error {
	if err := l.c.StartEnergies(ctx); err != nil {
		return err
	}
	if err := l.score(ctx, l.c.X, l.cur); err != nil {
		return err
	}
	for k := range l.cur {
		l.curZ[k] = logSumExp(l.cur[k])
	}
	return nil
}

// Step implements Kernel.
func (l *lb1Kernel) Step(ctx context.Context) error {
	l.draw()
	if err := l.score(ctx, l.y, l.next); err != nil {
		return err
	}
	for k := range l.c.X {
		l.decide(k, logSumExp(l.next[k]))
	}
	return nil
}

// draw draws the proposals.
func (l *lb1Kernel) draw() {
	c := l.c
	for k, x := range c.X {
		copy(l.y[k], x)
		j, _ := drawLog(c.RNG[k], l.cur[k], l.cum)
		if j < 0 {
			c.Last[k] = samplers.Move{Prob: 1} // no neighbour has mass
			continue
		}
		c.Last[k] = samplers.Move{Moved: true, Flips: 1}
		f := sort.SearchInts(l.off, j+1) - 1
		l.y[k][l.free[f]] = int32(j - l.off[f])
	}
}

// decide accepts or rejects the proposal of chain k, where log Z_g is z. (The
// decision of samplers.NewMH has the energy of the proposal, which a native
// Conditioner gives up to a constant only.)
func (l *lb1Kernel) decide(k int, z float64) {
	c := l.c
	mv := &c.Last[k]
	if mv.Moved {
		la := l.curZ[k] - z
		if la != la {
			la = negInf
			c.Stats[k].NonFinite++
		}
		mv.Prob = math.Exp(math.Min(0, la))
		if la >= 0 || c.RNG[k].Float64() < mv.Prob {
			mv.Accepted, mv.Hamming = true, 1
			c.X[k], l.y[k] = l.y[k], c.X[k]
			l.cur[k], l.next[k] = l.next[k], l.cur[k]
			l.curZ[k] = z
			c.U[k] = l.ref[k]
			if l.n.native != nil {
				c.U[k] = math.NaN() // known up to a constant only
			}
		}
	}
}

func (s *LB1) Info() samplers.Info { return lb1Info }

var lb1Info = samplers.Info{
	Name: "lb1", Title: "Locally balanced",
	Exact: true, Corrected: true,
	Doc: "changes one coordinate a step by the exact energies of all neighbours " +
		"(Zanella 2020)",
	Needs: []samplers.Need{samplers.NeedEnergies}, Cost: "the sum of K energies",
	Params: []samplers.Param{balanceParam(func(s samplers.Sampler) *samplers.Balance {
		return &s.(*LB1).Balance
	})},
}
