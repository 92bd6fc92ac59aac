package onnxgrad

import (
	"fmt"
	"infill/mlm/onnx"
)

// entry is a step of the forward pass as the backward pass sees it: an operation, and what its
// forward form left behind for the backward one.
type entry struct {
	*node
	saved []*value
}

// tape puts the forward pass into elementary operations. Those whose derivatives need more than
// inputs and outputs are written out here, which keeps it.
func tape(f *builder, nodes []*node) []*entry {
	var t []*entry
	for _, n := range nodes {
		e := &entry{node: n}
		f.context = n.name
		if expand := operators[n.op].expand; expand != nil {
			e.saved = expand(f, n)
		} else {
			f.nodes = append(f.nodes, n)
		}
		t = append(t, e)
	}
	return t
}

// reverse walks the tape backwards from values whose gradients are given to the value x, whose
// gradient it returns.
func reverse(b *builder, t []*entry, grads map[*value]*value, x *value) *value {
	active := map[*value]bool{x: true}
	for _, e := range t {
		for _, v := range e.in {
			if v != nil && active[v] {
				for _, o := range e.out { // shapes and comparisons carry no gradient
					active[o] = floating(o)
				}
				break
			}
		}
	}
	for i := len(t) - 1; i >= 0; i-- {
		e := t[i]
		g := make([]*value, len(e.out))
		some, reaches := false, false
		for j, o := range e.out {
			g[j] = grads[o]
			some = some || g[j] != nil
			reaches = reaches || active[o] && o != x
		}
		if !some || !reaches {
			continue
		}
		op := operators[e.op]
		if op.derivative == nil {
			b.unsupported(e,
				"has no derivative here: %s; only the first term of the gradient can be had",
				op.none)
			return nil
		}
		b.context = e.name
		in := op.derivative(b, e, g)
		if b.err != nil {
			return nil
		}
		for j, v := range e.in {
			if v != nil && active[v] && j < len(in) && in[j] != nil {
				grads[v] = b.sum(grads[v], in[j])
			}
		}
	}
	return grads[x]
}

// wanted reports whether input i of an entry can have a gradient: weights and integers have none.
func (e *entry) wanted(i int) bool {
	return !e.in[i].fixed && floating(e.in[i])
}

func floating(v *value) bool {
	return v.typ == onnx.Float || v.typ == onnx.Double || v.typ == onnx.Float16
}

// each makes the gradients of the inputs that can have one.
func (e *entry) each(f func(i int) *value) []*value {
	out := make([]*value, len(e.in))
	for i, v := range e.in {
		if v != nil && e.wanted(i) {
			out[i] = f(i)
		}
	}
	return out
}

// unsupported refuses to differentiate a form of an operator.
func (b *builder) unsupported(e *entry, format string, args ...any) []*value {
	b.fail(e.refused(errUnsupportedOp, format, args...))
	return nil
}

// upTo is [0, 1, …, n−1] for dimension axis of x.
func (b *builder) upTo(x *value, axis int) *value {
	zero, one, at := b.wholeNumber(0), b.wholeNumber(1), b.wholeNumber(int64(axis))
	return b.op("Range", zero, b.op("Gather", b.op("Shape", x), at), one)
}

func (b *builder) wholeNumber(v int64) *value {
	return b.constant(fmt.Sprint("int", v),
		func() *onnx.Tensor { return onnx.Ints("", onnx.Int64, nil, v) })
}
