package approx

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// nodes is the number of operations of a graph: a complete binary tree over nodes+1 inputs. The
// operands of node i are nodes 2i+1 and 2i+2, and those from number nodes on are the inputs.
const nodes = 15

// A graph says which nodes multiply. The others add.
type graph [nodes]bool

func drawGraph(rng *rand.Rand) graph {
	var g graph
	for i := range g {
		g[i] = rng.IntN(2) == 0
	}
	return g
}

// A draw has what is random in one run of a graph: its inputs, from 0 to 1, and the relative error
// that each node would make if it were an approximate unit. That is even from −20 % to 20 %, so
// its absolute value is 10 % on average.
type draw struct {
	input [nodes + 1]float64
	err   [nodes]float64
}

func (d *draw) fill(rng *rand.Rand) {
	for i := range d.input {
		d.input[i] = rng.Float64()
	}
	for i := range d.err {
		d.err[i] = .4*rng.Float64() - .2
	}
}

// values fills v with the value of every node and returns that of the root. Nodes whose bit in
// units is set are approximate.
func (g *graph) values(d *draw, units uint32, v *[nodes]float64) float64 {
	for i := nodes - 1; i >= 0; i-- {
		v[i] = g.node(i, d, units, v)
	}
	return v[0]
}

func (g *graph) node(i int, d *draw, units uint32, v *[nodes]float64) float64 {
	if l := 2*i + 1; l < nodes {
		return g.of(i, v[l], v[l+1], d, units)
	}
	at := 2*i + 1 - nodes
	return g.of(i, d.input[at], d.input[at+1], d, units)
}

// of is the value of node i with operands a and b, whose order is of no account.
func (g *graph) of(i int, a, b float64, d *draw, units uint32) float64 {
	out := a + b
	if g[i] {
		out = a * b
	}
	if units>>i&1 != 0 {
		out *= 1 + d.err[i]
	}
	return out
}

// change is the value of the root for units that differ from those of v at node i only.
func (g *graph) change(i int, d *draw, units uint32, v *[nodes]float64) float64 {
	out := g.node(i, d, units, v)
	for i > 0 {
		other := i + 1 // the other operand of the node above, which is beside i
		if i%2 == 0 {
			other = i - 1
		}
		i = (i - 1) / 2
		out = g.of(i, out, v[other], d, units)
	}
	return out
}

// run is the value of the root.
func (g *graph) run(d *draw, units uint32) float64 {
	var v [nodes]float64
	return g.values(d, units, &v)
}

// relative is the relative error of an output in percent, f(x; w) of the paper.
func relative(out, exact float64) float64 { return 100 * math.Abs(out/exact-1) }

// errors is the mean relative error over draws for each set of units, in percent. Sets in rising
// order, which share their upper bits, are quick.
func (g *graph) errors(draws []draw, sets []uint32) []float64 {
	out := make([]float64, len(sets))
	for n := range draws {
		d := &draws[n]
		var v [nodes]float64
		exact, before := g.values(d, 0, &v), uint32(0)
		for s, units := range sets {
			// No node depends on one of a lower number.
			for i := bits.Len32(units^before) - 1; i >= 0; i-- {
				v[i] = g.node(i, d, units, &v)
			}
			out[s] += relative(v[0], exact) / float64(len(draws))
			before = units
		}
	}
	return out
}

// subsets lists all sets of k nodes.
func subsets(k int) []uint32 {
	var all []uint32
	for s := range uint32(1 << nodes) {
		n := 0
		for b := s; b != 0; b &= b - 1 {
			n++
		}
		if n == k {
			all = append(all, s)
		}
	}
	return all
}
