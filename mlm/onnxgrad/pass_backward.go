package onnxgrad

import (
	"slices"

	"infill/mlm/onnx"
)

// headBackward begins the backward pass: the gradient of every row's log f with respect to what the
// head reads, or to the logits if the head has another form.
func (d *derivation) headBackward() error {
	b := d.next("gradient of the head")
	d.then, d.grads = b, map[*value]*value{}
	prob := b.op("Exp", d.logp)
	if d.head != nil {
		// ∂ log f(t)/∂h = W[:, t] − W·softmax: no one-hot over the vocabulary is made.
		w := d.head.in[1]
		expected := b.matmul(prob, w, false, !d.head.transB, 1)
		var chosen *value
		if d.head.transB {
			chosen = b.op("Gather", w, d.targets)
		} else {
			chosen = b.transpose(b.with("Gather", "axis", 1, w, d.targets), []int64{1, 0})
		}
		d.grads[d.hidden] = b.reshape(b.sub(chosen, expected), d.hidden.shape)
	} else {
		v := d.logits2.shape[0][1]
		hot := b.cast(b.op("Equal", b.ints(count(v)...), b.reshape(d.targets, rows(1))), onnx.Float)
		d.grads[d.logits2] = b.sub(hot, prob)
		d.steps = append(d.steps, &entry{node: d.logits2.from})
	}
	// The one-hot of each row's blank among the positions, which brings gradients back from the
	// gather.
	hot := b.oneHot(d.positions, d.inputs[0])
	for _, e := range d.steps {
		if e.op == "GatherND" {
			e.saved = []*value{hot}
		}
	}
	return b.err
}

// reverse goes down to the embeddings.
func (d *derivation) reverse() error {
	d.full = reverse(d.then, d.steps, d.grads, d.embedded)
	if d.then.err == nil && d.full == nil {
		return d.embedding.refused(errUnsupportedOp,
			"the logits do not depend on the word embeddings")
	}
	return d.then.err
}

// gatherGradient: only the embeddings of the chain's blanks matter. The gather shortens the end of
// the backward pass.
func (d *derivation) gatherGradient() error {
	t := d.next("gradient at the blanks")
	if d.prompt != nil { // every row has blanks of its own
		g := &gatherer{builder: t, index: d.blanks}
		d.atBlanks = g.run(live(d.then.nodes, d.full), place{d.full, 1})
		d.then = t
		return t.err
	}
	// [C, 1, m] repeated for every row of the chain: [C·m, m]
	each := dimsOf(func(p int) []int { return []int{probeChains[p], 1, probeBlanks[p]} })
	flat := dimsOf(func(p int) []int { return []int{probeRows[p], probeBlanks[p]} })
	perRow := t.op("Add", t.reshape(d.blanks, each),
		t.mul(t.reshape(d.blanks, perChain(1)), t.ints(0)))
	g := &gatherer{builder: t, index: t.reshape(perRow, flat)}
	d.atBlanks = g.run(live(d.then.nodes, d.full), place{d.full, 1})
	d.then = t
	return t.err
}

// secondTerm sums over the rows of a chain, those with i masked and the gradient at j ≠ i,
// multiplies with the table and adds the first term.
func (d *derivation) secondTerm() error {
	t := d.then
	t.context = "gradient"
	if d.prompt != nil {
		d.gradient = t.op("Identity", d.atBlanks)
		t.nodes = live(t.nodes, d.gradient)
		return t.err
	}
	v, dim := d.logits.shape[0][2], d.embedded.shape[0][2]
	m := probeBlanks
	pairs := dimsOf(func(p int) []int { return []int{probeChains[p], m[p], m[p], dim} })
	mask := dimsOf(func(p int) []int { return []int{1, m[p], m[p], 1} })
	off := t.offDiagonal(d.blanks, mask)
	sum := t.reshape(t.reduce("ReduceSum", t.mul(t.reshape(d.atBlanks, pairs), off), 1),
		perChain(dim))
	table := d.table
	if rows := table.shape[0][0]; rows > v { // a table padded beyond the vocabulary
		table = t.cut(table, 0, 0, v)
	}
	second := t.matmul(sum, table, false, true, 1)
	d.gradient = t.op("Add", t.reshape(d.logp, perChain(v)), second)
	t.nodes = live(t.nodes, d.gradient)
	return t.err
}

// oneHot marks each row's position among the columns of x: [R, L, 1].
func (b *builder) oneHot(positions, x *value) *value {
	hot := b.cast(b.op("Equal", b.upTo(x, 1), b.reshape(positions, rows(1))), onnx.Float)
	return b.reshape(hot, dimsOf(func(p int) []int { return append(slices.Clone(hot.shape[p]), 1) }))
}

// offDiagonal is 1 for i ≠ j and 0 for i = j, both below the number of blanks.
func (b *builder) offDiagonal(blanks *value, to dims) *value {
	i := b.upTo(blanks, 1)
	column := dimsOf(func(p int) []int { return []int{probeBlanks[p], 1} })
	return b.reshape(b.cast(b.op("Not", b.op("Equal", i, b.reshape(i, column))), onnx.Float), to)
}

func count(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i)
	}
	return v
}
