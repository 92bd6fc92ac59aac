package onnxgrad

import (
	"slices"

	"infill/mlm/onnx"
)

// Before its first attention a model treats every position by itself: the embeddings of the word,
// the place and the segment, their layer norm, the queries, keys and values of the first layer.
// Positions of a call that agree in their inputs and in their place give the same there, and most
// have many like them: the rows of a state differ from one another at two places, and from those of
// another state at the blanks. So that part is computed once for all that are alike, on [1, U, …]
// in the place of [R, L, …], and looked up where the first operation reads it that looks beyond a
// position. Derivatives are wanted at the blanks, of each row its own: the backward pass is as it
// was, and looks up there what it needs.
//
// Which positions are alike the caller says (see Call). The graph computes from the inputs at the
// first of them, so that nothing is assumed of what the model does with its inputs.

// probeDistinct is U. No product of other sizes coincides with it.
var probeDistinct = [probes]int{211, 223}

// How an operation of the shared part reads an input: as it is, or each distinct position its own.
// Numbers from 0 on are an axis of length L, along which a value that all rows have in common is
// gathered.
const (
	asItIs = -1 - iota
	itsOwn
)

// sharer rewrites a derived graph.
type sharer struct {
	*builder            // takes the operations of the forward pass
	ids, numbers, first *value
	// [U] places in their rows of the distinct positions
	places *value
	// values [R, L, …] computed position by position from the inputs
	own   map[*value]bool
	worth map[*value]bool // values that follow from the word embeddings
	reads map[*node][]int // the operations that compute values in own
	// [1, U, …] for values in own, [R, L, …] looked up from it, numbers at an index
	shared, spread, picked map[*value]*value
	common                 map[place]*value        // [1, U, …] for values [1, L, …]
	special                map[*node]func() *value // see operator.numbers
	counted                []int64                 // see Derived.Counted
	matters                bool                    // products or sums are shared
	now                    map[*node]*node         // what takes the place of nodes
}

// share rewrites the forward pass, and the backward pass where it reads what is shared. Where
// nothing of weight can be shared, or it cannot be written down, the graph stays as it is.
func (d *derivation) share() error {
	s := &sharer{
		builder: d.next(""),
		ids:     d.inputs[0],
		numbers: &value{name: inNumbers, typ: onnx.Int64, shape: d.inputs[0].shape},
		first: &value{name: inFirst, typ: onnx.Int64,
			shape: dimsOf(func(p int) []int { return []int{probeDistinct[p]} })},
		own:     map[*value]bool{},
		worth:   map[*value]bool{d.embedded: true},
		reads:   map[*node][]int{},
		now:     map[*node]*node{},
		shared:  map[*value]*value{},
		spread:  map[*value]*value{},
		picked:  map[*value]*value{},
		common:  map[place]*value{},
		special: map[*node]func() *value{},
	}
	for _, v := range d.inputs {
		s.own[v] = true
	}
	for _, n := range d.forward.nodes {
		s.look(n)
	}
	if !s.own[d.embedded] {
		return nil
	}
	for _, n := range d.forward.nodes {
		if s.reads[n] == nil || !s.worth[n.out[0]] {
			s.outside(n, s.builder)
			s.nodes = append(s.nodes, n)
		}
	}
	t := newBuilder(d.opset)
	t.consts = d.consts
	if d.then != nil {
		for _, n := range d.then.nodes {
			s.outside(n, t)
			t.nodes = append(t.nodes, n)
		}
	}
	if s.err != nil || t.err != nil || !s.matters {
		return nil // nothing has been changed yet, and the graph is right without
	}
	for n, m := range s.now {
		*n = *m
	}
	d.numbers, d.first, d.counted = s.numbers, s.first, s.counted
	d.forward.nodes = s.nodes
	if d.then != nil {
		d.then.nodes = live(t.nodes, d.gradient)
	}
	return nil
}

// look finds out whether n computes position by position, and whether from the word embeddings.
func (s *sharer) look(n *node) {
	if r := s.alone(n); r != nil {
		s.reads[n] = r
		for _, o := range n.out {
			s.own[o] = true
		}
	}
	if slices.ContainsFunc(n.in, func(v *value) bool { return s.worth[v] }) {
		for _, o := range n.out {
			s.worth[o] = true
		}
	}
}

// alone says how n must read its inputs to be computed for each distinct position, nil if it looks
// beyond positions or at what does.
func (s *sharer) alone(n *node) []int {
	out, op, r := n.out[0].shape, operators[n.op], all(n)
	if out.rank() < 2 || out.at(0) != s.numbers.shape.at(0) || out.at(1) != s.numbers.shape.at(1) {
		return nil
	}
	if op.numbers != nil {
		if s.special[n] = op.numbers(s, n); s.special[n] == nil {
			return nil
		}
		return r
	}
	rows, places := op.along(n, 0), op.along(n, 1)
	if rows == nil || places == nil {
		return nil
	}
	for i, v := range n.in {
		switch own := s.own[v]; {
		case own && rows[i] == 0 && places[i] == 1:
			r[i] = itsOwn
		case own || rows[i] >= 0 || places[i] >= 0 && v.shape.at(places[i]) != probeLength:
			return nil
		default:
			r[i] = places[i]
		}
	}
	return r
}

// outside lets n, which is not of the shared part, read from it. Lookups go to b.
func (s *sharer) outside(n *node, b *builder) {
	if !slices.ContainsFunc(n.in, func(v *value) bool { return s.own[v] && s.worth[v] }) {
		return
	}
	c := *n
	c.in = slices.Clone(n.in)
	b.context = n.name
	if v := n.in[0]; n.op == "GatherND" && s.own[v] && s.worth[v] {
		// Places in each row: their numbers, then what has these numbers.
		at := s.picked[n.in[1]]
		if at == nil {
			at = b.add(&node{op: "GatherND", in: []*value{s.numbers, n.in[1]}, attrs: n.attrs})
			s.picked[n.in[1]] = at
		}
		c.op, c.attrs, c.in = "Gather", []*onnx.Attribute{onnx.Attr("axis", 0)},
			[]*value{s.list(v, b), at}
	} else {
		for i, v := range n.in {
			if v != nil && s.own[v] && s.worth[v] {
				c.in[i] = s.everywhere(v, b)
			}
		}
	}
	s.now[n] = &c
}

// list is v at the distinct positions, [U, …].
func (s *sharer) list(v *value, b *builder) *value {
	x := s.part(v)
	return b.reshape(x, dimsOf(func(p int) []int { return x.shape[p][1:] }))
}

// everywhere is v at all positions, looked up.
func (s *sharer) everywhere(v *value, b *builder) *value {
	w := s.spread[v]
	if w == nil {
		w = b.with("Gather", "axis", 0, s.list(v, b), s.numbers)
		s.spread[v] = w
	}
	return w
}

// part computes v at the distinct positions, [1, U, …].
func (s *sharer) part(v *value) *value {
	if w := s.shared[v]; w != nil {
		return w
	}
	n := v.from
	if n == nil {
		s.shared[v] = s.atFirst(v)
		return s.shared[v]
	}
	if special := s.special[n]; special != nil {
		s.context = n.name
		s.shared[v] = special()
		return s.shared[v]
	}
	c := *n
	c.in, c.out = slices.Clone(n.in), nil
	for i, r := range s.reads[n] {
		switch {
		case r == itsOwn:
			c.in[i] = s.part(n.in[i])
		case r >= 0:
			c.in[i] = s.atPlaces(place{n.in[i], r})
		}
	}
	for _, o := range n.out {
		c.out = append(c.out, &value{typ: o.typ, shape: s.distinct(o.shape)})
	}
	s.add(&c)
	for i, o := range n.out {
		s.shared[o] = c.out[i]
	}
	s.matters = s.matters || operators[n.op].heavy
	return s.shared[v]
}

// atFirst takes v [R, L] at the first of the positions that are alike.
func (s *sharer) atFirst(v *value) *value {
	flat := dimsOf(func(p int) []int { return []int{volume(v.shape[p])} })
	return s.reshape(s.op("Gather", s.reshape(v, flat), s.first), s.distinct(v.shape))
}

// distinct is the shape [R, L, …] with [1, U, …].
func (s *sharer) distinct(d dims) dims {
	return d.with(0, [probes]int{1, 1}).with(1, probeDistinct)
}

// atPlaces gathers a value that all rows have in common along its axis of positions.
func (s *sharer) atPlaces(at place) *value {
	if s.places == nil {
		length := s.op("Gather", s.op("Shape", s.ids), s.wholeNumber(1))
		s.places = s.op("Mod", s.first, length)
	}
	if s.common[at] == nil {
		s.common[at] = s.with("Gather", "axis", int64(at.axis), at.v, s.places)
	}
	return s.common[at]
}
