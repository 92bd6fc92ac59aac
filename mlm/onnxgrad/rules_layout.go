package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
)

var layoutRules = map[string]rule{
	"Reshape": func(b *builder, e *entry, g []*value) []*value {
		return []*value{b.reshape(g[0], e.in[0].shape)}
	},
	"Transpose": func(b *builder, e *entry, g []*value) []*value {
		p := perm(e.node)
		inverse := make([]int64, len(p))
		for i, q := range p {
			inverse[q] = int64(i)
		}
		return []*value{b.transpose(g[0], inverse)}
	},
	"Expand": func(b *builder, e *entry, g []*value) []*value {
		return []*value{b.unbroadcast(g[0], e.in[0].shape)}
	},
	"Concat":         concatBackward,
	"Split":          splitBackward,
	"Slice":          sliceBackward,
	"Gather":         gatherBackward,
	"GatherElements": gatherElementsBackward,
	"GatherND":       gatherNDBackward,
}

func (b *builder) unsupported(e *entry, format string, args ...any) []*value {
	b.fail(&OpError{Op: e.op, Node: e.name, Reason: fmt.Sprintf(format, args...), Err: ErrUnsupportedOp})
	return nil
}

// cut takes n elements from start on along an axis.
func (b *builder) cut(x *value, axis, start, n int) *value {
	return b.op("Slice", x, b.ints(int64(start)), b.ints(int64(start+n)), b.ints(int64(axis)))
}

func concatBackward(b *builder, e *entry, g []*value) []*value {
	a, err := axis(e.proto().Int("axis", 0), e.out[0].shape.rank())
	if err != nil {
		return b.unsupported(e, "%v", err)
	}
	out := make([]*value, len(e.in))
	at := 0
	for i, v := range e.in {
		if !v.shape.constant(a) {
			return b.unsupported(e, "joins parts of varying length")
		}
		if e.wanted(i) {
			out[i] = b.cut(g[0], a, at, v.shape[0][a])
		}
		at += v.shape[0][a]
	}
	return out
}

func splitBackward(b *builder, e *entry, g []*value) []*value {
	_, a, err := splitSizes(e.node, 0)
	if err != nil {
		return b.unsupported(e, "%v", err)
	}
	parts := make([]*value, len(g))
	for i := range g {
		if parts[i] = g[i]; g[i] == nil {
			parts[i] = b.mul(e.out[i], b.scalar(0))
		}
	}
	return []*value{b.add(&node{op: "Concat", in: parts, attrs: []*onnx.Attribute{intAttr("axis", int64(a))}})}
}

// sliceBackward puts zeros around the gradient.
func sliceBackward(b *builder, e *entry, g []*value) []*value {
	var pads [probes][]int64
	r := e.in[0].shape.rank()
	for p := range probes {
		spans, err := sliceSpans(e.node, p)
		if err != nil {
			return b.unsupported(e, "%v", err)
		}
		pads[p] = make([]int64, 2*r)
		for _, s := range spans {
			if s.step != 1 {
				return b.unsupported(e, "step %d", s.step)
			}
			pads[p][s.axis] = int64(s.start)
			pads[p][s.axis+r] = int64(e.in[0].shape[p][s.axis] - s.start - s.n)
		}
	}
	if !slices.Equal(pads[0], pads[1]) {
		return b.unsupported(e, "bounds vary with the size of the input")
	}
	return []*value{b.op("Pad", g[0], b.ints(pads[0]...))}
}

// gatherBackward serves a single constant index, as in qkv[0]: the gradient times a one-hot vector.
func gatherBackward(b *builder, e *entry, g []*value) []*value {
	x := e.in[0]
	a, err := axis(e.proto().Int("axis", 0), x.shape.rank())
	i, ok := scalarOf(e.in[1])
	if err != nil || !ok || !x.shape.constant(a) {
		return b.unsupported(e, "its indices are not one constant")
	}
	n := x.shape[0][a]
	if i < 0 {
		i += float64(n)
	}
	hot := make([]float32, n)
	hot[int(i)] = 1
	d := make([]int64, x.shape.rank()-a)
	for k := range d {
		d[k] = 1
	}
	d[0] = int64(n)
	key := fmt.Sprint("onehot", n, i, d)
	c := b.constant(key, func() *onnx.Tensor { return onnx.Floats("", d, hot...) })
	return []*value{b.mul(b.reshape(g[0], x.shape.with(a, [probes]int{1, 1})), c)}
}

// gatherElementsBackward adds the gradient up where the elements came from (relative positions).
func gatherElementsBackward(b *builder, e *entry, g []*value) []*value {
	if b.opset < 16 {
		return b.unsupported(e, "needs opset 16 or later; export the model again")
	}
	x := e.in[0]
	a, err := axis(e.proto().Int("axis", 0), x.shape.rank())
	if err != nil {
		return b.unsupported(e, "%v", err)
	}
	add := &onnx.Attribute{Name: "reduction", Type: onnx.AttrString, S: "add"}
	return []*value{b.add(&node{op: "ScatterElements", in: []*value{b.mul(x, b.scalar(0)), e.in[1], g[0]}, attrs: []*onnx.Attribute{intAttr("axis", int64(a)), add}})}
}

// gatherNDBackward puts the gradient at the blanks back among all positions. e.saved is the one-hot
// [R, L, 1] of the positions.
func gatherNDBackward(b *builder, e *entry, g []*value) []*value {
	x := e.in[0]
	if len(e.saved) != 1 || !g[0].shape.isOne(1) {
		return b.unsupported(e, "is not the gather of the blanks")
	}
	hot := e.saved[0]
	d := hot.shape
	for p := range d {
		d[p] = slices.Clone(d[p][:2])
		for len(d[p]) < x.shape.rank() {
			d[p] = append(d[p], 1)
		}
	}
	return []*value{b.mul(b.reshape(hot, d), g[0])}
}
