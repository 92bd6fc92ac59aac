package onnxgrad

import (
	"math"
	"slices"

	"infill/mlm/onnx"
)

// attentionOps are attention and rotary embeddings as single operators: those of opset 23, and
// those that the runtime's optimisers make, written out from their documentation
// (ContribOperators.md of ONNX Runtime).
func attentionOps() []operator {
	return []operator{
		{name: "Attention", least: 1, most: 7, lower: lowerAttention},
		{name: "MultiHeadAttention", least: 1, most: 10, lower: lowerMultiHead},
		{name: "RotaryEmbedding", least: 1, most: 4, lower: lowerRotary},
	}
}

// lowerAttention writes opset 23's Attention on [batch, heads, length, width] as softmax(α·Q·Kᵀ +
// mask)·V. The runtime's own fused attention, with packed weights, is another operation of the same
// name.
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
	s := l.scores(o, q, k)
	if mask != nil && mask.typ == onnx.Bool {
		s = l.op("Where", mask, s, l.scalar(-math.MaxFloat32))
	} else {
		s = l.sum(s, mask)
	}
	p := l.with("Softmax", "axis", 3, s)
	return []*value{l.matmul(p, v, false, false, 1)}
}

// scores is α·Q·Kᵀ of [batch, heads, length, width]. α is 1/√width unless it is given.
func (l *loaded) scores(o *onnx.Node, q, k *value) *value {
	alpha := float64(o.Float("scale", 0))
	if alpha == 0 && l.err == nil {
		alpha = 1 / math.Sqrt(float64(q.shape[0][3]))
	}
	return l.matmul(q, k, false, true, alpha)
}

// lowerRotary writes opset 23's RotaryEmbedding (Su et al. 2021, arXiv:2104.09864) on halves of the
// width.
func lowerRotary(l *loaded, o *onnx.Node, in []*value) []*value {
	x, cos, sin := in[0], optional(in, 1), optional(in, 2)
	if o.Domain != "" || cos == nil || sin == nil || optional(in, 3) != nil ||
		x.shape.rank() != 4 || cos.shape.rank() != 3 || sin.shape.rank() != 3 ||
		o.Int("interleaved", 0) != 0 || o.Int("rotary_embedding_dim", 0) != 0 ||
		!x.shape.constant(3) {
		return l.refuse(o, "this form of rotary embedding")
	}
	heads := func(t *value) *value { // [batch, length, half] → [batch, 1, length, half]
		return l.reshape(t, dimsOf(func(p int) []int {
			return slices.Insert(slices.Clone(t.shape[p]), 1, 1)
		}))
	}
	cos, sin = heads(cos), heads(sin)
	half := x.shape[0][3] / 2
	a, b := l.cut(x, 3, 0, half), l.cut(x, 3, half, half)
	return []*value{l.with("Concat", "axis", 3,
		l.sub(l.mul(a, cos), l.mul(b, sin)), l.sum(l.mul(a, sin), l.mul(b, cos)))}
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
	case optional(in, 4) != nil || optional(in, 6) != nil || o.Int("unidirectional", 0) != 0 ||
		o.Int("do_rotary", 0) != 0:
		return l.refuse(o,
			"fused attention that is causal, rotary or keeps keys from before"+remedy)
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
		return l.refuse(o, "sizes %v of queries, keys and values in a weight of width %d"+remedy,
			sizes, width)
	}
	all := l.sum(l.matmul(x, w, false, false, 1), bias)
	if l.err != nil {
		return nil
	}
	q, k, v := l.cut(all, 2, 0, sizes[0]), l.cut(all, 2, sizes[0], sizes[1]),
		l.cut(all, 2, sizes[0]+sizes[1], sizes[2])
	return l.heads(o, q, k, v, optional(in, 3), optional(in, 5))
}

// lowerMultiHead writes MultiHeadAttention. Inputs: query [B, S, H], key [B, T, H], value [B, T,
// W], bias [H + H + W], mask of the keys, bias of the scores, keys and values from before.
func lowerMultiHead(l *loaded, o *onnx.Node, in []*value) []*value {
	q, k, v, bias := in[0], optional(in, 1), optional(in, 2), optional(in, 3)
	switch {
	case k == nil || v == nil || q.shape.rank() != 3 || k.shape.rank() != 3 ||
		v.shape.rank() != 3 || !q.shape.constant(2) || !v.shape.constant(2):
		return l.refuse(o, "fused attention on packed queries, keys or values"+remedy)
	case optional(in, 6) != nil || optional(in, 7) != nil || o.Int("unidirectional", 0) != 0:
		return l.refuse(o, "fused attention that is causal or keeps keys from before"+remedy)
	}
	h, w := q.shape[0][2], v.shape[0][2]
	if bias != nil {
		if bias.shape.rank() != 1 || bias.shape[0][0] != 2*h+w {
			return l.refuse(o, "a bias of shape %v"+remedy, bias.shape[0])
		}
		q, k, v = l.sum(q, l.cut(bias, 0, 0, h)), l.sum(k, l.cut(bias, 0, h, h)),
			l.sum(v, l.cut(bias, 0, 2*h, w))
	}
	return l.heads(o, q, k, v, optional(in, 4), optional(in, 5))
}

// heads is softmax(α·Q·Kᵀ + masks)·V for each of the heads into which the widths are cut.
func (l *loaded) heads(o *onnx.Node, q, k, v, mask, bias *value) []*value {
	n := int(o.Int("num_heads", 0))
	if l.err != nil {
		return nil
	}
	if n < 1 || n > 4096 || q.shape[0][2]%n != 0 || v.shape[0][2]%n != 0 ||
		q.shape.at(2) != k.shape.at(2) {
		return l.refuse(o, "%d heads of widths %v, %v and %v"+remedy, n, q.shape[0], k.shape[0],
			v.shape[0])
	}
	cut := func(x *value) *value { // [B, S, n·d] → [B, n, S, d]
		to := dimsOf(func(p int) []int {
			s := x.shape[p]
			return []int{s[0], s[1], n, s[2] / n}
		})
		return l.transpose(l.reshape(x, to), []int64{0, 2, 1, 3})
	}
	s := l.sum(l.scores(o, cut(q), cut(k)), bias)
	s = l.sum(s, l.keyMask(o, mask, k))
	p := l.with("Softmax", "axis", 3, s)
	y := l.transpose(l.matmul(p, cut(v), false, false, 1), []int64{0, 2, 1, 3})
	if l.err != nil {
		return nil
	}
	return []*value{l.reshape(y, dimsOf(func(p int) []int {
		return []int{q.shape[p][0], q.shape[p][1], v.shape[0][2]}
	}))}
}

// keyMask is what the runtime adds to the scores of keys that a mask hides: 0 or the filter value,
// [B, 1, 1, T] or [B, 1, S, T]. The mask holds ones and zeros, [B, T] or [B, S, T], or the number
// of leading keys to see, [B].
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
		each := dimsOf(func(p int) []int { return []int{k.shape[p][0], 1} })
		ends := l.cast(l.reshape(mask, each), onnx.Int64)
		seen = l.op("Less", l.upTo(k, 1), ends)
		to = dimsOf(func(p int) []int { return []int{k.shape[p][0], 1, 1, k.shape[p][1]} })
	case s.rank() == 2 && s.at(1) == k.shape.at(1):
		seen = l.asBool(mask)
		to = dimsOf(func(p int) []int { return []int{s[p][0], 1, 1, s[p][1]} })
	case s.rank() == 3 && s.at(2) == k.shape.at(1):
		seen = l.asBool(mask)
		to = dimsOf(func(p int) []int { return []int{s[p][0], 1, s[p][1], s[p][2]} })
	default:
		l.refuse(o, "a mask of shape %v"+remedy, mask.shape[0])
		return nil
	}
	if l.err != nil {
		return nil
	}
	return l.op("Where", l.reshape(seen, to), l.scalar(0),
		l.scalar(float64(o.Float("mask_filter_value", -10000))))
}

func (b *builder) asBool(x *value) *value {
	if x.typ == onnx.Bool {
		return x
	}
	return b.cast(x, onnx.Bool)
}
