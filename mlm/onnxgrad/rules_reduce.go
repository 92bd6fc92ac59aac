package onnxgrad

var reduceRules = map[string]rule{
	"ReduceSum": func(b *builder, e *entry, g []*value) []*value { return []*value{b.spread(e, g[0])} },
	"ReduceMean": func(b *builder, e *entry, g []*value) []*value {
		// The number of elements averaged is a quotient of sizes; where it varies it is read off the mean
		// of ones, which no model of our kind needs.
		axes, err := reduceAxes(e.node, 0)
		if err != nil {
			b.fail(err)
			return nil
		}
		n := 1
		for _, a := range axes {
			if !e.in[0].shape.constant(a) {
				b.fail(&OpError{Op: e.op, Node: e.name, Reason: "averages over an axis of varying length", Err: ErrUnsupportedOp})
				return nil
			}
			n *= e.in[0].shape[0][a]
		}
		return []*value{b.spread(e, b.mul(g[0], b.scalar(1/float64(n))))}
	},
	// For y = softmax(x): gx = y·(g − Σ g·y).
	"Softmax": func(b *builder, e *entry, g []*value) []*value {
		y := e.out[0]
		gy := b.mul(g[0], y)
		return []*value{b.sub(gy, b.mul(y, b.reduce("ReduceSum", gy, y.shape.rank()-1)))}
	},
	"LogSoftmax": func(b *builder, e *entry, g []*value) []*value {
		y := e.out[0]
		return []*value{b.sub(g[0], b.mul(b.op("Exp", y), b.reduce("ReduceSum", g[0], y.shape.rank()-1)))}
	},
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
