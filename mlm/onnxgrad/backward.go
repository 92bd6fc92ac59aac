package onnxgrad

import (
	"infill/mlm/onnx"
)

// entry is a step of the forward pass as the backward pass sees it: an operation, and what its forward
// form left behind for the backward one.
type entry struct {
	*node
	saved []*value
}

// rule differentiates one operation: given the gradients of its outputs (nil where there is none) it
// gives those of its inputs (nil where there is none), each of its input's shape.
type rule func(b *builder, e *entry, g []*value) []*value

var rules map[string]rule

func init() {
	rules = map[string]rule{}
	for _, m := range []map[string]rule{elementwiseRules, reduceRules, productRules, layoutRules, normRules} {
		for op, r := range m {
			rules[op] = r
		}
	}
}

// tape puts the forward pass into elementary operations. Layer normalisation and Gelu are expanded here,
// keeping what their derivatives need.
func tape(f *builder, nodes []*node) []*entry {
	var t []*entry
	for _, n := range nodes {
		e := &entry{node: n}
		f.context = n.name
		switch n.op {
		case "LayerNormalization":
			e.saved = expandLayerNorm(f, n)
		case "Gelu":
			e.saved = expandGelu(f, n)
		default:
			f.nodes = append(f.nodes, n)
		}
		t = append(t, e)
	}
	return t
}

// reverse walks the tape backwards from values whose gradients are given to the value x, whose gradient
// it returns.
func reverse(b *builder, t []*entry, grads map[*value]*value, x *value) *value {
	active := map[*value]bool{x: true}
	for _, e := range t {
		for _, v := range e.in {
			if v != nil && active[v] {
				for _, o := range e.out { // shapes and comparisons carry no gradient
					active[o] = o.typ == onnx.Float || o.typ == onnx.Double || o.typ == onnx.Float16
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
		r := rules[e.op]
		if r == nil {
			b.fail(&OpError{Op: e.op, Node: e.name, Reason: "cannot be differentiated; only the forward mode is available for this model", Err: ErrUnsupportedOp})
			return nil
		}
		b.context = e.name
		in := r(b, e, g)
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

// wanted tells whether input i of an entry can have a gradient: weights and integers have none.
func (e *entry) wanted(i int) bool {
	v := e.in[i]
	return !v.fixed && (v.typ == onnx.Float || v.typ == onnx.Double || v.typ == onnx.Float16)
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
