package onnxgrad

import (
	"math"

	"infill/mlm/onnx"
)

var elementwiseRules = map[string]rule{
	"Add": func(b *builder, e *entry, g []*value) []*value {
		return e.each(func(i int) *value { return b.unbroadcast(g[0], e.in[i].shape) })
	},
	"Sub": func(b *builder, e *entry, g []*value) []*value {
		return e.each(func(i int) *value {
			d := g[0]
			if i == 1 {
				d = b.op("Neg", d)
			}
			return b.unbroadcast(d, e.in[i].shape)
		})
	},
	"Mul": func(b *builder, e *entry, g []*value) []*value {
		return e.each(func(i int) *value { return b.unbroadcast(b.mul(g[0], e.in[1-i]), e.in[i].shape) })
	},
	"Div": func(b *builder, e *entry, g []*value) []*value {
		return e.each(func(i int) *value {
			d := b.op("Div", g[0], e.in[1])
			if i == 1 { // −g·y/b
				d = b.op("Neg", b.mul(d, e.out[0]))
			}
			return b.unbroadcast(d, e.in[i].shape)
		})
	},
	"Pow": func(b *builder, e *entry, g []*value) []*value {
		k, ok := scalarOf(e.in[1])
		if !ok {
			b.fail(&OpError{Op: "Pow", Node: e.name, Reason: "the exponent is not a constant", Err: ErrUnsupportedOp})
			return nil
		}
		x := e.in[0]
		if k != 2 {
			x = b.op("Pow", x, b.scalar(k-1))
		}
		return []*value{b.mul(g[0], b.mul(x, b.scalar(k)))}
	},
	"Where": func(b *builder, e *entry, g []*value) []*value {
		zero := b.scalar(0)
		return e.each(func(i int) *value {
			if i == 1 {
				return b.unbroadcast(b.op("Where", e.in[0], g[0], zero), e.in[1].shape)
			}
			return b.unbroadcast(b.op("Where", e.in[0], zero, g[0]), e.in[2].shape)
		})
	},
	"Neg":  unary(func(b *builder, g, _, _ *value) *value { return b.op("Neg", g) }),
	"Sqrt": unary(func(b *builder, g, _, y *value) *value { return b.op("Div", b.mul(g, b.scalar(0.5)), y) }),
	"Exp":  unary(func(b *builder, g, _, y *value) *value { return b.mul(g, y) }),
	"Log":  unary(func(b *builder, g, x, _ *value) *value { return b.op("Div", g, x) }),
	"Erf": unary(func(b *builder, g, x, _ *value) *value { // 2/√π·exp(−x²)
		return b.mul(g, b.mul(b.op("Exp", b.op("Neg", b.mul(x, x))), b.scalar(2/math.SqrtPi)))
	}),
	"Tanh":    unary(func(b *builder, g, _, y *value) *value { return b.sub(g, b.mul(g, b.mul(y, y))) }),
	"Sigmoid": unary(func(b *builder, g, _, y *value) *value { return b.mul(g, b.sub(y, b.mul(y, y))) }),
	"Reciprocal": unary(func(b *builder, g, _, y *value) *value {
		return b.op("Neg", b.mul(g, b.mul(y, y)))
	}),
	"Relu": unary(func(b *builder, g, x, _ *value) *value {
		return b.op("Where", b.op("Greater", x, b.scalar(0)), g, b.scalar(0))
	}),
	"Sin": unary(func(b *builder, g, x, _ *value) *value { return b.mul(g, b.op("Cos", x)) }),
	"Cos": unary(func(b *builder, g, x, _ *value) *value { return b.op("Neg", b.mul(g, b.op("Sin", x))) }),
	"Cast": func(b *builder, e *entry, g []*value) []*value {
		return e.each(func(int) *value {
			return b.add(&node{op: "Cast", in: []*value{g[0]}, attrs: []*onnx.Attribute{intAttr("to", int64(e.in[0].typ))}})
		})
	},
	"Gelu": func(b *builder, e *entry, g []*value) []*value { return []*value{geluBackward(b, e, g[0])} },
}

// unary lifts the derivative of a function of one tensor: d makes the gradient of x from that of y.
func unary(d func(b *builder, g, x, y *value) *value) rule {
	return func(b *builder, e *entry, g []*value) []*value { return []*value{d(b, g[0], e.in[0], e.out[0])} }
}

// expandGelu writes z = u·P, P = 1 + erf(u), and keeps P.
func expandGelu(f *builder, n *node) []*value {
	p := f.op("Add", f.op("Erf", n.in[0]), f.scalar(1))
	f.add(&node{op: "Mul", in: []*value{n.in[0], p}, out: n.out})
	return []*value{p}
}

// geluBackward uses dz/du = P + u·exp(ln(2/√π) − u²).
func geluBackward(b *builder, e *entry, g *value) *value {
	u, p := e.in[0], e.saved[0]
	bell := b.op("Exp", b.sub(b.scalar(math.Log(2/math.SqrtPi)), b.mul(u, u)))
	return b.mul(g, b.op("Add", p, b.mul(u, bell)))
}
