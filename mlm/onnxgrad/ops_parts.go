package onnxgrad

import (
	"fmt"
	"math"
	"slices"

	"infill/mlm/onnxeval"
)

// partOps put tensors together and take parts of them.
func partOps() []operator {
	return []operator{
		{name: "Concat", least: 1, most: many, shape: throughKernel(many), typ: firstType,
			along: concatAlong, derivative: concatBackward},
		{name: "Split", least: 1, most: 2, shape: throughKernel(1), typ: firstType,
			along: splitAlong, derivative: splitBackward},
		{name: "Slice", least: 1, most: 5, shape: throughKernel(1), typ: firstType,
			along: sliceAlong, derivative: sliceBackward},
		{name: "Pad", least: 2, most: 4, shape: padShape, typ: firstType,
			along: never, derivative: padBackward},
	}
}

// cut takes n elements from start on along an axis.
func (b *builder) cut(x *value, axis, start, n int) *value {
	return b.op("Slice", x, b.ints(int64(start)), b.ints(int64(start+n)), b.ints(int64(axis)))
}

func concatAlong(n *node, a int) []int {
	if c, err := onnxeval.Axis(n.proto().Int("axis", 0), n.out[0].shape.rank()); err != nil || c == a {
		return nil
	}
	return slices.Repeat([]int{a}, len(n.in))
}

func concatBackward(b *builder, e *entry, g []*value) []*value {
	a, err := onnxeval.Axis(e.proto().Int("axis", 0), e.out[0].shape.rank())
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

func splitAlong(n *node, a int) []int {
	if c, err := onnxeval.Axis(n.proto().Int("axis", 0), n.in[0].shape.rank()); err != nil || c == a {
		return nil
	}
	return first(n, a)
}

func splitBackward(b *builder, e *entry, g []*value) []*value {
	a, err := onnxeval.Axis(e.proto().Int("axis", 0), e.in[0].shape.rank())
	if err != nil {
		return b.unsupported(e, "%v", err)
	}
	parts := make([]*value, len(g))
	for i := range g {
		if parts[i] = g[i]; g[i] == nil {
			parts[i] = b.mul(e.out[i], b.scalar(0))
		}
	}
	return []*value{b.with("Concat", "axis", int64(a), parts...)}
}

// span is one axis of a Slice.
type span struct{ axis, start, n, step int }

// sliceSpans reads the parameters of a Slice at probe p.
func sliceSpans(n *node, p int) ([]span, error) {
	var par [4][]int64
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		v, err := n.list(i+1, name, p)
		if err != nil {
			return nil, err
		}
		par[i] = v
	}
	var out []span
	for i := range par[0] {
		s := span{axis: i, step: 1}
		if par[2] != nil {
			a, err := onnxeval.Axis(par[2][i], n.in[0].shape.rank())
			if err != nil {
				return nil, err
			}
			s.axis = a
		}
		if par[3] != nil {
			s.step = int(par[3][i])
		}
		if s.step < 1 {
			return nil, fmt.Errorf("slice with step %d", s.step)
		}
		d := int64(n.in[0].shape[p][s.axis])
		clamp := func(v int64) int64 {
			if v < 0 {
				v += d
			}
			return min(max(v, 0), d)
		}
		a, b := clamp(par[0][i]), clamp(par[1][i])
		s.start, s.n = int(a), int(max(0, (b-a+int64(s.step)-1)/int64(s.step)))
		out = append(out, s)
	}
	return out, nil
}

func sliceAlong(n *node, a int) []int {
	for p := range probes {
		spans, err := sliceSpans(n, p)
		if err != nil || slices.ContainsFunc(spans, func(s span) bool { return s.axis == a }) {
			return nil
		}
	}
	return first(n, a)
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

func padShape(n *node, p int, _ int64) ([][]int, error) {
	pads, err := n.list(1, "pads", p)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(n.in[0].shape[p])
	for i := range out {
		out[i] += int(pads[i] + pads[i+len(out)])
	}
	return [][]int{out}, nil
}

// padBackward cuts the gradient back to what was not padded.
func padBackward(b *builder, e *entry, g []*value) []*value {
	if e.in[1].known[0] == nil || e.in[1].known[1] == nil ||
		!e.in[1].known[0].Equal(e.in[1].known[1]) ||
		len(e.in) > 3 && e.in[3] != nil || e.proto().Str("mode", "constant") != "constant" {
		return b.unsupported(e, "pads that vary, repeat what is inside, or are for some axes")
	}
	pads, r := e.in[1].known[0].I, e.in[0].shape.rank()
	var starts, ends, axes []int64
	for i := range r {
		from, to := pads[i], -pads[i+r]
		if from < 0 || to > 0 {
			return b.unsupported(e, "pads below zero")
		}
		if from == 0 && to == 0 {
			continue
		}
		if to == 0 {
			to = math.MaxInt32
		}
		starts, ends, axes = append(starts, from), append(ends, to), append(axes, int64(i))
	}
	if len(axes) == 0 {
		return []*value{g[0]}
	}
	return []*value{b.op("Slice", g[0], b.ints(starts...), b.ints(ends...), b.ints(axes...))}
}
