package onnxgrad

import (
	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// normOps are layer normalisation (Ba et al. 2016, arXiv:1607.06450), the root-mean-square norm
// (Zhang and Sennrich 2019, arXiv:1910.07467), and their fusions with sums and embeddings by the
// runtime's optimisers, written out from their documentation (ContribOperators.md of ONNX Runtime).
func normOps() []operator {
	return []operator{
		{name: "LayerNormalization", least: 2, most: 3, outputs: 1, shape: sameShape,
			typ: firstType, along: alongRows, expand: expandLayerNorm, derivative: layerNormBackward},
		{name: "RMSNormalization", least: 2, most: 2, lower: lowerRMS},
		{name: "SimplifiedLayerNormalization", least: 2, most: 2, lower: lowerRMS},
		{name: "SkipLayerNormalization", least: 3, most: 5, lower: lowerSkipNorm},
		{name: "SkipSimplifiedLayerNormalization", least: 3, most: 4, lower: lowerSkipRMS},
		{name: "EmbedLayerNormalization", least: 1, most: 9, lower: lowerEmbedNorm},
	}
}

// expandLayerNorm writes y = x̂·γ + β with x̂ = (x − μ)·r, r = 1/√(σ² + ε), over the last axis, and
// keeps x̂ and r. The runtime's own kernel is several times slower than these steps.
func expandLayerNorm(f *builder, n *node) []*value {
	x := n.in[0]
	last := x.shape.rank() - 1
	if a, err := onnxeval.Axis(n.proto().Int("axis", -1), x.shape.rank()); err != nil || a != last {
		f.fail(n.refused(errUnsupportedOp, "is not over the last axis"))
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
func layerNormBackward(b *builder, e *entry, g []*value) []*value {
	hat, r := e.saved[0], e.saved[1]
	last := g[0].shape.rank() - 1
	h := b.mul(g[0], e.in[1])
	inner := b.sub(h, b.reduce("ReduceMean", h, last))
	along := b.mul(hat, b.reduce("ReduceMean", b.mul(h, hat), last))
	return []*value{b.mul(b.sub(inner, along), r)}
}

// lowerRMS writes x/√(mean(x²) + ε)·γ over the last axis.
func lowerRMS(l *loaded, o *onnx.Node, in []*value) []*value {
	x, gamma := in[0], in[1]
	last := x.shape.rank() - 1
	if a, err := onnxeval.Axis(o.Int("axis", -1), x.shape.rank()); err != nil || a != last {
		return l.refuse(o, "is not over the last axis")
	}
	square := l.reduce("ReduceMean", l.mul(x, x), last)
	r := l.op("Reciprocal", l.op("Sqrt", l.sum(square,
		l.scalar(float64(o.Float("epsilon", 1e-5))))))
	return []*value{l.mul(l.mul(x, r), gamma)}
}

// lowerSkipNorm writes the runtime's SkipLayerNormalization as sums and a layer normalisation.
func lowerSkipNorm(l *loaded, o *onnx.Node, in []*value) []*value {
	skip, gamma, beta := in[1], in[2], optional(in, 3)
	x := l.sum(l.sum(in[0], skip), optional(in, 4))
	n := normOf(o.Float("epsilon", 1e-12), x, gamma)
	if beta != nil {
		n.in = append(n.in, beta)
	}
	return []*value{l.add(n), nil, nil, x}
}

// normOf is a layer normalisation over the last axis.
func normOf(epsilon float32, in ...*value) *node {
	return &node{op: "LayerNormalization", in: in, attrs: []*onnx.Attribute{onnx.Attr("axis", -1),
		onnx.Attr("epsilon", epsilon)}}
}

// lowerEmbedNorm writes EmbedLayerNormalization: the sum of the embeddings of words, positions and
// segments, normalised. Its second output counts the positions that its mask marks, its third is
// the sum.
func lowerEmbedNorm(l *loaded, o *onnx.Node, in []*value) []*value {
	ids, segments, words, positions, types := in[0], optional(in, 1), optional(in, 2),
		optional(in, 3), optional(in, 4)
	gamma, beta, mask, at := optional(in, 5), optional(in, 6), optional(in, 7), optional(in, 8)
	if ids.shape.rank() != 2 || words == nil || positions == nil || gamma == nil || beta == nil ||
		(segments == nil) != (types == nil) {
		return l.refuse(o, "inputs missing"+remedy)
	}
	if at == nil {
		at = l.upTo(ids, 1)
	}
	look := func(table, index *value) *value { return l.op("Gather", table, index) }
	x := l.sum(look(words, ids), look(positions, at))
	if types != nil {
		x = l.sum(x, look(types, segments))
	}
	n := l.add(normOf(o.Float("epsilon", 1e-12), x, gamma, beta))
	out := []*value{n, nil, x}
	if mask != nil && len(o.Outputs) > 1 && o.Outputs[1] != "" {
		if mask.shape.rank() != 2 {
			return l.refuse(o, "a mask of shape %v"+remedy, mask.shape[0])
		}
		whole := l.cast(mask, onnx.Int64)
		to := dimsOf(func(p int) []int { return mask.shape[p][:1] })
		if c := l.reduce("ReduceSum", whole, 1); l.err == nil {
			out[1] = l.reshape(c, to)
		}
	}
	return out
}

// lowerSkipRMS writes SkipSimplifiedLayerNormalization as sums and a root-mean-square norm.
func lowerSkipRMS(l *loaded, o *onnx.Node, in []*value) []*value {
	skip, gamma, bias := in[1], in[2], optional(in, 3)
	x := l.sum(l.sum(in[0], skip), bias)
	y := lowerRMS(l, o, []*value{x, gamma})
	if l.err != nil {
		return nil
	}
	return []*value{y[0], nil, nil, x}
}
