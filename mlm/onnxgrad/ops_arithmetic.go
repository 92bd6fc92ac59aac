package onnxgrad

import "infill/mlm/onnx"

// arithmeticOps are sums, products, powers and the functions that round or choose.
func arithmeticOps() []operator {
	step := func(name string) operator {
		return still(name, 1, 1, sameShape, firstType, steps)
	}
	choice := func(name string) operator {
		return operator{name: name, least: 1, most: many, shape: broadcastShape, typ: firstType,
			along: pointwise, none: unseen}
	}
	return []operator{
		ofTwo("Add", func(b *builder, e *entry, g []*value) []*value {
			return e.each(func(i int) *value { return b.unbroadcast(g[0], e.in[i].shape) })
		}),
		ofTwo("Sub", func(b *builder, e *entry, g []*value) []*value {
			return e.each(func(i int) *value {
				d := g[0]
				if i == 1 {
					d = b.op("Neg", d)
				}
				return b.unbroadcast(d, e.in[i].shape)
			})
		}),
		ofTwo("Mul", func(b *builder, e *entry, g []*value) []*value {
			return e.each(func(i int) *value {
				return b.unbroadcast(b.mul(g[0], e.in[1-i]), e.in[i].shape)
			})
		}),
		with(ofTwo("Div", func(b *builder, e *entry, g []*value) []*value {
			return e.each(func(i int) *value {
				d := b.op("Div", g[0], e.in[1])
				if i == 1 { // −g·y/b
					d = b.op("Neg", b.mul(d, e.out[0]))
				}
				return b.unbroadcast(d, e.in[i].shape)
			})
		}), func(o *operator) { o.simplify = divideByConstant }),
		ofTwo("Pow", func(b *builder, e *entry, g []*value) []*value {
			k, ok := scalarOf(e.in[1])
			if !ok {
				return b.unsupported(e, "the exponent is not a constant")
			}
			x := e.in[0]
			if k != 2 {
				x = b.op("Pow", x, b.scalar(k-1))
			}
			return []*value{b.mul(g[0], b.mul(x, b.scalar(k)))}
		}),
		still("Mod", 2, 2, broadcastShape, firstType, unseen),
		ofOne("Neg", func(b *builder, g, _, _ *value) *value { return b.op("Neg", g) }),
		ofOne("Reciprocal", func(b *builder, g, _, y *value) *value {
			return b.op("Neg", b.mul(g, b.mul(y, y)))
		}),
		{name: "Abs", least: 1, most: 1, shape: sameShape, typ: firstType,
			along: pointwise, none: unseen},
		choice("Min"), choice("Max"),
		with(step("Clip"), func(o *operator) { o.most, o.none = 3, unseen }),
		step("Floor"), step("Ceil"), step("Round"), step("Sign"),
	}
}

// divideByConstant makes a division by a constant a product.
func divideByConstant(l *loaded, n *node) *value {
	x := n.in[0]
	if c, ok := scalarOf(n.in[1]); ok && x.typ == onnx.Float &&
		n.in[1].shape.rank() <= x.shape.rank() {
		return l.mul(x, l.scalar(1/c))
	}
	return nil
}
