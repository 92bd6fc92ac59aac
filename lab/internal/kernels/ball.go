package kernels

import (
	"context"

	"infill/samplers"
)

// ball enumerates, around a centre, the states that differ from it in at most
// radius coordinates of a block; radius = len(block) gives all of them.
type ball struct {
	dom  *samplers.Domain
	x    [][]int32 // the states, filled by enumerate
	n    int
	work []int32
	blk  []int32
}

// ballSize is Σ_{j≤radius} e_j of the numbers of other values of the block: the
// size of the ball, which does not depend on its centre.
func ballSize(d *samplers.Domain, block []int32, radius int) float64 {
	e := make([]float64, radius+1)
	e[0] = 1
	for _, i := range block {
		for j := radius; j >= 1; j-- {
			e[j] += e[j-1] * float64(d.Support(int(i))-1)
		}
	}
	sum := 0.0
	for _, v := range e {
		sum += v
	}
	return sum
}

func newBall(d *samplers.Domain, size int) *ball {
	return &ball{dom: d, x: matrix[int32](size, d.Len()), work: make([]int32, d.Len())}
}

// enumerate lists the ball around centre; the centre itself comes first.
func (b *ball) enumerate(centre []int32, block []int32, radius int) [][]int32 {
	copy(b.work, centre)
	b.blk, b.n = block, 0
	b.rec(0, radius)
	return b.x[:b.n]
}

func (b *ball) rec(from, radius int) {
	copy(b.x[b.n], b.work)
	b.n++
	if radius == 0 {
		return
	}
	for j := from; j < len(b.blk); j++ {
		i := b.blk[j]
		old := b.work[i]
		for v := range int32(b.dom.K(int(i))) {
			if v != old && b.dom.Allows(int(i), v) {
				b.work[i] = v
				b.rec(j+1, radius-1)
			}
		}
		b.work[i] = old
	}
}

// maxBlock bounds the coordinates of a block. The number of states bounds them sooner.
const maxBlock = 1000

// newBallKernel makes the kernel of HammingBall and BlockGibbs. recentre draws u, radius 0 stands
// for the whole block.
func newBallKernel(c *samplers.Chains, name string, block, def, radius int,
	recentre bool) (samplers.Kernel, error) {
	free, err := freeOf(c.Domain)
	if err != nil {
		return nil, err
	}
	if err := checkCount(name, "block", block, maxBlock); err != nil {
		return nil, err
	}
	if block == 0 {
		block = def
	}
	block = min(block, len(free))
	if radius == 0 || radius > block {
		radius = block
	}
	size := ballSize(c.Domain, largest(c.Domain, free, block), radius)
	if err := checkMany(name, size); err != nil {
		return nil, err
	}
	if all := size * float64(c.Len()) * float64(c.Domain.Len()); all > maxScratch {
		return nil, tooMany(name, size, int(maxScratch/float64(c.Len()*c.Domain.Len())),
			"use a smaller block or fewer chains")
	}
	b := &ballKernel{c: c, block: block, radius: radius, recentre: recentre}
	for range c.X {
		b.balls = append(b.balls, newBall(c.Domain, int(size)))
		b.perm = append(b.perm, append([]int32(nil), free...))
	}
	b.u = make([]float64, int(size)*c.Len())
	b.cum = make([]float64, int(size))
	b.x = make([][]int32, 0, int(size)*c.Len())
	b.who = make([]int, 0, int(size)*c.Len())
	b.off = make([]int, c.Len()+1)
	return b, nil
}

// largest is the block of the n free coordinates with most values.
func largest(d *samplers.Domain, free []int32, n int) []int32 {
	f := append([]int32(nil), free...)
	for j := range n {
		for o := j + 1; o < len(f); o++ {
			if d.Support(int(f[o])) > d.Support(int(f[j])) {
				f[j], f[o] = f[o], f[j]
			}
		}
	}
	return f[:n]
}

type ballKernel struct {
	c             *samplers.Chains
	block, radius int
	recentre      bool
	balls         []*ball
	perm          [][]int32
	x             [][]int32
	u, cum        []float64
	off           []int // where each chain's states begin in x
	who           []int // the chain of each state in x
}

// Prepare implements Kernel.
func (b *ballKernel) Prepare(ctx context.Context) error { return b.c.StartEnergies(ctx) }

// Step implements Kernel.
func (b *ballKernel) Step(ctx context.Context) error {
	c := b.c
	b.x, b.who = b.x[:0], b.who[:0]
	for k, x := range c.X {
		rng, perm := c.RNG[k], b.perm[k]
		for j := range b.block {
			o := j + rng.IntN(len(perm)-j)
			perm[j], perm[o] = perm[o], perm[j]
		}
		states := b.balls[k].enumerate(x, perm[:b.block], b.radius)
		if b.recentre {
			u := states[rng.IntN(len(states))]
			states = b.balls[k].enumerate(u, perm[:b.block], b.radius)
		}
		b.off[k] = len(b.x)
		b.x = append(b.x, states...)
		for range states {
			b.who = append(b.who, k)
		}
	}
	b.off[c.Len()] = len(b.x)
	for lo := 0; lo < len(b.x); lo += chunkStates {
		hi := min(lo+chunkStates, len(b.x))
		if err := c.Evaluate(ctx, b.who[lo:hi], b.x[lo:hi], b.u[lo:hi], nil); err != nil {
			return err
		}
	}
	for k := range c.X {
		states, u := b.x[b.off[k]:b.off[k+1]], b.u[b.off[k]:b.off[k+1]]
		clean(c, k, u, nil)
		j, _ := drawLog(c.RNG[k], u, b.cum)
		if j < 0 { // cannot happen: the ball holds the current state
			c.Stats[k].NonFinite++
			c.Last[k] = samplers.Move{}
			continue
		}
		d := hamming(c.X[k], states[j])
		copy(c.X[k], states[j])
		c.U[k] = u[j]
		c.Last[k] = samplers.Move{Moved: d > 0, Accepted: d > 0, Prob: 1, Hamming: d, Flips: d}
	}
	return nil
}
