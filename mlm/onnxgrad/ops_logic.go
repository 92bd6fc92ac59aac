package onnxgrad

import "infill/mlm/onnx"

// logicOps are comparisons, choices, and changes of the element type.
func logicOps() []operator {
	truth := func(name string, inputs int) operator {
		return with(still(name, inputs, inputs, broadcastShape, boolType, noNumber),
			func(o *operator) { o.along = pointwise })
	}
	out := []operator{
		{name: "Where", least: 3, most: 3, shape: broadcastShape, typ: secondType,
			along: pointwise, derivative: whereBackward},
		{name: "Cast", least: 1, most: 1, shape: sameShape, typ: castType, simplify: castToItself,
			along: pointwise, derivative: castBackward},
		{name: "CastLike", least: 2, most: 2, shape: sameShape, typ: secondType,
			simplify: castToItself, along: never, none: unseen},
		{name: "Identity", least: 1, most: 1, shape: sameShape, typ: firstType, simplify: itself,
			along: never, none: replaced},
		{name: "Dropout", least: 1, most: 3, outputs: 1, shape: sameShape, typ: firstType,
			simplify: itself, along: never, none: replaced},
	}
	for _, name := range []string{"Not", "IsNaN"} {
		out = append(out, truth(name, 1))
	}
	for _, name := range []string{"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual",
		"And", "Or", "Xor"} {
		out = append(out, truth(name, 2))
	}
	return out
}

func itself(_ *loaded, n *node) *value { return n.in[0] }

func castType(n *node) onnx.DataType { return onnx.DataType(n.proto().Int("to", 1)) }

// castToItself leaves out casts to the type that there is.
func castToItself(_ *loaded, n *node) *value {
	if n.out[0].typ == n.in[0].typ {
		return n.in[0]
	}
	return nil
}

func castBackward(b *builder, e *entry, g []*value) []*value {
	return e.each(func(int) *value {
		return b.cast(g[0], e.in[0].typ)
	})
}

func whereBackward(b *builder, e *entry, g []*value) []*value {
	zero := b.scalar(0)
	return e.each(func(i int) *value {
		if i == 1 {
			return b.unbroadcast(b.op("Where", e.in[0], g[0], zero), e.in[1].shape)
		}
		return b.unbroadcast(b.op("Where", e.in[0], zero, g[0]), e.in[2].shape)
	})
}
