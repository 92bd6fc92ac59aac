package onnxgrad

import (
	"fmt"
	"slices"
)

// layoutOps leave the numbers as they are and change their shape or order. All guises of Reshape
// become one operation whose target is the shape of its output.
func layoutOps() []operator {
	reshape := func(name string, most int) operator {
		o := still(name, 1, most, throughKernel(1), firstType, replaced)
		o.simplify = reshaped
		return o
	}
	return []operator{
		with(reshape("Reshape", 2), func(o *operator) {
			o.shape, o.fold, o.along = reshapeShape, unchanged, reshapeAlong
			o.derivative, o.none = reshapeBackward, ""
		}),
		reshape("Squeeze", 2), reshape("Unsqueeze", 2), reshape("Flatten", 1),
		{name: "Transpose", least: 1, most: 1, shape: throughKernel(1), typ: firstType,
			simplify: turnedBack, along: transposeAlong, derivative: transposeBackward},
		{name: "Expand", least: 2, most: 2, shape: throughKernel(1), typ: firstType,
			simplify: expandedToItself, along: never, numbers: repeated, derivative: expandBackward},
		still("Tile", 2, 2, throughKernel(1), firstType, unseen),
		still("Trilu", 1, 2, sameShape, firstType, unseen),
	}
}

// reshapeShape serves both our own form, whose output shape is set, and the file's.
func reshapeShape(n *node, p int, opset int64) ([][]int, error) {
	if len(n.in) > 1 {
		return throughKernel(1)(n, p, opset)
	}
	if volume(n.out[0].shape[p]) != volume(n.in[0].shape[p]) {
		return nil, fmt.Errorf("shape %v does not hold the elements of %v", n.out[0].shape[p],
			n.in[0].shape[p])
	}
	return [][]int{n.out[0].shape[p]}, nil
}

// reshaped is our own form of a change of shape. Of two in a row the first falls away.
func reshaped(l *loaded, n *node) *value {
	x := n.in[0]
	if x.from != nil && x.from.op == "Reshape" && len(x.from.in) == 1 {
		x = x.from.in[0]
	}
	return l.reshape(x, n.out[0].shape)
}

// reshapeGather looks for the axis of the input with the same length and as many elements before
// it.
func reshapeAlong(n *node, a int) []int {
	x, out := n.in[0].shape, n.out[0].shape
	for i := range x.rank() {
		if x.at(i) == out.at(a) && x.volume(0, i) == out.volume(0, a) {
			return first(n, i)
		}
	}
	return nil
}

func reshapeBackward(b *builder, e *entry, g []*value) []*value {
	return []*value{b.reshape(g[0], e.in[0].shape)}
}

func perm(n *node) []int64 {
	if v, ok := n.proto().Ints("perm"); ok {
		return v
	}
	v := count(n.in[0].shape.rank())
	slices.Reverse(v)
	return v
}

// turnedBack is what two transpositions that undo each other leave.
func turnedBack(_ *loaded, n *node) *value {
	before := is(n.in[0], "Transpose")
	if before == nil {
		return nil
	}
	p, q := perm(n), perm(before)
	for i, k := range p {
		if q[k] != int64(i) {
			return nil
		}
	}
	return before.in[0]
}

func transposeAlong(n *node, a int) []int { return first(n, int(perm(n)[a])) }

func transposeBackward(b *builder, e *entry, g []*value) []*value {
	p := perm(e.node)
	inverse := make([]int64, len(p))
	for i, q := range p {
		inverse[q] = int64(i)
	}
	return []*value{b.transpose(g[0], inverse)}
}

func expandedToItself(_ *loaded, n *node) *value {
	if n.out[0].shape.equal(n.in[0].shape) {
		return n.in[0]
	}
	return nil
}

// repeated serves what all rows have in common, repeated for each.
func repeated(s *sharer, n *node) func() *value {
	x, out := n.in[0], n.out[0]
	a := 1 - (out.shape.rank() - x.shape.rank())
	if a < 0 || x.shape.at(a) != probeLength || a == 1 && !x.shape.isOne(0) ||
		x.shape.volume(0, x.shape.rank()) != out.shape.volume(1, out.shape.rank()) {
		return nil
	}
	return func() *value { return s.reshape(s.atPlaces(place{x, a}), s.distinct(out.shape)) }
}

func expandBackward(b *builder, e *entry, g []*value) []*value {
	return []*value{b.unbroadcast(g[0], e.in[0].shape)}
}
