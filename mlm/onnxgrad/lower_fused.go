package onnxgrad

import (
	"math"

	"infill/mlm/onnx"
)

// The runtime's optimisers fuse attention and embeddings into operators of its own (com.microsoft). They are
// written out here again, from their documentation (ContribOperators.md of ONNX Runtime).

func init() {
	lowerings["MultiHeadAttention"] = lowerMultiHead
	lowerings["EmbedLayerNormalization"] = lowerEmbedNorm
	lowerings["SkipSimplifiedLayerNormalization"] = lowerSkipRMS
}

// remedy ends the refusal of a form of a fused operator.
const remedy = "; use the model as exported, before optimisation"

// lowerPacked writes the runtime's Attention, whose weight makes queries, keys and values at once.
// Inputs: x [B, S, D], weight [D, 3H], bias [3H], mask, past, bias of the scores.
func lowerPacked(l *loaded, o *onnx.Node, in []*value) []*value {
	x, w, bias := in[0], optional(in, 1), optional(in, 2)
	switch {
	case w == nil || x.shape.rank() != 3 || w.shape.rank() != 2 || !w.shape.constant(1):
		return l.refuse(o, "fused attention without weights"+remedy)
	case optional(in, 4) != nil || optional(in, 6) != nil || o.Int("unidirectional", 0) != 0 || o.Int("do_rotary", 0) != 0:
		return l.refuse(o, "fused attention that is causal, rotary or keeps keys from before"+remedy)
	}
	width := w.shape[0][1]
	sizes := []int{width / 3, width / 3, width / 3}
	if s, ok := o.Ints("qkv_hidden_sizes"); ok && len(s) > 0 {
		if len(s) != 3 {
			return l.refuse(o, "sizes %v of queries, keys and values"+remedy, s)
		}
		sizes = []int{int(s[0]), int(s[1]), int(s[2])}
	}
	if sizes[0] < 1 || sizes[2] < 1 || sizes[0] != sizes[1] || sizes[0]+sizes[1]+sizes[2] != width {
		return l.refuse(o, "sizes %v of queries, keys and values in a weight of width %d"+remedy, sizes, width)
	}
	all := l.sum(l.matmul(x, w, false, false, 1), bias)
	if l.err != nil {
		return nil
	}
	q, k, v := l.cut(all, 2, 0, sizes[0]), l.cut(all, 2, sizes[0], sizes[1]), l.cut(all, 2, sizes[0]+sizes[1], sizes[2])
	return l.heads(o, q, k, v, optional(in, 3), optional(in, 5))
}

// lowerMultiHead writes MultiHeadAttention. Inputs: query [B, S, H], key [B, T, H], value [B, T, W], bias
// [H + H + W], mask of the keys, bias of the scores, keys and values from before.
func lowerMultiHead(l *loaded, o *onnx.Node, in []*value) []*value {
	q, k, v, bias := in[0], optional(in, 1), optional(in, 2), optional(in, 3)
	switch {
	case k == nil || v == nil || q.shape.rank() != 3 || k.shape.rank() != 3 || v.shape.rank() != 3 || !q.shape.constant(2) || !v.shape.constant(2):
		return l.refuse(o, "fused attention on packed queries, keys or values"+remedy)
	case optional(in, 6) != nil || optional(in, 7) != nil || o.Int("unidirectional", 0) != 0:
		return l.refuse(o, "fused attention that is causal or keeps keys from before"+remedy)
	}
	h, w := q.shape[0][2], v.shape[0][2]
	if bias != nil {
		if bias.shape.rank() != 1 || bias.shape[0][0] != 2*h+w {
			return l.refuse(o, "a bias of shape %v"+remedy, bias.shape[0])
		}
		q, k, v = l.sum(q, l.cut(bias, 0, 0, h)), l.sum(k, l.cut(bias, 0, h, h)), l.sum(v, l.cut(bias, 0, 2*h, w))
	}
	return l.heads(o, q, k, v, optional(in, 4), optional(in, 5))
}

// heads is softmax(α·Q·Kᵀ + masks)·V for each of the heads into which the widths are cut.
func (l *loaded) heads(o *onnx.Node, q, k, v, mask, bias *value) []*value {
	n := int(o.Int("num_heads", 0))
	if l.err != nil {
		return nil
	}
	if n < 1 || n > 4096 || q.shape[0][2]%n != 0 || v.shape[0][2]%n != 0 || q.shape.at(2) != k.shape.at(2) {
		return l.refuse(o, "%d heads of widths %v, %v and %v"+remedy, n, q.shape[0], k.shape[0], v.shape[0])
	}
	cut := func(x *value) *value { // [B, S, n·d] → [B, n, S, d]
		var to dims
		for p := range to {
			s := x.shape[p]
			to[p] = []int{s[0], s[1], n, s[2] / n}
		}
		return l.transpose(l.reshape(x, to), []int64{0, 2, 1, 3})
	}
	alpha := float64(o.Float("scale", 0))
	if alpha == 0 {
		alpha = 1 / math.Sqrt(float64(q.shape[0][2]/n))
	}
	s := l.matmul(cut(q), cut(k), false, true, alpha)
	s = l.sum(s, bias)
	s = l.sum(s, l.keyMask(o, mask, k))
	p := l.add(&node{op: "Softmax", in: []*value{s}, attrs: []*onnx.Attribute{intAttr("axis", 3)}})
	y := l.transpose(l.matmul(p, cut(v), false, false, 1), []int64{0, 2, 1, 3})
	if l.err != nil {
		return nil
	}
	var to dims
	for p := range to {
		to[p] = []int{q.shape[p][0], q.shape[p][1], v.shape[0][2]}
	}
	return []*value{l.reshape(y, to)}
}

// keyMask is what the runtime adds to the scores of keys that a mask hides: 0 or the filter value, [B, 1, 1, T]
// or [B, 1, S, T]. The mask holds ones and zeros, [B, T] or [B, S, T], or the number of leading keys to see, [B].
func (l *loaded) keyMask(o *onnx.Node, mask, k *value) *value {
	if mask == nil || l.err != nil {
		return nil
	}
	if mask.typ != onnx.Int32 && mask.typ != onnx.Int64 && mask.typ != onnx.Bool {
		l.refuse(o, "a mask of %v"+remedy, mask.typ)
		return nil
	}
	var to dims
	var seen *value
	switch s := mask.shape; {
	case s.rank() == 1 && s.at(0) == k.shape.at(0):
		for p := range to {
			to[p] = []int{k.shape[p][0], 1}
		}
		ends := l.add(&node{op: "Cast", in: []*value{l.reshape(mask, to)}, attrs: []*onnx.Attribute{intAttr("to", int64(onnx.Int64))}})
		seen = l.op("Less", l.upTo(k, 1), ends)
		for p := range to {
			to[p] = []int{k.shape[p][0], 1, 1, k.shape[p][1]}
		}
	case s.rank() == 2 && s.at(1) == k.shape.at(1):
		seen = l.asBool(mask)
		for p := range to {
			to[p] = []int{s[p][0], 1, 1, s[p][1]}
		}
	case s.rank() == 3 && s.at(2) == k.shape.at(1):
		seen = l.asBool(mask)
		for p := range to {
			to[p] = []int{s[p][0], 1, s[p][1], s[p][2]}
		}
	default:
		l.refuse(o, "a mask of shape %v"+remedy, mask.shape[0])
		return nil
	}
	if l.err != nil {
		return nil
	}
	return l.op("Where", l.reshape(seen, to), l.scalar(0), l.scalar(float64(o.Float("mask_filter_value", -10000))))
}

func (b *builder) asBool(x *value) *value {
	if x.typ == onnx.Bool {
		return x
	}
	return b.add(&node{op: "Cast", in: []*value{x}, attrs: []*onnx.Attribute{intAttr("to", int64(onnx.Bool))}})
}

// lowerEmbedNorm writes EmbedLayerNormalization: the sum of the embeddings of words, positions and segments,
// normalised. Its second output counts the positions that its mask marks, its third is the sum.
func lowerEmbedNorm(l *loaded, o *onnx.Node, in []*value) []*value {
	ids, segments, words, positions, types := in[0], optional(in, 1), optional(in, 2), optional(in, 3), optional(in, 4)
	gamma, beta, mask, at := optional(in, 5), optional(in, 6), optional(in, 7), optional(in, 8)
	if ids.shape.rank() != 2 || words == nil || positions == nil || gamma == nil || beta == nil || (segments == nil) != (types == nil) {
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
	n := l.add(&node{op: "LayerNormalization", in: []*value{x, gamma, beta}, attrs: []*onnx.Attribute{intAttr("axis", -1),
		{Name: "epsilon", Type: onnx.AttrFloat, F: o.Float("epsilon", 1e-12)}}})
	out := []*value{n, nil, x}
	if mask != nil && len(o.Outputs) > 1 && o.Outputs[1] != "" {
		if mask.shape.rank() != 2 {
			return l.refuse(o, "a mask of shape %v"+remedy, mask.shape[0])
		}
		whole := l.add(&node{op: "Cast", in: []*value{mask}, attrs: []*onnx.Attribute{intAttr("to", int64(onnx.Int64))}})
		var to dims
		for p := range to {
			to[p] = []int{mask.shape[p][0]}
		}
		if c := l.reduce("ReduceSum", whole, 1); l.err == nil {
			out[1] = l.reshape(c, to)
		}
	}
	return out
}

// lowerSkipRMS writes SkipSimplifiedLayerNormalization as sums and a root-mean-square norm.
func lowerSkipRMS(l *loaded, o *onnx.Node, in []*value) []*value {
	skip, gamma, bias := optional(in, 1), optional(in, 2), optional(in, 3)
	if skip == nil || gamma == nil {
		return l.refuse(o, "inputs missing")
	}
	x := l.sum(l.sum(in[0], skip), bias)
	y := lowerRMS(l, o, []*value{x, gamma})
	if l.err != nil {
		return nil
	}
	return []*value{y[0], nil, nil, x}
}
