package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
)

// Derived is the graph that the samplers need, and what was recognised on the way.
type Derived struct {
	// Model has the inputs and outputs that the package comment describes. It shares the weights of the
	// model it was derived from.
	Model *onnx.Model

	Inputs     []string // names of the graph's inputs, in order
	Vocabulary int      // V, columns of the logits
	Dimension  int      // width of the word embeddings
	Embedding  string   // name of the word embedding table
	Tied       bool     // the head uses the embedding table, of which one copy remains
	Gradient   bool     // whether the backward pass is there
	Forward    int      // operations of the forward pass
	Backward   int      // operations of the backward pass

	// Counted are tokens by which the model tells positions apart (see Alike.Find); none if nothing is shared.
	Counted []int64

	kept, keptPerPosition int64 // see KeptPerToken
}

// Options of Derive.
type Options struct {
	// ForwardOnly leaves the backward pass out: for models with operations that cannot be differentiated.
	ForwardOnly bool
	// Int8 has the products of the backward pass with weights computed in 8-bit integers: faster where the
	// processor has instructions for that, and the gradient off by a few hundredths. It needs opset 13.
	Int8 bool
	// Unshared computes what depends on a position alone for every row anew, to compare with.
	Unshared bool
}

// Names of the inputs and outputs that the derived graph has beside those of the model.
const (
	InPositions   = "positions"
	InTargets     = "targets"
	InBlanks      = "blanks"
	InConditional = "with_conditional"
	InGradient    = "with_gradient"
	InFirst       = "first_alike"
	InNumbers     = "alike"
	OutLogProb    = "log_prob"
	OutCondition  = "conditional"
	OutGradient   = "gradient"
)

// Derive makes the derived graph of a model that onnx.Check has passed. Errors are *OpError for an
// operation that has no rule, or wrap ErrInputs, ErrOutputs, ErrEmbedding or ErrShape.
func Derive(m *onnx.Model, opt Options) (d *Derived, err error) {
	// Graphs come from strangers: should one get past every check above a rule, it is refused, not fatal.
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, fmt.Errorf("%w: %v", errInternal, r)
		}
	}()
	l, err := load(m)
	if err != nil {
		return nil, err
	}
	l.fuse()
	l.tidyProducts()
	if l.err != nil {
		return nil, l.err
	}
	w := &derivation{loaded: l, opt: opt}
	if err := w.findEmbedding(); err != nil {
		return nil, err
	}
	w.tie()
	w.forward()
	if w.err == nil && !opt.ForwardOnly {
		w.backward()
	}
	if w.err == nil && !opt.Unshared {
		w.share()
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.emit(m)
}

type derivation struct {
	*loaded
	opt       Options
	embedding *node // the lookup of input_ids in the table
	tied      bool

	positions, targets, blanks *value
	f                          *builder // the forward pass
	steps                      []*entry
	embedded                   *value // [R, L, D], the variable of differentiation
	table                      *value // [V, D], the word embeddings; V may be padded
	logits2                    *value // [R, V], logits at the blanks
	hidden                     *value // [R, 1, H], what the head's product reads
	head                       *node  // that product, nil if the head has another form
	logp                       *value // [R, V]
	picked                     *value // [R]
	then                       *builder
	gradient                   *value // [C, m, V]
	numbers, first             *value // [R, L] and [U], nil if nothing is shared
	counted                    []int64
}

// findEmbedding looks for the Gather of rows of a table by input_ids.
func (d *derivation) findEmbedding() error {
	var seen []string
	v := d.logits.shape[0][2]
	u := uses(d.nodes)
	sized := func(n *node) bool { return n.op != "Shape" }
	for _, n := range d.nodes {
		if n.op != "Gather" || n.proto().Int("axis", 0) != 0 || !n.in[0].fixed || !isInput(n.in[1], "input_ids") {
			continue
		}
		if n.out[0] != d.logits && !slices.ContainsFunc(u[n.out[0]], sized) {
			continue // an optimiser fused another lookup of the same words, of this one only the shape is used
		}
		t := n.in[0].shape
		if t.rank() == 2 && t[0][0] >= v && n.out[0].typ == onnx.Float {
			if d.embedding != nil {
				return fmt.Errorf("%w: input_ids are looked up in two tables, nodes %q and %q", ErrEmbedding, d.embedding.name, n.name)
			}
			d.embedding = n
		}
		seen = append(seen, fmt.Sprintf("%q %v", n.name, t[0]))
	}
	if d.embedding == nil {
		return fmt.Errorf("%w: no float32 table of at least %d rows is indexed by input_ids (lookups seen: %v)", ErrEmbedding, v, seen)
	}
	return nil
}

// isInput tells whether v is the model input name, possibly cast.
func isInput(v *value, name string) bool {
	for v != nil && v.from != nil && v.from.op == "Cast" {
		v = v.from.in[0]
	}
	return v != nil && v.from == nil && v.name == name
}

// tie finds a product whose weight is the embedding table transposed and uses the table instead.
func (d *derivation) tie() {
	table := d.embedding.in[0]
	for _, n := range d.nodes {
		if n.op != "MatMul" || !n.in[1].fixed {
			continue
		}
		w := n.in[1]
		if w == table {
			d.tied = true
			continue
		}
		same := n.transB && w.shape.equal(table.shape) && sameWeights(w, table, false)
		if !same && !n.transB && sameWeights(w, table, true) {
			same = true
			n.transB = true
		}
		if same {
			n.in[1] = table
			d.tied = true
		}
	}
	d.nodes = live(d.nodes, d.logits)
}

// weightOf follows a widening cast to the stored tensor.
func weightOf(v *value) *onnx.Tensor {
	if c := is(v, "Cast"); c != nil {
		v = c.in[0]
	}
	return v.tensor
}

// rows gives a shape that starts with R.
func rows(rest ...int) dims {
	var out dims
	for p := range out {
		out[p] = append([]int{probeRows(p)}, rest...)
	}
	return out
}

// perChain gives a shape that starts with C, m.
func perChain(rest ...int) dims {
	var out dims
	for p := range out {
		out[p] = append([]int{probeChains[p], probeBlanks[p]}, rest...)
	}
	return out
}

// forward computes the logits at each row's blank only, then log f.
func (d *derivation) forward() {
	d.positions = &value{name: InPositions, typ: onnx.Int64, shape: rows()}
	d.targets = &value{name: InTargets, typ: onnx.Int64, shape: rows()}
	d.blanks = &value{name: InBlanks, typ: onnx.Int64, shape: perChain()}

	gb := newBuilder(d.opset)
	gb.consts = d.consts
	index := gb.reshape(d.positions, rows(1))
	g := &gatherer{builder: gb, index: index}
	logits := g.run(d.nodes, place{d.logits, 1})
	if gb.err != nil {
		d.fail(gb.err)
		return
	}
	d.embedded, d.table = g.whole(d.embedding.out[0]), g.whole(d.embedding.in[0])

	f := newBuilder(d.opset)
	f.consts = d.consts
	d.f = f
	d.steps = tape(f, live(oneQuery(gb, live(gb.nodes, logits)), logits))
	f.context = "head"
	v := d.logits.shape[0][2]
	d.logits2 = f.reshape(logits, rows(v))
	d.logp = f.add(&node{op: "LogSoftmax", in: []*value{d.logits2}, attrs: []*onnx.Attribute{intAttr("axis", 1)}})
	d.picked = f.reshape(f.add(&node{op: "GatherElements", in: []*value{d.logp, f.reshape(d.targets, rows(1))}, attrs: []*onnx.Attribute{intAttr("axis", 1)}}), rows())
	if f.err != nil {
		d.fail(f.err)
		return
	}
	// The usual head is a product with a weight, and a bias.
	n := logits.from
	for n != nil && (n.op == "Add" || n.op == "Reshape") {
		switch {
		case n.op == "Reshape" || n.in[1].fixed:
			n = n.in[0].from
		case n.in[0].fixed:
			n = n.in[1].from
		default:
			n = nil
		}
	}
	if n != nil && n.op == "MatMul" && n.in[1].fixed && n.in[1].shape.rank() == 2 && !n.transA && n.alpha == 1 {
		d.head, d.hidden = n, n.in[0]
	}
}

// backward appends the gradient of every row's log f with respect to the embeddings of all blanks of
// its chain, and what follows from it.
func (d *derivation) backward() {
	b := newBuilder(d.opset)
	b.consts = d.consts
	b.context = "gradient of the head"
	v, dim := d.logits.shape[0][2], d.embedded.shape[0][2]
	grads := map[*value]*value{}
	prob := b.op("Exp", d.logp)
	if d.head != nil {
		// ∂ log f(t)/∂h = W[:, t] − W·softmax: no one-hot over the vocabulary is made.
		w := d.head.in[1]
		expected := b.matmul(prob, w, false, !d.head.transB, 1)
		var chosen *value
		if d.head.transB {
			chosen = b.op("Gather", w, d.targets)
		} else {
			chosen = b.transpose(b.add(&node{op: "Gather", in: []*value{w, d.targets}, attrs: []*onnx.Attribute{intAttr("axis", 1)}}), []int64{1, 0})
		}
		grads[d.hidden] = b.reshape(b.sub(chosen, expected), d.hidden.shape)
	} else {
		hot := b.asFloat(b.op("Equal", b.ints(count(v)...), b.reshape(d.targets, rows(1))))
		grads[d.logits2] = b.sub(hot, prob)
		d.steps = append(d.steps, &entry{node: d.logits2.from})
	}
	// The one-hot of each row's blank among the positions, which brings gradients back from the gather.
	hot := b.oneHot(d.positions, d.inputs[0])
	for _, e := range d.steps {
		if e.op == "GatherND" {
			e.saved = []*value{hot}
		}
	}
	full := reverse(b, d.steps, grads, d.embedded)
	if b.err != nil {
		d.fail(b.err)
		return
	}
	if full == nil {
		d.fail(&OpError{Op: d.embedding.op, Node: d.embedding.name, Reason: "the logits do not depend on the word embeddings", Err: ErrUnsupportedOp})
		return
	}

	// Only the blanks' embeddings matter: the same gather shortens the end of the backward pass.
	t := newBuilder(d.opset)
	t.consts = d.consts
	t.context = "gradient at the blanks"
	var each dims // [C, 1, m] repeated for every row of the chain
	for p := range each {
		each[p] = []int{probeChains[p], 1, probeBlanks[p]}
	}
	perRow := t.op("Add", t.reshape(d.blanks, each), t.mul(t.reshape(d.blanks, perChain(1)), t.ints(0)))
	var flat dims
	for p := range flat {
		flat[p] = []int{probeRows(p), probeBlanks[p]}
	}
	g := &gatherer{builder: t, index: t.reshape(perRow, flat)}
	at := g.run(live(b.nodes, full), place{full, 1})

	// Rows of a chain: i masked, gradient at j; the second term sums over i ≠ j.
	t.context = "gradient"
	var pairs, mask dims
	for p := range pairs {
		m := probeBlanks[p]
		pairs[p], mask[p] = []int{probeChains[p], m, m, dim}, []int{1, m, m, 1}
	}
	off := t.offDiagonal(d.blanks, mask)
	sum := t.reshape(t.reduce("ReduceSum", t.mul(t.reshape(at, pairs), off), 1), perChain(dim))
	table := d.table
	if rows := table.shape[0][0]; rows > v { // a table padded beyond the vocabulary
		table = t.cut(table, 0, 0, v)
	}
	second := t.matmul(sum, table, false, true, 1)
	d.gradient = t.op("Add", t.reshape(d.logp, perChain(v)), second)
	if t.err != nil {
		d.fail(t.err)
		return
	}
	t.nodes = outerProducts(t, live(t.nodes, d.gradient))
	t.nodes = live(t.nodes, d.gradient)
	if d.opt.Int8 {
		if d.opset < 13 {
			d.fail(&OpError{Op: "QuantizeLinear", Node: d.embedding.name, Reason: fmt.Sprintf("8-bit products need opset 13, the model has %d; export it again, or use float32", d.opset), Err: ErrUnsupportedOp})
			return
		}
		t.nodes = quantised(t, t.nodes)
		if t.err != nil {
			d.fail(t.err)
			return
		}
	}
	d.then = t
}

// upTo is [0, 1, …, n−1] for dimension axis of x.
func (b *builder) upTo(x *value, axis int) *value {
	zero, one, at := b.wholeNumber(0), b.wholeNumber(1), b.wholeNumber(int64(axis))
	return b.op("Range", zero, b.op("Gather", b.op("Shape", x), at), one)
}

func (b *builder) wholeNumber(v int64) *value {
	return b.constant(fmt.Sprint("int", v), func() *onnx.Tensor { return onnx.Int64s("", nil, v) })
}

func (b *builder) asFloat(x *value) *value {
	return b.add(&node{op: "Cast", in: []*value{x}, attrs: []*onnx.Attribute{intAttr("to", int64(onnx.Float))}})
}

// oneHot marks each row's position among the columns of x: [R, L, 1].
func (b *builder) oneHot(positions, x *value) *value {
	hot := b.asFloat(b.op("Equal", b.upTo(x, 1), b.reshape(positions, rows(1))))
	s := hot.shape
	for p := range s {
		s[p] = append(slices.Clone(s[p]), 1)
	}
	return b.reshape(hot, s)
}

// offDiagonal is 1 for i ≠ j and 0 for i = j, both below the number of blanks.
func (b *builder) offDiagonal(blanks *value, to dims) *value {
	i := b.upTo(blanks, 1)
	var column dims
	for p := range column {
		column[p] = []int{probeBlanks[p], 1}
	}
	return b.reshape(b.asFloat(b.op("Not", b.op("Equal", i, b.reshape(i, column)))), to)
}

func count(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i)
	}
	return v
}
