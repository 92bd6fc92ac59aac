package onnxgrad

import (
	"fmt"
	"math"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// fused are operators of com.microsoft that the runtime's optimisers put in the place of whole
// layers, from their documentation (ContribOperators.md of ONNX Runtime).
var fused = table{
	"MultiHeadAttention":               {Least: 1, Run: multiHead},
	"EmbedLayerNormalization":          {Least: 1, Run: embedNorm},
	"SkipSimplifiedLayerNormalization": {Least: 3, Run: skipNorm(false)},
}

// packedAttention is the runtime's Attention: one weight makes queries, keys and values.
// Inputs: x [B, S, D], weight [D, 3H], bias [3H], mask, past, bias of the scores.
func packedAttention(c *call) ([]*dense, error) {
	x, w, bias := c.In[0], c.Arg(1), c.Arg(2)
	if w == nil || len(x.Shape) != 3 || len(w.Shape) != 2 || w.Shape[0] != x.Shape[2] ||
		c.Arg(4) != nil || c.Arg(6) != nil ||
		c.Node.Int("unidirectional", 0) != 0 || c.Node.Int("do_rotary", 0) != 0 {
		return nil, fmt.Errorf("%w: this form of fused attention", onnxeval.ErrOp)
	}
	batch, length, width := x.Shape[0], x.Shape[1], w.Shape[1]
	h, v := width/3, width/3
	if s, ok := c.Node.Ints("qkv_hidden_sizes"); ok && len(s) == 3 {
		if h, v = int(s[0]), int(s[2]); s[0] != s[1] {
			return nil, fmt.Errorf("queries of width %d, keys of width %d", s[0], s[1])
		}
	}
	if h < 1 || v < 1 || 2*h+v != width || bias != nil && bias.Len() != width {
		return nil, fmt.Errorf("widths %d and %d in a weight of width %d", h, v, width)
	}
	y, err := matmul(x, w, false, false, 1)
	if err != nil {
		return nil, err
	}
	if y, err = sum(y, bias); err != nil {
		return nil, err
	}
	part := func(from, n int) *dense {
		return onnxeval.Viewed(y, []int{batch, length, n}, onnxeval.Strides(y.Shape), from)
	}
	return manyHeads(c.Node, part(0, h), part(h, h), part(2*h, v), c.Arg(3), c.Arg(5))
}

// multiHead is MultiHeadAttention. Inputs: query [B, S, H], key [B, T, H], value [B, T, W], bias [H
// + H + W], mask of the keys, bias of the scores, keys and values from before.
func multiHead(c *call) ([]*dense, error) {
	q, k, v, bias := c.In[0], c.Arg(1), c.Arg(2), c.Arg(3)
	if k == nil || v == nil || len(q.Shape) != 3 || len(k.Shape) != 3 || len(v.Shape) != 3 ||
		c.Arg(6) != nil || c.Arg(7) != nil ||
		c.Node.Int("unidirectional", 0) != 0 {
		return nil, fmt.Errorf("%w: this form of fused attention", onnxeval.ErrOp)
	}
	if bias != nil {
		h, w := q.Shape[2], v.Shape[2]
		if bias.Len() != 2*h+w || k.Shape[2] != h {
			return nil, fmt.Errorf("a bias of %d for widths %d and %d", bias.Len(), h, w)
		}
		from := 0
		for _, t := range []**dense{&q, &k, &v} {
			n := (*t).Shape[2]
			sum, err := sum(*t, onnxeval.NewFloat([]int{n}, bias.F[from:from+n]))
			if err != nil {
				return nil, err
			}
			*t, from = sum, from+n
		}
	}
	return manyHeads(c.Node, q, k, v, c.Arg(4), c.Arg(5))
}

// manyHeads is softmax(α·Q·Kᵀ + mask + bias)·V for each of the heads into which the widths are cut.
func manyHeads(node *onnx.Node, q, k, v, mask, bias *dense) ([]*dense, error) {
	batch, n, m, h, w := q.Shape[0], q.Shape[1], k.Shape[1], q.Shape[2], v.Shape[2]
	heads := int(node.Int("num_heads", 0))
	if heads < 1 || heads > 4096 || h%heads != 0 || w%heads != 0 || k.Shape[2] != h ||
		k.Shape[0] != batch || v.Shape[0] != batch || v.Shape[1] != m {
		return nil, fmt.Errorf("%d heads of shapes %v, %v and %v", heads, q.Shape, k.Shape, v.Shape)
	}
	seen, err := keysSeen(mask, batch, n, m)
	if err != nil {
		return nil, err
	}
	var st []int
	if bias != nil {
		full := []int{batch, heads, n, m}
		if s, err := onnxeval.Broadcast(bias.Shape, full); err != nil ||
			onnxeval.Volume(s) != onnxeval.Volume(full) {
			return nil, fmt.Errorf("a bias of shape %v for scores of %v", bias.Shape, full)
		}
		st = onnxeval.BroadcastStrides(bias.Shape, full)
	}
	d, e := h/heads, w/heads
	alpha, hidden := float64(node.Float("scale", 0)),
		float64(node.Float("mask_filter_value", -10000))
	if alpha == 0 {
		alpha = 1 / math.Sqrt(float64(d))
	}
	out, err := onnxeval.Alloc(q.Type, []int{batch, n, w})
	if err != nil {
		return nil, err
	}
	packed := func(t *dense, length, width int) rowsOf {
		return func(b, a, i int) []float64 { return t.F[((b*length+i)*heads+a)*width:][:width] }
	}
	attend([]int{batch, heads, n, m}, packed(q, n, d), packed(k, m, d), packed(v, m, e),
		packed(out, n, e), func(b, a, i, j int, dot float64) float64 {
			dot *= alpha
			if bias != nil {
				dot += bias.F[b*st[0]+a*st[1]+i*st[2]+j*st[3]]
			}
			if !seen(b, i, j) {
				dot += hidden
			}
			return dot
		})
	return []*dense{out}, nil
}

// keysSeen tells which keys j a query i of row b sees: the mask has a one for each, [B, T] or [B,
// S, T], or the number of leading keys, [B].
func keysSeen(mask *dense, batch, n, m int) (func(b, i, j int) bool, error) {
	switch {
	case mask == nil:
		return func(int, int, int) bool { return true }, nil
	case mask.IsFloat():
	case len(mask.Shape) == 1 && mask.Shape[0] == batch:
		return func(b, _, j int) bool { return int64(j) < mask.I[b] }, nil
	case len(mask.Shape) == 2 && mask.Shape[0] == batch && mask.Shape[1] == m:
		return func(b, _, j int) bool { return mask.I[b*m+j] != 0 }, nil
	case len(mask.Shape) == 3 && mask.Shape[0] == batch && mask.Shape[1] == n && mask.Shape[2] == m:
		return func(b, i, j int) bool { return mask.I[(b*n+i)*m+j] != 0 }, nil
	}
	return nil, fmt.Errorf("%w: a mask of %v %v in fused attention", onnxeval.ErrOp, mask.Type,
		mask.Shape)
}

// embedNorm is EmbedLayerNormalization: the sum of the embeddings of words, positions and segments,
// normalised. Its second output counts the positions that its mask marks, its third is the sum.
// After Separate the first input holds the words' embeddings and the table is left out.
func embedNorm(c *call) ([]*dense, error) {
	words, segments, table, positions, types := c.In[0], c.Arg(1), c.Arg(2), c.Arg(3), c.Arg(4)
	gamma, beta, mask, at := c.Arg(5), c.Arg(6), c.Arg(7), c.Arg(8)
	if positions == nil || gamma == nil || beta == nil || (segments == nil) != (types == nil) {
		return nil, fmt.Errorf("inputs missing")
	}
	x, err := words, error(nil)
	if table != nil {
		if x, err = apply("Gather", table, words); err != nil {
			return nil, err
		}
	}
	if len(x.Shape) != 3 || !x.IsFloat() {
		return nil, fmt.Errorf("embeddings of %v %v", x.Type, x.Shape)
	}
	if at == nil { // counted from 0
		at = onnxeval.NewInt(x.Shape[1:2], make([]int64, x.Shape[1]))
		for i := range at.I {
			at.I[i] = int64(i)
		}
	}
	for _, p := range [][2]*dense{{positions, at}, {types, segments}} {
		if p[0] == nil {
			continue
		}
		t, err := apply("Gather", p[0], p[1])
		if err != nil {
			return nil, err
		}
		if x, err = sum(x, t); err != nil {
			return nil, err
		}
	}
	y, err := normalised(c, true, x, gamma, beta)
	if err != nil || mask == nil {
		return []*dense{y, nil, x}, err
	}
	if len(mask.Shape) != 2 || mask.IsFloat() {
		return nil, fmt.Errorf("a mask of %v %v", mask.Type, mask.Shape)
	}
	count, err := onnxeval.Alloc(onnx.Int32, mask.Shape[:1])
	if err != nil {
		return nil, err
	}
	for i, v := range mask.I {
		count.I[i/mask.Shape[1]] += v
	}
	return []*dense{y, count, x}, nil
}

// normalised is the norm over the last axis with the epsilon of a fused node, 1e-12 unless it says.
func normalised(c *call, centre bool, x, gamma, beta *dense) (*dense, error) {
	n := &onnx.Node{Attrs: []*onnx.Attribute{onnx.Attr("epsilon", c.Node.Float("epsilon", 1e-12))}}
	y, err := layerNorm(centre)(&call{Node: n, In: []*dense{x, gamma, beta},
		Opset: c.Opset})
	if err != nil {
		return nil, err
	}
	return y[0], nil
}
