package onnxgrad

import (
	"slices"

	"infill/mlm/onnx"
)

// tidyProducts moves transpositions of the last two axes and constant factors into the products
// they feed, and replaces weights that are the transposed embedding table by the table itself.
func (l *loaded) tidyProducts() error {
	u := uses(l.nodes)
	var out []*node
	for _, n := range l.nodes {
		if n.op == "MatMul" {
			for i := range n.in {
				l.absorb(n, i, u, &out)
			}
		}
		out = append(out, n)
		if n.op == "Mul" {
			if with := l.scaled(n, u); with != nil {
				out = append(out[:len(out)-1], with...)
			}
		}
	}
	l.nodes = live(out, l.logits)
	return l.err
}

// scaled puts a constant factor into the product before it, through a constant that is added in
// between (the bias of a linear layer), and gives the nodes that take n's place.
func (l *loaded) scaled(n *node, u map[*value][]*node) []*node {
	product := func(v *value) *node {
		if v.typ != onnx.Float {
			return nil
		}
		return sole(v, "MatMul", u)
	}
	c, x := operands(n.out[0], "Mul", isScalar)
	if x == nil || c.shape.rank() > x.shape.rank() {
		return nil
	}
	k, _ := scalarOf(c)
	if m := product(x); m != nil {
		f := *m
		f.alpha *= k
		f.out = n.out
		n.out[0].from = &f
		return []*node{&f}
	}
	plus := sole(x, "Add", u)
	if plus == nil {
		return nil
	}
	for j, bias := range plus.in {
		m := product(plus.in[1-j])
		if m == nil || bias.tensor == nil || bias.known[0] == nil || bias.typ != onnx.Float {
			continue
		}
		shifted := make([]float32, len(bias.known[0].F))
		for e, v := range bias.known[0].F {
			shifted[e] = float32(v * k)
		}
		b, err := stored(onnx.Floats("", bias.tensor.Dims, shifted...))
		if err != nil {
			continue
		}
		f := *m
		f.alpha *= k
		f.out = []*value{{typ: m.out[0].typ, shape: m.out[0].shape, from: &f}}
		g := &node{op: "Add", name: plus.name, in: []*value{f.out[0], b}, out: n.out}
		n.out[0].from = g
		return []*node{&f, g}
	}
	return nil
}

// absorb simplifies operand i of a product.
func (l *loaded) absorb(n *node, i int, u map[*value][]*node, out *[]*node) {
	v := n.in[i]
	if c, x := operands(v, "Mul", isScalar); x != nil && v.typ == onnx.Float &&
		c.shape.rank() <= x.shape.rank() {
		k, _ := scalarOf(c)
		n.alpha *= k
		n.in[i], v = x, x
	}
	turn := func(x *value) {
		n.in[i] = x
		if i == 0 {
			n.transA = !n.transA
		} else {
			n.transB = !n.transB
		}
	}
	if x := turnedFlat(v); x != nil {
		turn(x)
		return
	}
	t := is(v, "Transpose")
	if t == nil {
		return
	}
	p := slices.Clone(perm(t))
	r := len(p)
	if r < 2 || p[r-1] == int64(r-1) || p[r-2] != int64(r-1) {
		return
	}
	p[r-1], p[r-2] = p[r-2], p[r-1]
	x := t.in[0]
	if !slices.IsSorted(p) {
		b := newBuilder(l.opset)
		b.context = t.name
		x = b.transpose(x, p)
		*out = append(*out, b.nodes...)
	}
	turn(x)
}

// turnedFlat gives x [.., a, b] if v [.., b, a] is x with its last two axes exchanged while the
// others were one, as newer exporters write it.
func turnedFlat(v *value) *value {
	outer := is(v, "Reshape")
	if outer == nil {
		return nil
	}
	t := is(outer.in[0], "Transpose")
	if t == nil || !slices.Equal(perm(t), []int64{0, 2, 1}) {
		return nil
	}
	inner := is(t.in[0], "Reshape")
	if inner == nil {
		return nil
	}
	x, flat, r := inner.in[0], t.in[0].shape, v.shape.rank()
	if r < 3 || x.shape.rank() != r || x.shape.at(r-1) != flat.at(2) ||
		x.shape.at(r-2) != flat.at(1) {
		return nil
	}
	if !v.shape.equal(x.shape.with(r-1, flat.at(1)).with(r-2, flat.at(2))) {
		return nil
	}
	return x
}
