package onnxgrad

import (
	"slices"

	"infill/mlm/onnx"
)

// oneQuery rewrites attention that has a single query for every row, as the last layer has once its
// queries are gathered. For head h, with K_h = X·W_h + 1·b_hᵀ the keys and q_h the query,
//
//	K_h·q_h = X·(W_h·q_h) + (b_h·q_h)·1,
//
// so that the scores need no keys: the weights turn the query instead of all positions. What is the
// same for all positions does not change a softmax and is left out. Likewise for the values V_h =
// X·W_h + 1·b_hᵀ and weights p that sum to one,
//
//	V_hᵀ·p = W_hᵀ·(Xᵀ·p) + b_h.
//
// Two products of all positions with D×D weights, as many in the backward pass, and the layout of
// their results become products of one row for each blank.
func oneQuery(b *builder, nodes []*node) []*node {
	u := uses(nodes)
	return b.rewritten(nodes, func(out *builder, n *node) bool {
		return n.op == "MatMul" && (out.scoresOf(n, u) || out.contextOf(n, u))
	})
}

// projection is a product of X [R, L, D] with weights, cut into heads: [R, L, H·d] → [R, H, L, d].
type projection struct {
	x       *value
	weights *value // [D, H·d], or transposed
	turned  bool   // [H·d, D]
	bias    *value // [H·d] or nil
	alpha   float64
	heads   dims // [R, H, L, d]
}

// projected recognises a projection that nothing else reads.
func projected(v *value, u map[*value][]*node) *projection {
	t := sole(v, "Transpose", u)
	if t == nil || v.shape.rank() != 4 || !v.shape.constant(1) || !v.shape.constant(3) {
		return nil
	}
	if p := perm(t); p[0] != 0 || p[1] != 2 || p[2] != 1 || p[3] != 3 {
		return nil
	}
	r := sole(t.in[0], "Reshape", u)
	if r == nil {
		return nil
	}
	y, bias := biased(r.in[0], u)
	out := &projection{heads: v.shape, bias: bias}
	m := sole(y, "MatMul", u)
	if m == nil || m.transA || !m.in[1].fixed || m.in[1].shape.rank() != 2 || m.in[0].fixed ||
		y.typ != onnx.Float {
		return nil
	}
	out.x, out.weights, out.turned, out.alpha = m.in[0], m.in[1], m.transB, m.alpha
	last := y.shape.rank() - 1
	width := v.shape[0][1] * v.shape[0][3]
	if !y.shape.constant(last) || y.shape[0][last] != width || out.bias != nil &&
		out.bias.shape[0][0] != width || !out.x.shape.constant(out.x.shape.rank()-1) {
		return nil
	}
	return out
}

// positions is X as [R, L, D].
func (b *builder) positions(p *projection) *value {
	last := p.x.shape.rank() - 1
	return b.reshape(p.x, dimsOf(func(i int) []int {
		return []int{p.heads[i][0], p.heads[i][2], p.x.shape[i][last]}
	}))
}

// byHead is the weights as [H, d, D].
func (b *builder) byHead(p *projection) *value {
	w := p.weights
	if !p.turned {
		w = b.transpose(w, []int64{1, 0})
	}
	return b.reshape(w, shapeOf(p.heads[0][1], p.heads[0][3], w.shape[0][1]))
}

// without leaves out dimension i of v, which is 1.
func (b *builder) without(v *value, i int) *value {
	return b.reshape(v, dimsOf(func(p int) []int {
		return slices.Concat(v.shape[p][:i], v.shape[p][i+1:])
	}))
}

// fits reports whether v [R, H, 1, ·] belongs to the projection's rows and heads.
func (p *projection) fits(v *value) bool {
	return v.shape.rank() == 4 && v.shape.isOne(2) && v.shape.at(0) == p.heads.at(0) &&
		v.shape.at(1) == p.heads.at(1)
}

// scoresOf replaces n if it is the product of a query with projected keys.
func (b *builder) scoresOf(n *node, u map[*value][]*node) bool {
	q := n.in[0]
	if n.transA || !n.transB || q.fixed {
		return false
	}
	p := projected(n.in[1], u)
	if p == nil || !p.fits(q) || q.shape.at(3) != p.heads.at(3) || p.bias != nil &&
		!shiftless(n.out[0], u) {
		return false
	}
	turned := b.matmul(b.transpose(b.without(q, 2), []int64{1, 0, 2}), b.byHead(p), false, false,
		p.alpha)
	s := b.matmul(b.transpose(turned, []int64{1, 0, 2}), b.positions(p), false, true, n.alpha)
	b.add(&node{op: "Reshape", in: []*value{s}, out: n.out})
	return true
}

// contextOf replaces n if it is the product of weights that sum to one with projected values.
func (b *builder) contextOf(n *node, u map[*value][]*node) bool {
	w := n.in[0]
	if n.transA || n.transB || w.fixed {
		return false
	}
	p := projected(n.in[1], u)
	if p == nil || !p.fits(w) || w.shape.at(3) != p.heads.at(2) || p.bias != nil &&
		(n.alpha != 1 || !sumsToOne(w)) {
		return false
	}
	mean := b.matmul(b.without(w, 2), b.positions(p), false, false, 1)
	c := b.matmul(b.transpose(mean, []int64{1, 0, 2}), b.byHead(p), false, true, n.alpha*p.alpha)
	c = b.transpose(c, []int64{1, 0, 2})
	if p.bias != nil {
		c = b.op("Add", c, b.reshape(p.bias, shapeOf(p.heads[0][1], p.heads[0][3])))
	}
	b.add(&node{op: "Reshape", in: []*value{c}, out: n.out})
	return true
}

// shiftless reports whether v only reaches softmaxes over its last axis, through steps that carry
// what is added to all of v along that axis on to them.
func shiftless(v *value, u map[*value][]*node) bool {
	return shiftlessIn(v, u, map[*value]bool{})
}

// shiftlessIn remembers what it found, since a value may be reached in many ways.
func shiftlessIn(v *value, u map[*value][]*node, known map[*value]bool) bool {
	found, ok := known[v]
	if !ok {
		found = shiftlessOnce(v, u, known)
		known[v] = found
	}
	return found
}

func shiftlessOnce(v *value, u map[*value][]*node, known map[*value]bool) bool {
	for _, n := range u[v] {
		switch n.op {
		case "Softmax": // load lets only those over the last axis in
		case "Add":
			if n.in[0] == n.in[1] || !n.out[0].shape.equal(v.shape) ||
				!shiftlessIn(n.out[0], u, known) {
				return false
			}
		case "Where": // what takes the place of hidden scores is far below all others
			if n.in[1] != v || !n.in[2].fixed || !n.out[0].shape.equal(v.shape) ||
				!shiftlessIn(n.out[0], u, known) {
				return false
			}
		default:
			return false
		}
	}
	return len(u[v]) > 0
}

// sumsToOne reports whether v is a softmax over its last axis, perhaps with NaN replaced.
func sumsToOne(v *value) bool {
	if w := is(v, "Where"); w != nil {
		if nan := is(w.in[0], "IsNaN"); nan != nil && nan.in[0] == w.in[2] && w.in[1].fixed {
			v = w.in[2]
		}
	}
	return is(v, "Softmax") != nil
}
