package onnxgrad

import (
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// reductionOps are sums and means along axes, running sums and softmax.
func reductionOps() []operator {
	reduction := func(name string, along alongRule) operator {
		return with(still(name, 1, 2, throughKernel(1), firstType, unseen),
			func(o *operator) { o.along = along })
	}
	softmax := func(name string, d rule) operator {
		return operator{name: name, least: 1, most: 1, shape: sameShape, typ: firstType,
			simplify: lastAxis, along: alongRows, derivative: d}
	}
	return []operator{
		with(reduction("ReduceSum", reduceAlong), func(o *operator) {
			o.heavy, o.derivative, o.none = true, sumBackward, ""
		}),
		with(reduction("ReduceMean", reduceAlong), func(o *operator) {
			o.heavy, o.derivative, o.none = true, meanBackward, ""
		}),
		reduction("ReduceMax", reduceAlong),
		reduction("ReduceMin", never),
		reduction("ReduceProd", never),
		reduction("ReduceL2", never),
		reduction("ReduceSumSquare", never),
		{name: "CumSum", least: 2, most: 2, shape: sameShape, typ: firstType,
			along: never, numbers: counted, none: unseen},
		softmax("Softmax", softmaxBackward),
		softmax("LogSoftmax", logSoftmaxBackward),
	}
}

// reduceAxes are the axes that a reduction removes or keeps as 1.
func reduceAxes(n *node, p int) ([]int, error) {
	list, err := n.list(1, "axes", p)
	if err != nil {
		return nil, err
	}
	rank := n.in[0].shape.rank()
	var out []int
	if len(list) == 0 && n.proto().Int("noop_with_empty_axes", 0) == 0 {
		for i := range rank {
			out = append(out, i)
		}
	}
	for _, v := range list {
		a, err := onnxeval.Axis(v, rank)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func reduceAlong(n *node, a int) []int {
	axes, err := reduceAxes(n, 0)
	if err != nil || slices.Contains(axes, a) || n.proto().Int("keepdims", 1) == 0 {
		return nil
	}
	return first(n, a)
}

// spread repeats the gradient of a reduction along the axes it removed.
func (b *builder) spread(e *entry, g *value) *value {
	x := e.in[0]
	axes, err := reduceAxes(e.node, 0)
	if err != nil {
		return b.fail(err)
	}
	kept := x.shape
	for _, a := range axes {
		kept = kept.with(a, [probes]int{1, 1})
	}
	return b.op("Expand", b.reshape(g, kept), b.op("Shape", x))
}

func sumBackward(b *builder, e *entry, g []*value) []*value { return []*value{b.spread(e, g[0])} }

// meanBackward serves means of a constant number of elements, as all models of our kind have them.
func meanBackward(b *builder, e *entry, g []*value) []*value {
	axes, err := reduceAxes(e.node, 0)
	if err != nil {
		b.fail(err)
		return nil
	}
	n := 1
	for _, a := range axes {
		if !e.in[0].shape.constant(a) {
			return b.unsupported(e, "averages over an axis of varying length")
		}
		n *= e.in[0].shape[0][a]
	}
	return []*value{b.spread(e, b.mul(g[0], b.scalar(1/float64(n))))}
}

// lastAxis lets only a softmax over the last axis in. Up to opset 12 it is over all axes from the
// given one.
func lastAxis(l *loaded, n *node) *value {
	def, rank := int64(-1), n.in[0].shape.rank()
	if l.opset < 13 {
		def = 1
	}
	a, err := onnxeval.Axis(n.proto().Int("axis", def), rank)
	if err != nil || a != rank-1 {
		return l.fail(n.refused(errUnsupportedOp, "is not over the last axis"))
	}
	n.attrs = []*onnx.Attribute{onnx.Attr("axis", a)}
	return nil
}

// softmaxBackward: for y = softmax(x), gx = y·(g − Σ g·y).
func softmaxBackward(b *builder, e *entry, g []*value) []*value {
	y := e.out[0]
	gy := b.mul(g[0], y)
	return []*value{b.sub(gy, b.mul(y, b.reduce("ReduceSum", gy, y.shape.rank()-1)))}
}

// logSoftmaxBackward: for y = log softmax(x), gx = g − exp(y)·Σ g.
func logSoftmaxBackward(b *builder, e *entry, g []*value) []*value {
	y := e.out[0]
	return []*value{b.sub(g[0], b.mul(b.op("Exp", y),
		b.reduce("ReduceSum", g[0], y.shape.rank()-1)))}
}

// counted serves positions that are numbered by counting tokens, see countedBy.
func counted(s *sharer, n *node) func() *value {
	token, ok := s.countedBy(n)
	if !ok {
		return nil
	}
	return func() *value {
		if !slices.Contains(s.counted, token) {
			s.counted = append(s.counted, token)
		}
		return s.atFirst(n.out[0])
	}
}

// countedBy reports whether n numbers the positions of a row by counting the tokens other than one,
// as RoBERTa does, and which that is. In rows without that token the number depends on the place
// alone.
func (s *sharer) countedBy(n *node) (token int64, ok bool) {
	a, ok := scalarOf(n.in[1])
	if !ok || a != 1 && a != -1 || n.in[0].shape.rank() != 2 ||
		n.proto().Int("exclusive", 0) != 0 || n.proto().Int("reverse", 0) != 0 {
		return 0, false
	}
	v := n.in[0]
	for is(v, "Cast") != nil {
		v = v.from.in[0]
	}
	if is(v, "Not") == nil || is(v.from.in[0], "Equal") == nil {
		return 0, false
	}
	equal := v.from.in[0].from
	for i, c := range equal.in {
		if k, ok := scalarOf(c); ok && isInput(equal.in[1-i], s.ids.name) {
			return int64(k), true
		}
	}
	return 0, false
}
