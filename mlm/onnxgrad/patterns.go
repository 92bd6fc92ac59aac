package onnxgrad

import (
	"math"
	"slices"

	"infill/mlm/onnx"
)

// uses lists for every value the nodes that read it, once per reading.
func uses(nodes []*node) map[*value][]*node {
	u := map[*value][]*node{}
	for _, n := range nodes {
		for _, v := range n.in {
			if v != nil {
				u[v] = append(u[v], n)
			}
		}
	}
	return u
}

// live keeps the nodes that the wanted values need, in order.
func live(nodes []*node, wanted ...*value) []*node {
	need := map[*value]bool{}
	for _, v := range wanted {
		need[v] = true
	}
	var out []*node
	for _, n := range slices.Backward(nodes) {
		if !slices.ContainsFunc(n.out, func(v *value) bool { return need[v] }) {
			continue
		}
		for _, v := range n.in {
			need[v] = true
		}
		out = append(out, n)
	}
	slices.Reverse(out)
	return out
}

// fuse recognises layer normalisation and Gelu written out in elementary operations and makes each one
// node, so that forward and backward pass can be written in the form that is fastest and most exact.
func (l *loaded) fuse() {
	l.nodes = live(l.nodes, l.logits)
	u := uses(l.nodes)
	replaced := map[*node]*node{}
	for _, n := range l.nodes {
		var c *node
		out := n.out[0]
		switch n.op {
		case "Add":
			c = matchLayerNorm(n)
		case "Erf":
			c, out = matchGelu(n, u)
		}
		if c != nil {
			c.name, c.out = out.from.name, []*value{out}
			replaced[out.from] = c
			out.from = c
		}
	}
	for i, n := range l.nodes {
		if c := replaced[n]; c != nil {
			l.nodes[i] = c
		}
	}
	l.nodes = live(l.nodes, l.logits)
}

// is gives the node that computes v if it is an op.
func is(v *value, op string) *node {
	if v == nil || v.from == nil || v.from.op != op {
		return nil
	}
	return v.from
}

// other gives the operand of a two-operand node beside x.
func other(n *node, x *value) *value {
	if n.in[0] == x {
		return n.in[1]
	}
	return n.in[0]
}

// overLast tells whether a reduction is over the last axis, which it keeps.
func overLast(n *node) bool {
	a, err := reduceAxes(n, 0)
	return err == nil && len(a) == 1 && a[0] == n.in[0].shape.rank()-1 && n.proto().Int("keepdims", 1) != 0
}

// centred gives x if v is x minus its mean along the last axis.
func centred(v *value) *value {
	s := is(v, "Sub")
	if s == nil {
		return nil
	}
	if m := is(s.in[1], "ReduceMean"); m != nil && overLast(m) && m.in[0] == s.in[0] {
		return s.in[0]
	}
	return nil
}

// matchLayerNorm recognises ((x − μ)/√(σ² + ε))·γ + β.
func matchLayerNorm(add *node) *node {
	for i, beta := range add.in {
		scaled := is(add.in[1-i], "Mul")
		if !beta.fixed || scaled == nil {
			continue
		}
		for j, gamma := range scaled.in {
			div := is(scaled.in[1-j], "Div")
			if !gamma.fixed || div == nil {
				continue
			}
			x := centred(div.in[0])
			root := is(div.in[1], "Sqrt")
			if x == nil || root == nil {
				continue
			}
			plus := is(root.in[0], "Add")
			if plus == nil {
				continue
			}
			for k, e := range plus.in {
				eps, ok := scalarOf(e)
				mean := is(plus.in[1-k], "ReduceMean")
				if !ok || mean == nil || !overLast(mean) || !squareOf(mean.in[0], x) {
					continue
				}
				h := x.shape.rank() - 1
				if h < 0 || gamma.shape.rank() != 1 || beta.shape.rank() != 1 || gamma.shape.at(0) != x.shape.at(h) || beta.shape.at(0) != x.shape.at(h) {
					continue
				}
				return &node{op: "LayerNormalization", in: []*value{x, gamma, beta}, attrs: []*onnx.Attribute{
					intAttr("axis", -1), {Name: "epsilon", Type: onnx.AttrFloat, F: float32(eps)}}}
			}
		}
	}
	return nil
}

// squareOf tells whether v is the square of x minus its mean.
func squareOf(v, x *value) bool {
	if p := is(v, "Pow"); p != nil {
		e, ok := scalarOf(p.in[1])
		return ok && e == 2 && centred(p.in[0]) == x
	}
	if m := is(v, "Mul"); m != nil {
		return m.in[0] == m.in[1] && centred(m.in[0]) == x
	}
	return false
}

// matchGelu recognises x·½·(1 + erf(x/√2)) with its factors in any order and gives the node and the
// value that it computes.
func matchGelu(erf *node, u map[*value][]*node) (*node, *value) {
	scale := is(erf.in[0], "Mul")
	if scale == nil {
		return nil, nil
	}
	var x *value
	for i, c := range scale.in {
		if k, ok := scalarOf(c); ok && math.Abs(k-math.Sqrt(0.5)) < 1e-6 {
			x = scale.in[1-i]
		}
	}
	sole := func(v *value) *node {
		if len(u[v]) != 1 {
			return nil
		}
		return u[v][0]
	}
	plus := sole(erf.out[0])
	if x == nil || plus == nil || plus.op != "Add" {
		return nil, nil
	}
	if one, ok := scalarOf(other(plus, erf.out[0])); !ok || one != 1 {
		return nil, nil
	}
	// Follow the product upwards until x and a factor of ½ have been met.
	v, factor, met := plus.out[0], 1.0, false
	for {
		m := sole(v)
		if m == nil || m.op != "Mul" {
			return nil, nil
		}
		w := other(m, v)
		c, isScalar := scalarOf(w)
		switch {
		case isScalar:
			factor *= c
		case w == x && !met:
			met = true
		default:
			inner := is(w, "Mul")
			if inner == nil || met || inner.in[0] != x && inner.in[1] != x {
				return nil, nil
			}
			c, ok := scalarOf(other(inner, x))
			if !ok {
				return nil, nil
			}
			met, factor = true, factor*c
		}
		v = m.out[0]
		if met && factor == 0.5 {
			return &node{op: "Gelu", in: []*value{x}}, v
		}
	}
}

// tidyProducts moves transpositions of the last two axes and constant factors into the products they
// feed, and replaces weights that are the transposed embedding table by the table itself.
func (l *loaded) tidyProducts() {
	u := uses(l.nodes)
	var out []*node
	for _, n := range l.nodes {
		if n.op == "MatMul" {
			for i := range n.in {
				l.absorb(n, i, u, &out)
			}
		}
		out = append(out, n)
		if n.op != "Mul" {
			continue
		}
		for i, c := range n.in { // a product times a constant
			k, ok := scalarOf(c)
			m := is(n.in[1-i], "MatMul")
			if ok && m != nil && len(u[m.out[0]]) == 1 && c.shape.rank() <= m.out[0].shape.rank() && m.out[0].typ == onnx.Float {
				f := *m
				f.alpha *= k
				f.out = n.out
				n.out[0].from = &f
				out[len(out)-1] = &f
				break
			}
		}
	}
	l.nodes = live(out, l.logits)
}

// absorb simplifies operand i of a product.
func (l *loaded) absorb(n *node, i int, u map[*value][]*node, out *[]*node) {
	v := n.in[i]
	if m := is(v, "Mul"); m != nil && v.typ == onnx.Float {
		for j, c := range m.in {
			if k, ok := scalarOf(c); ok && c.shape.rank() <= m.in[1-j].shape.rank() {
				n.in[i] = m.in[1-j]
				n.alpha *= k
				v = n.in[i]
				break
			}
		}
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
	n.in[i] = x
	if i == 0 {
		n.transA = !n.transA
	} else {
		n.transB = !n.transB
	}
}
