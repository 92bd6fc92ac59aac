package approx

import (
	"math"
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
	var a, b float64
	if l := 2*i + 1; l < nodes {
		a, b = v[l], v[l+1]
	} else {
		a, b = d.input[l-nodes], d.input[l+1-nodes]
	}
	out := a + b
	if g[i] {
		out = a * b
	}
	if units>>i&1 != 0 {
		out *= 1 + d.err[i]
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

// errors is the mean relative error over draws for each set of units, in percent.
func (g *graph) errors(draws []draw, sets []uint32) []float64 {
	out := make([]float64, len(sets))
	for i := range draws {
		exact := g.run(&draws[i], 0)
		for s, units := range sets {
			out[s] += relative(g.run(&draws[i], units), exact) / float64(len(draws))
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
