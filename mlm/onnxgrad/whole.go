package onnxgrad

import (
	"slices"
	"strings"

	"infill/mlm/onnx"
)

// Operations of the runtime that are several at once: fewer to start, and what lies between them is
// neither written nor read. whole ends their names here.
const (
	whole          = " as a whole"
	wholeGelu      = "Gelu" + whole
	wholeNorm      = "SkipLayerNormalization" + whole
	wholeAttention = "MultiHeadAttention" + whole
)

// wholeOps are made when all rules of gathering and derivatives have been applied.
func wholeOps() []operator {
	return []operator{
		with(still(wholeGelu, 1, 1, sameShape, firstType, replaced),
			func(o *operator) { o.along = pointwise }),
		still(wholeNorm, 4, 5, sameShape, firstType, replaced),
		still(wholeAttention, 3, 6, sameShape, firstType, replaced),
	}
}

// asWhole is the node of the runtime's own operation, nil for others.
func asWhole(n *node) *onnx.Node {
	op, ok := strings.CutSuffix(n.op, whole)
	if !ok {
		return nil
	}
	p := n.proto()
	p.Op, p.Domain = op, onnx.Microsoft
	return p
}

// normOfSum makes a layer norm of x + bias + skip one operation, where nothing else reads the sum.
func (b *builder) normOfSum(n *node, u map[*value][]*node) bool {
	sum := sole(n.in[0], "Add", u)
	if n.op != "LayerNormalization" || sum == nil || len(n.in) != 3 || n.in[2] == nil ||
		n.in[0].shape.rank() != 3 || !sum.in[0].shape.equal(sum.in[1].shape) {
		return false
	}
	for i := range sum.in {
		x, bias := biased(sum.in[i], u)
		if bias == nil && i == 0 {
			continue // the other operand may have one
		}
		in := []*value{x, sum.in[1-i], n.in[1], n.in[2]}
		if bias != nil {
			in = append(in, bias)
		}
		b.add(&node{op: wholeNorm, in: in, out: n.out, attrs: slices.DeleteFunc(slices.Clone(n.attrs),
			func(a *onnx.Attribute) bool { return a.Name != "epsilon" })})
		return true
	}
	return false
}

// sole is the node of a kind that gives v, which one node reads.
func sole(v *value, op string, u map[*value][]*node) *node {
	if len(u[v]) != 1 {
		return nil
	}
	return is(v, op)
}

// biased is a product and the bias that is added to it, or v itself and nil.
func biased(v *value, u map[*value][]*node) (*value, *value) {
	if a := sole(v, "Add", u); a != nil {
		for i, bias := range a.in {
			if x := a.in[1-i]; bias.fixed && bias.shape.rank() == 1 && sole(x, "MatMul", u) != nil {
				return x, bias
			}
		}
	}
	return v, nil
}

// attention makes softmax(α·Q·Kᵀ + mask)·V of heads one operation. n exchanges heads and positions
// of its result.
func (b *builder) attention(n *node, u map[*value][]*node, masks map[*value]*value) bool {
	const heads, positions = 1, 2
	if n.op != "Transpose" || !slices.Equal(perm(n), []int64{0, positions, heads, 3}) {
		return false
	}
	mean := sole(n.in[0], "MatMul", u)
	if mean == nil || mean.transA || mean.transB || mean.alpha != 1 {
		return false
	}
	p := weightsOf(mean.in[0], u)
	if p == nil || !slices.Contains([]int64{-1, 3}, p.proto().Int("axis", -1)) {
		return false
	}
	scores, mask := masked(p.in[0], u)
	if scores == nil || scores.transA {
		return false
	}
	q := scores.in[0].shape
	asKeys := []int64{0, positions, heads, 3}
	if !scores.transB {
		asKeys = []int64{0, positions, 3, heads}
	}
	var in, biases []*value
	for i, v := range []*value{scores.in[0], scores.in[1], mean.in[1]} {
		order := []int64{0, positions, heads, 3}
		if i == 1 {
			order = asKeys
		}
		flat, bias := b.merged(v, order, q, u)
		if flat == nil {
			return false
		}
		in = append(in, flat)
		if bias != nil {
			biases = append(biases, bias)
		}
	}
	if len(biases) != 3 && len(biases) != 0 {
		return false
	}
	if mask != nil {
		if mask = b.everyQuery(mask, q, masks); mask == nil {
			return false
		}
	}
	if biases != nil {
		bias := b.with("Concat", "axis", 0, biases...)
		bias.fixed = true
		in = append(in, bias)
	}
	if mask != nil {
		in = append(in, nil, nil, nil)[:6]
		in[5] = mask
	}
	y := b.add(&node{op: wholeAttention, in: in, attrs: []*onnx.Attribute{
		onnx.Attr("num_heads", q[0][heads]),
		onnx.Attr("scale", float32(scores.alpha))}})
	b.add(&node{op: "Reshape", in: []*value{y}, out: n.out})
	return true
}

// masked is v without the mask that is added to it. mask is nil where there is none that changes a
// softmax.
func masked(v *value, u map[*value][]*node) (scores *node, mask *value) {
	scores = sole(v, "MatMul", u)
	if add := sole(v, "Add", u); add != nil {
		for i := range add.in {
			if m := sole(add.in[i], "MatMul", u); m != nil {
				scores, mask = m, add.in[1-i]
			}
		}
	}
	if mask != nil && uniform(mask) {
		mask = nil
	}
	return scores, mask
}

// weightsOf is the softmax that gives v, perhaps with NaN replaced: no text has every place masked.
func weightsOf(v *value, u map[*value][]*node) *node {
	if w := sole(v, "Where", u); w != nil && w.in[1].fixed {
		nan := is(w.in[0], "IsNaN")
		if nan == nil || nan.in[0] != w.in[2] || len(u[w.in[2]]) != 2 {
			return nil
		}
		return is(w.in[2], "Softmax")
	}
	return sole(v, "Softmax", u)
}

// merged is what v was cut from into heads of shape q [R, H, L, d] and put in order, as
// [R, L, H·d], without its bias, and that.
func (b *builder) merged(v *value, order []int64, q dims, u map[*value][]*node) (flat,
	bias *value) {
	t := sole(v, "Transpose", u)
	if t == nil || q.rank() != 4 || !q.constant(1) || !q.constant(3) || !slices.Equal(perm(t), order) {
		return nil, nil
	}
	r := sole(t.in[0], "Reshape", u)
	if r == nil {
		return nil, nil
	}
	for p, s := range q {
		if !slices.Equal(t.in[0].shape[p], []int{s[0], s[2], s[1], s[3]}) {
			return nil, nil
		}
	}
	x, bias := biased(r.in[0], u)
	to := dimsOf(func(p int) []int { return []int{q[p][0], q[p][2], q[p][1] * q[p][3]} })
	if x.shape.volume(0, x.shape.rank()) != to.volume(0, 3) ||
		x.shape.at(x.shape.rank()-1) != to.at(2) {
		return nil, nil
	}
	return b.reshape(x, to), bias
}

// uniform reports whether all numbers of v are the same, at any size.
func uniform(v *value) bool {
	for _, k := range v.known {
		if k == nil || len(k.F) == 0 {
			return false
		}
		for _, x := range k.F {
			if x != v.known[0].F[0] {
				return false
			}
		}
	}
	return true
}

// everyQuery is a mask [·, ·, 1 or L, L] as [·, ·, L, L], nil if it is none. Masks are few.
func (b *builder) everyQuery(mask *value, q dims, masks map[*value]*value) *value {
	s := mask.shape
	if mask.typ != onnx.Float || s.rank() != 4 || s.at(3) != q.at(2) ||
		!s.isOne(0) && s.at(0) != q.at(0) || !s.isOne(1) && s.at(1) != q.at(1) {
		return nil
	}
	if s.at(2) == q.at(2) {
		return mask
	}
	if !s.isOne(2) {
		return nil
	}
	if masks[mask] == nil {
		least := b.op("Max", mask, b.scalar(-mostHalf)) // no infinity is multiplied with 0
		none := b.mul(b.transpose(least, []int64{0, 1, 3, 2}), b.scalar(0))
		masks[mask] = b.op("Add", least, none)
	}
	return masks[mask]
}
