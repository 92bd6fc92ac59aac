package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// Rules that operators of several families have in common.

// sameShape is for outputs with the shape of the first input.
func sameShape(n *node, p int, _ int64) ([][]int, error) { return [][]int{n.in[0].shape[p]}, nil }

// broadcastShape is for operands that are repeated along axes of length one.
func broadcastShape(n *node, p int, _ int64) ([][]int, error) {
	shapes := make([][]int, len(n.in))
	for i, v := range n.in {
		shapes[i] = v.shape[p]
	}
	out, err := onnxeval.Broadcast(shapes...)
	return [][]int{out}, err
}

// throughKernel asks the operator's kernel, which looks at the shapes of the first inputs, data of
// them or any number, and at the contents of the others.
func throughKernel(data int) shapeRule {
	return func(n *node, p int, opset int64) (shapes [][]int, err error) {
		in := make([]*onnxeval.Tensor, len(n.in))
		for i, v := range n.in {
			if v == nil {
				continue
			}
			if in[i] = v.known[p]; i < data || data == many {
				in[i] = &onnxeval.Tensor{Type: v.typ, Shape: v.shape[p]}
			} else if in[i] == nil {
				return nil, fmt.Errorf("the shape depends on the values of input %d", i)
			}
		}
		proto := n.proto()
		proto.Outputs = make([]string, len(n.out))
		out, err := onnxeval.Node(proto, in, opset, nil)
		for _, t := range out {
			shapes = append(shapes, t.Shape)
		}
		return shapes, err
	}
}

// target is the shape that a tensor of integers spells.
func target(v *value, p int) ([]int, error) {
	if v == nil || v.known[p] == nil {
		return nil, fmt.Errorf("target shape depends on the input's values")
	}
	out := make([]int, len(v.known[p].I))
	for i, d := range v.known[p].I {
		if d < 0 || d > 1<<40 {
			return nil, fmt.Errorf("dimension %d", d)
		}
		out[i] = int(d)
	}
	return out, nil
}

// list is the integers of input i or, without it, of an attribute. nil is for neither.
func (n *node) list(i int, attribute string, p int) ([]int64, error) {
	if v := optional(n.in, i); v != nil {
		if v.known[p] == nil {
			return nil, fmt.Errorf("%s depend on the input's values", attribute)
		}
		return v.known[p].I, nil
	}
	list, _ := n.proto().Ints(attribute)
	return list, nil
}

// Element types of outputs.
func firstType(n *node) onnx.DataType  { return n.in[0].typ }
func secondType(n *node) onnx.DataType { return n.in[1].typ }
func boolType(*node) onnx.DataType     { return onnx.Bool }
func int64Type(*node) onnx.DataType    { return onnx.Int64 }

// all reads every input of n whole.
func all(n *node) []int { return slices.Repeat([]int{-1}, len(n.in)) }

// never is for operators that are not computed at some positions only.
func never(*node, int) []int { return nil }

// first is for an output that follows from the first input along its axis a.
func first(n *node, a int) []int {
	r := all(n)
	r[0] = a
	return r
}

// alongRows is for operators that treat the last axis as a whole and every other one position by
// position.
func alongRows(n *node, a int) []int {
	if a == n.out[0].shape.rank()-1 {
		return nil
	}
	return first(n, a)
}

// pointwise is for operators whose output at a position depends on the inputs at that position.
func pointwise(n *node, a int) []int {
	r, some := all(n), false
	for i, v := range n.in {
		if v == nil {
			continue
		}
		if own := a - (n.out[0].shape.rank() - v.shape.rank()); own >= 0 && !v.shape.isOne(own) {
			r[i], some = own, true
		}
	}
	if !some {
		return nil
	}
	return r
}

// still is the record of an operator that neither positions nor gradients go through.
func still(name string, least, most int, shape shapeRule, typ typeRule, none string) operator {
	return operator{name: name, least: least, most: most, shape: shape, typ: typ, along: never,
		none: none}
}

// ofOne is the record of a function of single numbers. d makes the gradient of x from that of y.
func ofOne(name string, d func(b *builder, g, x, y *value) *value) operator {
	return operator{name: name, least: 1, most: 1, shape: sameShape, typ: firstType,
		along: pointwise,
		derivative: func(b *builder, e *entry, g []*value) []*value {
			return []*value{d(b, g[0], e.in[0], e.out[0])}
		}}
}

// ofTwo is the record of a function of two numbers.
func ofTwo(name string, d rule) operator {
	return operator{name: name, least: 2, most: 2, shape: broadcastShape, typ: firstType,
		along: pointwise, derivative: d}
}

// unbroadcast sums g over what an operand of shape `to` was repeated along.
func (b *builder) unbroadcast(g *value, to dims) *value {
	var axes []int
	off := g.shape.rank() - to.rank()
	for i := range g.shape.rank() {
		if i < off || to.isOne(i-off) && !g.shape.isOne(i) {
			axes = append(axes, i)
		}
	}
	if len(axes) > 0 {
		g = b.reduce("ReduceSum", g, axes...)
	}
	return b.reshape(g, to)
}

// with is a record with some of its rules changed.
func with(o operator, change func(o *operator)) operator {
	change(&o)
	return o
}
