package onnxgrad

import (
	"fmt"
	"math"
	"slices"

	"infill/mlm/onnx"
)

// lowerings write composite operations out in ones that have rules. They give the node's outputs, of
// which trailing ones that only serve training may be missing.
var lowerings map[string]func(l *loaded, o *onnx.Node, in []*value) []*value

func init() {
	lowerings = map[string]func(l *loaded, o *onnx.Node, in []*value) []*value{
		"Gelu": lowerGelu, "BiasGelu": lowerGelu, "FastGelu": lowerGelu, "QuickGelu": lowerQuickGelu,
		"Attention": lowerAttention, "RotaryEmbedding": lowerRotary,
		"RMSNormalization": lowerRMS, "SimplifiedLayerNormalization": lowerRMS, "SkipLayerNormalization": lowerSkipNorm,
	}
}

// lower replaces node o, if it is composite. The second result tells whether it is.
func (l *loaded) lower(o *onnx.Node, in []*value) (bool, error) {
	f := lowerings[o.Op]
	if f == nil {
		return false, nil
	}
	l.context = o.Name
	if len(in) == 0 || in[0] == nil {
		return true, &OpError{Op: o.Op, Node: o.Name, Reason: "input 0 is missing", Err: ErrShape}
	}
	out := f(l, o, in)
	if l.err != nil {
		return true, l.err
	}
	for i, name := range o.Outputs {
		if i < len(out) && out[i] != nil && name != "" {
			l.values[name] = out[i]
		}
	}
	return true, nil
}

// refuse records that a form of a composite operation is not known.
func (l *loaded) refuse(o *onnx.Node, format string, args ...any) []*value {
	l.fail(&OpError{Op: o.Op, Node: o.Name, Reason: fmt.Sprintf(format, args...), Err: ErrUnsupportedOp})
	return nil
}

// optional is input i, nil if left out.
func optional(in []*value, i int) *value {
	if i < len(in) {
		return in[i]
	}
	return nil
}

func lowerGelu(l *loaded, o *onnx.Node, in []*value) []*value {
	x := l.sum(in[0], optional(in, 1))
	if o.Op == "FastGelu" || o.Str("approximate", "none") == "tanh" {
		// ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
		cube := l.mul(l.mul(x, x), l.mul(x, l.scalar(0.044715)))
		t := l.op("Tanh", l.mul(l.sum(x, cube), l.scalar(math.Sqrt(2/math.Pi))))
		return []*value{l.mul(l.mul(x, l.scalar(0.5)), l.sum(t, l.scalar(1)))}
	}
	return []*value{l.gelu(x, nil)}
}

func lowerQuickGelu(l *loaded, o *onnx.Node, in []*value) []*value {
	a := float64(o.Float("alpha", 1.702))
	return []*value{l.mul(in[0], l.op("Sigmoid", l.mul(in[0], l.scalar(a))))}
}

// lowerAttention writes opset 23's Attention on [batch, heads, length, width] as softmax(α·Q·Kᵀ + mask)·V.
// The runtime's own fused attention, with packed weights, is another operation of the same name.
func lowerAttention(l *loaded, o *onnx.Node, in []*value) []*value {
	if o.Domain != "" {
		return lowerPacked(l, o, in)
	}
	q, k, v, mask := in[0], optional(in, 1), optional(in, 2), optional(in, 3)
	switch {
	case k == nil || v == nil || len(in) > 4:
		return l.refuse(o, "keys or values missing, or kept from before")
	case q.shape.rank() != 4 || k.shape.rank() != 4 || v.shape.rank() != 4 || !q.shape.constant(3):
		return l.refuse(o, "is not on [batch, heads, length, width]")
	case o.Int("is_causal", 0) != 0 || o.Float("softcap", 0) != 0:
		return l.refuse(o, "is causal or caps its scores")
	case q.shape.at(1) != k.shape.at(1):
		return l.refuse(o, "shares keys among heads")
	}
	width := float64(q.shape[0][3])
	alpha := float64(o.Float("scale", 0))
	if alpha == 0 {
		alpha = 1 / math.Sqrt(width)
	}
	s := l.matmul(q, k, false, true, alpha)
	if mask != nil && mask.typ == onnx.Bool {
		s = l.op("Where", mask, s, l.scalar(-math.MaxFloat32))
	} else {
		s = l.sum(s, mask)
	}
	p := l.add(&node{op: "Softmax", in: []*value{s}, attrs: []*onnx.Attribute{intAttr("axis", 3)}})
	return []*value{l.matmul(p, v, false, false, 1)}
}

// lowerRotary writes opset 23's RotaryEmbedding (Su et al. 2021, arXiv:2104.09864) on halves of the width.
func lowerRotary(l *loaded, o *onnx.Node, in []*value) []*value {
	x, cos, sin := in[0], optional(in, 1), optional(in, 2)
	if o.Domain != "" || cos == nil || sin == nil || optional(in, 3) != nil || x.shape.rank() != 4 || cos.shape.rank() != 3 || sin.shape.rank() != 3 ||
		o.Int("interleaved", 0) != 0 || o.Int("rotary_embedding_dim", 0) != 0 || !x.shape.constant(3) {
		return l.refuse(o, "this form of rotary embedding")
	}
	heads := func(t *value) *value { // [batch, length, half] → [batch, 1, length, half]
		var to dims
		for p := range to {
			to[p] = slices.Insert(slices.Clone(t.shape[p]), 1, 1)
		}
		return l.reshape(t, to)
	}
	cos, sin = heads(cos), heads(sin)
	half := x.shape[0][3] / 2
	a, b := l.cut(x, 3, 0, half), l.cut(x, 3, half, half)
	return []*value{l.add(&node{op: "Concat", attrs: []*onnx.Attribute{intAttr("axis", 3)}, in: []*value{
		l.sub(l.mul(a, cos), l.mul(b, sin)), l.sum(l.mul(a, sin), l.mul(b, cos))}})}
}

// lowerRMS writes x/√(mean(x²) + ε)·γ over the last axis.
func lowerRMS(l *loaded, o *onnx.Node, in []*value) []*value {
	x, gamma := in[0], optional(in, 1)
	last := x.shape.rank() - 1
	if a, err := axis(o.Int("axis", -1), x.shape.rank()); err != nil || a != last || gamma == nil {
		return l.refuse(o, "is not over the last axis, or has no scale")
	}
	square := l.reduce("ReduceMean", l.mul(x, x), last)
	r := l.op("Reciprocal", l.op("Sqrt", l.sum(square, l.scalar(float64(o.Float("epsilon", 1e-5))))))
	return []*value{l.mul(l.mul(x, r), gamma)}
}

// lowerSkipNorm writes the runtime's SkipLayerNormalization as sums and a layer normalisation.
func lowerSkipNorm(l *loaded, o *onnx.Node, in []*value) []*value {
	skip, gamma, beta := optional(in, 1), optional(in, 2), optional(in, 3)
	if skip == nil || gamma == nil {
		return l.refuse(o, "inputs missing")
	}
	x := l.sum(l.sum(in[0], skip), optional(in, 4))
	n := &node{op: "LayerNormalization", in: []*value{x, gamma}, attrs: []*onnx.Attribute{intAttr("axis", -1),
		{Name: "epsilon", Type: onnx.AttrFloat, F: o.Float("epsilon", 1e-12)}}}
	if beta != nil {
		n.in = append(n.in, beta)
	}
	return []*value{l.add(n), nil, nil, x}
}
