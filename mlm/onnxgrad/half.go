package onnxgrad

import (
	"math"
	"slices"
	"strings"

	"infill/internal/binary16"
	"infill/mlm/onnx"
)

// halves has everything up to the logits in half precision. Layer norms, Gelus and attention
// become single operations: a kernel for one adds up in float32 within, and what lies between
// several would be rounded each time. The factors that Gelus gave to the products around them go
// back. Matrices are
// cast when the runtime loads the graph. The logits are widened before their softmax.
func (d *derivation) halves() error {
	b, u, masks := d.next(""), uses(d.nodes), map[*value]*value{}
	d.nodes = b.rewritten(d.nodes, func(out *builder, n *node) bool {
		if n.op != halfGelu {
			return out.normOfSum(n, u) || out.attention(n, u, masks)
		}
		x := out.mul(n.in[0], out.scalar(math.Sqrt2))
		out.add(&node{op: "Mul", in: []*value{out.op(wholeGelu, x), out.scalar(math.Sqrt2)},
			out: n.out})
		return true
	})
	if b.err != nil {
		return b.err
	}
	if err := d.tidyProducts(); err != nil {
		return err
	}
	d.forward = d.next("")
	h := halver{builder: d.forward, uses: uses(d.nodes), half: map[*value]bool{},
		narrow: map[*value]*value{}, wide: map[*value]*value{}}
	for _, n := range d.nodes {
		h.node(n, d.embedded)
	}
	d.forward.context = "head"
	d.logits = h.widened(d.logits)
	return d.forward.err
}

// halver rewrites nodes in place.
type halver struct {
	*builder
	uses   map[*value][]*node
	half   map[*value]bool   // values that are computed in half precision
	narrow map[*value]*value // weights, and values in float32, in half precision
	wide   map[*value]*value // values in half precision, in float32
}

// node has n compute in half precision if it follows from the words. What does not, such as masks
// and positions, is little work and stays. So do sums that are written out.
func (h *halver) node(n *node, words *value) {
	h.context = n.name
	follows := slices.Contains(n.out, words) ||
		slices.ContainsFunc(n.in, func(v *value) bool { return v != nil && (h.half[v] || h.sums(v)) })
	switch {
	case !follows:
	case h.stays(n):
		for i, v := range n.in {
			if v != nil && h.half[v] {
				n.in[i] = h.widened(v)
			}
		}
	default:
		for i, v := range n.in {
			if v != nil && v.typ == onnx.Float {
				n.in[i] = h.narrowed(v)
			}
		}
		for _, o := range n.out {
			if o.typ == onnx.Float {
				o.typ, h.half[o] = onnx.Float16, true
			}
		}
		if n.op == "Cast" && n.out[0].typ == onnx.Float16 {
			n.attrs = []*onnx.Attribute{onnx.Attr("to", onnx.Float16)}
		}
		if n.op == "MatMul" && math.Abs(n.alpha-1) < 1e-12 {
			n.alpha = 1 // √2·√½
		}
	}
	h.nodes = append(h.nodes, n)
}

// sums reports whether v has a number for each row that is kept in float32.
func (h *halver) sums(v *value) bool {
	r := v.shape.rank()
	return v.from != nil && !v.fixed && v.typ == onnx.Float && r > 0 && v.shape.isOne(r-1) &&
		h.stays(v.from)
}

// stays reports whether n is part of a norm that is written out: a sum over rows, the squares that
// it adds up, which half precision may not hold, and what is made of the sum.
func (h *halver) stays(n *node) bool {
	if strings.HasPrefix(n.op, "Reduce") {
		return true
	}
	if n.op == "Mul" && n.in[0] == n.in[1] || n.op == "Pow" {
		return !slices.ContainsFunc(h.uses[n.out[0]],
			func(u *node) bool { return !strings.HasPrefix(u.op, "Reduce") })
	}
	r := n.out[0].shape.rank()
	return r > 0 && n.out[0].shape.isOne(r-1) && slices.ContainsFunc(n.in, h.sums)
}

// narrowed is v in half precision.
func (h *halver) narrowed(v *value) *value {
	if w := h.narrow[v]; w != nil {
		return w
	}
	var out *value
	switch {
	case v.tensor != nil && v.known[0] != nil:
		t, err := halfTensor(v.tensor)
		if err == nil {
			out, err = stored(t)
		}
		if err != nil {
			return h.fail(err)
		}
	case v.fixed:
		out = h.cast(v, onnx.Float16)
		out.fixed = true
	default:
		out = h.cast(h.op("Max", v, h.scalar(-mostHalf)), onnx.Float16)
	}
	h.narrow[v] = out
	return out
}

// widened is v in float32.
func (h *halver) widened(v *value) *value {
	if h.wide[v] == nil {
		h.wide[v] = h.cast(v, onnx.Float)
	}
	return h.wide[v]
}

// mostHalf is the largest number of half precision. What is beyond it becomes it: the least float32
// stands for what attention is not to look at, and infinity times zero gives NaN.
const mostHalf = 65504

// halfTensor rounds a small tensor.
func halfTensor(t *onnx.Tensor) (*onnx.Tensor, error) {
	v, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, 2*len(v))
	for _, x := range v {
		r := binary16.Round(float32(min(max(x, -mostHalf), mostHalf)))
		data = append(data, byte(r), byte(r>>8))
	}
	return onnx.NewTensor(t.Name, onnx.Float16, t.Dims, data), nil
}
