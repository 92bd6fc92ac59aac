package onnxgrad

var normRules = map[string]rule{
	"LayerNormalization": func(b *builder, e *entry, g []*value) []*value {
		return []*value{layerNormBackward(b, e, g[0])}
	},
}

// expandLayerNorm writes y = x̂·γ + β with x̂ = (x − μ)·r, r = 1/√(σ² + ε), over the last axis, and keeps
// x̂ and r. The runtime's own kernel is several times slower than these steps.
func expandLayerNorm(f *builder, n *node) []*value {
	x := n.in[0]
	last := x.shape.rank() - 1
	if a, err := axis(n.proto().Int("axis", -1), x.shape.rank()); err != nil || a != last {
		f.fail(&OpError{Op: n.op, Node: n.name, Reason: "is not over the last axis", Err: ErrUnsupportedOp})
		return nil
	}
	eps := float64(n.proto().Float("epsilon", 1e-5))
	d := f.sub(x, f.reduce("ReduceMean", x, last))
	variance := f.reduce("ReduceMean", f.mul(d, d), last)
	r := f.op("Reciprocal", f.op("Sqrt", f.sum(variance, f.scalar(eps))))
	hat := f.mul(d, r)
	if len(n.in) > 2 && n.in[2] != nil {
		f.add(&node{op: "Add", in: []*value{f.mul(hat, n.in[1]), n.in[2]}, out: n.out})
	} else {
		f.add(&node{op: "Mul", in: []*value{hat, n.in[1]}, out: n.out})
	}
	return []*value{hat, r}
}

// layerNormBackward: with h = g·γ, gx = r·(h − mean(h) − x̂·mean(h·x̂)).
func layerNormBackward(b *builder, e *entry, g *value) *value {
	hat, r := e.saved[0], e.saved[1]
	last := g.shape.rank() - 1
	h := b.mul(g, e.in[1])
	inner := b.sub(h, b.reduce("ReduceMean", h, last))
	along := b.mul(hat, b.reduce("ReduceMean", b.mul(h, hat), last))
	return b.mul(b.sub(inner, along), r)
}
