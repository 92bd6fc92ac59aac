package onnxgrad

var productRules = map[string]rule{
	// For Y = α·A·B, gA = α·g·Bᵀ and gB = α·Aᵀ·g; transposed operands move the transposition around.
	"MatMul": func(b *builder, e *entry, g []*value) []*value {
		x, y, d := e.in[0], e.in[1], g[0]
		return e.each(func(i int) *value {
			var v *value
			switch {
			case i == 0 && !e.transA:
				v = b.matmul(d, y, false, !e.transB, e.alpha)
			case i == 0:
				v = b.matmul(y, d, e.transB, true, e.alpha)
			case !e.transB:
				v = b.matmul(x, d, !e.transA, false, e.alpha)
			default:
				v = b.matmul(d, x, true, e.transA, e.alpha)
			}
			return b.unbroadcast(v, e.in[i].shape)
		})
	},
}
