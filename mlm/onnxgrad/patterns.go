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

// fuse recognises layer normalisation and Gelu written out in elementary operations and makes each
// one node, so that forward and backward pass can be written in the form that is fastest and most
// exact.
func (l *loaded) fuse() error {
	l.nodes = live(l.nodes, l.logits)
	u, gelus := uses(l.nodes), map[*node]*value{} // what a Gelu is of, by its last node
	for _, n := range l.nodes {
		if n.op == "Erf" {
			if x, out := matchGelu(n, u); out != nil {
				gelus[out.from] = x
			}
		}
	}
	l.nodes = live(l.rewritten(l.nodes, func(out *builder, n *node) bool {
		if x := gelus[n]; x != nil {
			out.gelu(x, n.out[0])
			return true
		}
		norm := matchLayerNorm(n)
		if norm != nil {
			norm.out = n.out
			out.add(norm)
		}
		return norm != nil
	}), l.logits)
	return l.err
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

// overLast reports whether a reduction is over the last axis, which it keeps.
func overLast(n *node) bool {
	a, err := reduceAxes(n, 0)
	return err == nil && len(a) == 1 && a[0] == n.in[0].shape.rank()-1 &&
		n.proto().Int("keepdims", 1) != 0
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

// operands gives the operand of a two-operand op that v is computed by which pick takes, and the
// other one, nil if there is none.
func operands(v *value, op string, pick func(*value) bool) (picked, other *value) {
	if n := is(v, op); n != nil {
		for i, x := range n.in {
			if pick(x) {
				return x, n.in[1-i]
			}
		}
	}
	return nil, nil
}

func isScalar(v *value) bool {
	_, ok := scalarOf(v)
	return ok
}

// matchLayerNorm recognises ((x − μ)/√(σ² + ε))·γ + β.
func matchLayerNorm(add *node) *node {
	if add.op != "Add" {
		return nil
	}
	fixed := func(v *value) bool { return v.fixed }
	beta, scaled := operands(add.out[0], "Add", fixed)
	gamma, normed := operands(scaled, "Mul", fixed)
	div := is(normed, "Div")
	if div == nil {
		return nil
	}
	x, root := centred(div.in[0]), is(div.in[1], "Sqrt")
	if x == nil || root == nil {
		return nil
	}
	e, variance := operands(root.in[0], "Add", isScalar)
	eps, ok := scalarOf(e)
	mean := is(variance, "ReduceMean")
	h := x.shape.rank() - 1
	if !ok || mean == nil || !overLast(mean) || !squareOf(mean.in[0], x) || h < 0 ||
		gamma.shape.rank() != 1 || beta.shape.rank() != 1 ||
		gamma.shape.at(0) != x.shape.at(h) || beta.shape.at(0) != x.shape.at(h) {
		return nil
	}
	return normOf(float32(eps), x, gamma, beta)
}

// squareOf reports whether v is the square of x minus its mean.
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

// matchGelu recognises x·½·(1 + erf(x/√2)) with its factors in any order and gives x and the value
// that the whole computes.
func matchGelu(erf *node, u map[*value][]*node) (x, out *value) {
	_, x = operands(erf.in[0], "Mul", func(c *value) bool {
		k, ok := scalarOf(c)
		return ok && math.Abs(k-math.Sqrt(0.5)) < 1e-6
	})
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
			_, c := operands(w, "Mul", func(v *value) bool { return v == x })
			k, ok := scalarOf(c)
			if !ok || met {
				return nil, nil
			}
			met, factor = true, factor*k
		}
		v = m.out[0]
		if met && factor == 0.5 {
			return x, v
		}
	}
}

// linear turns a product with a matrix of weights followed by a bias into Gemm on rows, which
// writes the bias while it multiplies. The values in keep stay.
func linear(b *builder, nodes []*node, keep []*value) []*node {
	u := uses(nodes)
	parts := func(n *node) (m *node, bias *value) { // nil if n is not such a sum
		for i := range n.in {
			if n.op != "Add" {
				break
			}
			bias, y := n.in[i], n.out[0]
			m := sole(n.in[1-i], "MatMul", u)
			if m != nil && bias.fixed && bias.shape.rank() == 1 && !slices.Contains(keep, m.out[0]) &&
				y.typ == onnx.Float && m.in[1].fixed && m.in[1].shape.rank() == 2 && !m.transA &&
				m.in[0].shape.rank() > 1 && bias.shape.at(0) == y.shape.at(y.shape.rank()-1) {
				return m, bias
			}
		}
		return nil, nil
	}
	dropped := map[*node]bool{}
	for _, n := range nodes {
		m, _ := parts(n)
		dropped[m] = true
	}
	return b.rewritten(nodes, func(out *builder, n *node) bool {
		m, bias := parts(n)
		if m == nil {
			return dropped[n]
		}
		x, y := m.in[0], n.out[0]
		r := x.shape.rank() - 1
		flatIn := dimsOf(func(p int) []int { return []int{volume(x.shape[p][:r]), x.shape[p][r]} })
		flatOut := flatIn.with(1, y.shape.at(r))
		attrs := []*onnx.Attribute{onnx.Attr("alpha", float32(m.alpha))}
		if m.transB {
			attrs = append(attrs, onnx.Attr("transB", 1))
		}
		g := &node{op: "Gemm", in: []*value{out.reshape(x, flatIn), m.in[1], bias}, attrs: attrs}
		if y.shape.equal(flatOut) {
			g.out = []*value{y}
			out.add(g)
		} else {
			out.add(&node{op: "Reshape", in: []*value{out.add(g)}, out: []*value{y}})
		}
		return true
	})
}
