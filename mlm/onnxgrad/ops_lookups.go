package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// lookupOps take elements by number.
func lookupOps() []operator {
	return []operator{
		{name: "Gather", least: 2, most: 2, shape: throughKernel(2), typ: firstType,
			along: gatherAlong, derivative: gatherBackward},
		{name: "GatherND", least: 2, most: 2, shape: throughKernel(2), typ: firstType,
			along: never, derivative: gatherNDBackward},
		{name: "GatherElements", least: 2, most: 2, shape: gatherElementsShape, typ: firstType,
			along: never, numbers: rowLookedUp, derivative: gatherElementsBackward},
		still("ScatterElements", 3, 3, sameShape, firstType, unseen),
	}
}

func gatherElementsShape(n *node, p int, _ int64) ([][]int, error) {
	return [][]int{n.in[1].shape[p]}, nil
}

// gatherAlong: an index has its own row of a table, or its own part along another axis.
func gatherAlong(n *node, a int) []int {
	x, index := n.in[0].shape, n.in[1].shape.rank()
	axis, err := onnxeval.Axis(n.proto().Int("axis", 0), x.rank())
	r := all(n)
	switch {
	case err != nil:
		return nil
	case a < axis:
		r[0] = a
	case a < axis+index:
		r[1] = a - axis
	default:
		r[0] = a - index + 1
	}
	return r
}

// rowLookedUp serves a row of constants, repeated for each row and looked up by what a position
// has.
func rowLookedUp(s *sharer, n *node) func() *value {
	x := n.in[0]
	e := is(x, "Expand")
	a, err := onnxeval.Axis(n.proto().Int("axis", 0), 2)
	if e == nil || err != nil || a != 1 || !s.own[n.in[1]] || !e.in[0].fixed ||
		e.in[0].shape.rank() != 2 || !e.in[0].shape.isOne(0) ||
		x.shape.at(1) != e.in[0].shape.at(1) {
		return nil
	}
	return func() *value {
		return s.op("Gather", s.reshape(e.in[0], shapeOf(x.shape[0][1])), s.part(n.in[1]))
	}
}

// gatherBackward serves a single constant index, as in qkv[0]: the gradient times a one-hot vector.
func gatherBackward(b *builder, e *entry, g []*value) []*value {
	x := e.in[0]
	a, err := onnxeval.Axis(e.proto().Int("axis", 0), x.shape.rank())
	i, ok := scalarOf(e.in[1])
	if err != nil || !ok || !x.shape.constant(a) {
		return b.unsupported(e, "its indices are not one constant")
	}
	n := x.shape[0][a]
	if i < 0 {
		i += float64(n)
	}
	hot := make([]float32, n)
	hot[int(i)] = 1
	d := make([]int64, x.shape.rank()-a)
	for k := range d {
		d[k] = 1
	}
	d[0] = int64(n)
	key := fmt.Sprint("onehot", n, i, d)
	c := b.constant(key, func() *onnx.Tensor { return onnx.Floats("", d, hot...) })
	return []*value{b.mul(b.reshape(g[0], x.shape.with(a, [probes]int{1, 1})), c)}
}

// gatherElementsBackward adds the gradient up where the elements came from (relative positions).
func gatherElementsBackward(b *builder, e *entry, g []*value) []*value {
	if b.opset < 16 {
		return b.unsupported(e, "needs opset 16 or later; export the model again")
	}
	x := e.in[0]
	a, err := onnxeval.Axis(e.proto().Int("axis", 0), x.shape.rank())
	if err != nil {
		return b.unsupported(e, "%v", err)
	}
	add := onnx.Attr("reduction", "add")
	return []*value{b.add(&node{op: "ScatterElements",
		in:    []*value{b.mul(x, b.scalar(0)), e.in[1], g[0]},
		attrs: []*onnx.Attribute{onnx.Attr("axis", a), add}})}
}

// gatherNDBackward puts the gradient at the blanks back among all positions. e.saved is the one-hot
// [R, L, 1] of the positions.
func gatherNDBackward(b *builder, e *entry, g []*value) []*value {
	x := e.in[0]
	if len(e.saved) != 1 || !g[0].shape.isOne(1) {
		return b.unsupported(e, "is not the gather of the blanks")
	}
	hot := e.saved[0]
	d := dimsOf(func(p int) []int {
		return append(slices.Clone(hot.shape[p][:2]), slices.Repeat([]int{1}, x.shape.rank()-2)...)
	})
	return []*value{b.mul(b.reshape(hot, d), g[0])}
}
