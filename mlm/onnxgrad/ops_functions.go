package onnxgrad

import (
	"math"

	"infill/mlm/onnx"
)

// halfGelu is an operation of our own: z = u·(1 + erf u). Gelu is √½·z at u = √½·x. Both
// factors can then move into the products around it.
const halfGelu = "z of Gelu"

// functionOps are the functions of single numbers, among them the activations of feed-forward
// layers.
func functionOps() []operator {
	return []operator{
		ofOne("Exp", func(b *builder, g, _, y *value) *value { return b.mul(g, y) }),
		ofOne("Log", func(b *builder, g, x, _ *value) *value { return b.op("Div", g, x) }),
		ofOne("Sqrt", func(b *builder, g, _, y *value) *value {
			return b.op("Div", b.mul(g, b.scalar(0.5)), y)
		}),
		ofOne("Erf", func(b *builder, g, x, _ *value) *value { // 2/√π·exp(−x²)
			return b.mul(g, b.mul(b.op("Exp", b.op("Neg", b.mul(x, x))), b.scalar(2/math.SqrtPi)))
		}),
		ofOne("Tanh", func(b *builder, g, _, y *value) *value {
			return b.sub(g,
				b.mul(g, b.mul(y, y)))
		}),
		ofOne("Sigmoid", func(b *builder, g, _,
			y *value) *value {
			return b.mul(g, b.sub(y, b.mul(y, y)))
		}),
		ofOne("Relu", func(b *builder, g, x, _ *value) *value {
			return b.op("Where", b.op("Greater", x, b.scalar(0)), g, b.scalar(0))
		}),
		ofOne("Sin", func(b *builder, g, x, _ *value) *value { return b.mul(g, b.op("Cos", x)) }),
		ofOne("Cos", func(b *builder, g, x, _ *value) *value {
			return b.op("Neg",
				b.mul(g, b.op("Sin", x)))
		}),
		still("Softplus", 1, 1, sameShape, firstType, unseen),
		{name: halfGelu, least: 1, most: 1, shape: sameShape, typ: firstType,
			along: pointwise, expand: expandGelu,
			derivative: geluBackward},
		{name: "Gelu", least: 1, most: 1, lower: lowerGelu},
		{name: "BiasGelu", least: 2, most: 2, lower: lowerGelu},
		{name: "FastGelu", least: 1, most: 2, lower: lowerGelu},
		{name: "QuickGelu", least: 1, most: 1, lower: lowerQuickGelu},
	}
}

// expandGelu writes z = u·P, P = 1 + erf(u), and keeps P.
func expandGelu(f *builder, n *node) []*value {
	p := f.op("Add", f.op("Erf", n.in[0]), f.scalar(1))
	f.add(&node{op: "Mul", in: []*value{n.in[0], p}, out: n.out})
	return []*value{p}
}

// geluBackward uses dz/du = P + u·exp(ln(2/√π) − u²).
func geluBackward(b *builder, e *entry, g []*value) []*value {
	u, p := e.in[0], e.saved[0]
	bell := b.op("Exp", b.sub(b.scalar(math.Log(2/math.SqrtPi)), b.mul(u, u)))
	return []*value{b.mul(g[0], b.op("Add", p, b.mul(u, bell)))}
}

// gelu computes x·Φ(x) by halfGelu. The result goes to out, or to a new value if nil.
func (b *builder) gelu(x, out *value) *value {
	half := b.scalar(math.Sqrt(0.5))
	n := &node{op: "Mul", in: []*value{b.op(halfGelu, b.mul(x, half)), half}}
	if out != nil {
		n.out = []*value{out}
	}
	return b.add(n)
}

// lowerGelu serves x·Φ(x) and its approximation ½·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), both of
// Hendrycks and Gimpel (2016, arXiv:1606.08415), with or without a bias.
func lowerGelu(l *loaded, o *onnx.Node, in []*value) []*value {
	x := l.sum(in[0], optional(in, 1))
	if o.Op == "FastGelu" || o.Str("approximate", "none") == "tanh" {
		cube := l.mul(l.mul(x, x), l.mul(x, l.scalar(0.044715)))
		t := l.op("Tanh", l.mul(l.sum(x, cube), l.scalar(math.Sqrt(2/math.Pi))))
		return []*value{l.mul(l.mul(x, l.scalar(0.5)), l.sum(t, l.scalar(1)))}
	}
	return []*value{l.gelu(x, nil)}
}

// lowerQuickGelu writes x·σ(α·x).
func lowerQuickGelu(l *loaded, o *onnx.Node, in []*value) []*value {
	a := float64(o.Float("alpha", 1.702))
	return []*value{l.mul(in[0], l.op("Sigmoid", l.mul(in[0], l.scalar(a))))}
}
