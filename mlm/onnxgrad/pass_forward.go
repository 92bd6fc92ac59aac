package onnxgrad

import "infill/mlm/onnx"

// rows gives a shape that starts with R.
func rows(rest ...int) dims {
	return dimsOf(func(p int) []int { return append([]int{probeRows[p]}, rest...) })
}

// perChain gives a shape that starts with C, m.
func perChain(rest ...int) dims {
	return dimsOf(func(p int) []int { return append([]int{probeChains[p], probeBlanks[p]}, rest...) })
}

// gatherLogits computes the logits at each row's blank only.
func (d *derivation) gatherLogits() error {
	d.positions = &value{name: inPositions, typ: onnx.Int64, shape: rows()}
	d.targets = &value{name: inTargets, typ: onnx.Int64, shape: rows()}
	if d.prompt == nil {
		d.blanks = &value{name: inBlanks, typ: onnx.Int64, shape: perChain()}
	}

	b := d.next("")
	g := &gatherer{builder: b, index: b.reshape(d.positions, rows(1))}
	logits := g.run(d.nodes, place{d.logits, 1}, d.words)
	d.embedded, d.table = g.whole(d.words), g.whole(d.embedding.in[0])
	d.nodes, d.logits = live(b.nodes, logits), logits
	return b.err
}

// oneQuery rewrites the attention of the layer whose queries were gathered.
func (d *derivation) oneQuery() error {
	d.nodes = live(oneQuery(d.builder, d.nodes), d.logits)
	return d.err
}

// tape writes what derivatives keep out.
func (d *derivation) tape() error {
	d.forward = d.next("")
	d.steps = tape(d.forward, d.nodes)
	return d.forward.err
}

// score computes log f, and looks for the usual head: a product with a weight, and a bias. What it
// reads is the state.
func (d *derivation) score() error {
	f := d.forward
	f.context = "head"
	along := []*onnx.Attribute{onnx.Attr("axis", 1)}
	d.logits2 = f.reshape(d.logits, rows(d.logits.shape[0][2]))
	d.logp = f.add(&node{op: "LogSoftmax", in: []*value{d.logits2}, attrs: along})
	target := f.reshape(d.targets, rows(1))
	d.picked = f.reshape(f.add(&node{op: "GatherElements", in: []*value{d.logp, target},
		attrs: along}), rows())
	if f.err != nil {
		return f.err
	}
	if n := headOf(d.logits); n != nil {
		d.head, d.hidden = n, n.in[0]
		f.context = "state"
		wide := d.hidden
		if wide.typ != onnx.Float {
			wide = f.add(&node{op: "Cast", in: []*value{wide}, attrs: []*onnx.Attribute{
				onnx.Attr("to", onnx.Float)}})
		}
		d.state = f.reshape(wide, rows(wide.shape[0][wide.shape.rank()-1]))
	}
	return f.err
}

// headOf is the product with a weight that makes the logits, nil if they are made in another way.
func headOf(logits *value) *node {
	n := logits.from
	for n != nil && (n.op == "Add" || n.op == "Reshape" || n.op == "Cast") {
		switch {
		case n.op != "Add" || n.in[1].fixed:
			n = n.in[0].from
		case n.in[0].fixed:
			n = n.in[1].from
		default:
			n = nil
		}
	}
	if n == nil || n.op != "MatMul" || !n.in[1].fixed || n.in[1].shape.rank() != 2 || n.transA ||
		n.alpha != 1 {
		return nil
	}
	return n
}
