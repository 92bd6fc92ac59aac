package onnxgrad

import (
	"slices"
)

// place is a value and one of its axes.
type place struct {
	v    *value
	axis int
}

// gatherer rebuilds a graph so that a value is computed at some positions of its sequence axis
// only. The gather is pushed towards the inputs through every operation that works position by
// position, until it meets a value that is needed at all positions anyway. The gathered axis stays
// in its place, of the length of the index, so that what comes after needs no change.
type gatherer struct {
	*builder                 // where the rebuilt nodes go
	index    *value          // [R, K] positions
	full     map[*value]bool // needed at all positions
	// nodes computed at the positions only: for each input the axis to gather, or −1
	pushed map[*node][]int
	plain  map[*value]*value
	at     map[place]*value
	cursor *value // [R, K, 1] index of GatherND
}

// run rebuilds nodes. The value `want` is wanted at the positions along axis, the values in keep
// fully.
func (g *gatherer) run(nodes []*node, want place, keep ...*value) *value {
	g.full, g.pushed = map[*value]bool{}, map[*node][]int{}
	g.plain, g.at = map[*value]*value{}, map[place]*value{}
	for _, v := range keep {
		g.full[v] = true
	}
	axes := map[*value][]int{want.v: {want.axis}}
	g.plan(nodes, axes)
	for _, n := range nodes {
		r, pushed := g.pushed[n]
		if pushed || slices.ContainsFunc(n.out, func(v *value) bool { return g.full[v] }) {
			g.rebuild(n, r, pushed, axes)
		}
	}
	return g.gathered(want)
}

// plan says which nodes are computed at the positions only. axes are those along which values are
// gathered, at first the wanted one.
func (g *gatherer) plan(nodes []*node, axes map[*value][]int) {
	for _, n := range slices.Backward(nodes) {
		full, some := false, false
		for _, o := range n.out {
			full = full || g.full[o] || len(axes[o]) > 1
			some = some || len(axes[o]) > 0
		}
		if !full && !some {
			continue
		}
		if !full && len(n.out) == 1 {
			if r := g.along(n, axes[n.out[0]][0]); r != nil {
				g.pushed[n] = r
				for i, v := range n.in {
					switch {
					case v == nil:
					case r[i] < 0:
						g.full[v] = true
					case !slices.Contains(axes[v], r[i]):
						axes[v] = append(axes[v], r[i])
					}
				}
				continue
			}
		}
		for _, v := range n.in {
			g.full[v] = true
		}
		for _, o := range n.out {
			g.full[o] = true
		}
	}
}

// along gives the axes along which the inputs of a node are gathered, −1 for an input that is
// needed at all positions. nil means that the node is.
func (g *gatherer) along(n *node, a int) []int {
	r := operators[n.op].along(n, a)
	for i, axis := range r {
		if axis >= 0 && !g.takable(n.in[i], axis) {
			return nil
		}
	}
	return r
}

// rebuild adds a node again, at the positions only if it is pushed: r are then the axes along which
// its inputs are gathered.
func (g *gatherer) rebuild(n *node, r []int, pushed bool, axes map[*value][]int) {
	g.context = n.name
	c := *n
	c.in = make([]*value, len(n.in))
	for i, v := range n.in {
		switch {
		case v == nil:
		case pushed && r[i] >= 0:
			c.in[i] = g.gathered(place{v, r[i]})
		default:
			c.in[i] = g.whole(v)
		}
	}
	c.out = nil
	for _, o := range n.out {
		w := &value{name: o.name, typ: o.typ, shape: o.shape}
		if pushed && n.op == "Reshape" {
			w.shape = o.shape.with(axes[o][0], g.index.shape.at(1))
		}
		c.out = append(c.out, w)
	}
	g.add(&c)
	for i, o := range n.out {
		if pushed {
			g.at[place{o, axes[o][0]}] = c.out[i]
		} else {
			g.plain[o] = c.out[i]
		}
	}
}

// whole is the rebuilt counterpart of v at all positions.
func (g *gatherer) whole(v *value) *value {
	if w := g.plain[v]; w != nil {
		return w
	}
	return v // an input, weight or constant
}

// gathered is the rebuilt counterpart of a value at the positions.
func (g *gatherer) gathered(at place) *value {
	if w := g.at[at]; w != nil {
		return w
	}
	w := g.take(g.whole(at.v), at.axis)
	g.at[at] = w
	return w
}

// take gathers the positions along axis a of v [R, …, L, …].
func (g *gatherer) take(v *value, a int) *value {
	if g.cursor == nil {
		g.cursor = g.reshape(g.index, dimsOf(func(p int) []int {
			return append(slices.Clone(g.index.shape[p]), 1)
		}))
	}
	nd := func(x *value) *value {
		return g.with("GatherND", "batch_dims", 1, x, g.cursor)
	}
	if a == 1 {
		return nd(v)
	}
	ones := true
	for i := 1; i < a; i++ {
		ones = ones && v.shape.isOne(i)
	}
	if ones { // [R, 1, L, …]: drop the ones and put them back
		flat := dimsOf(func(p int) []int { return slices.Concat(v.shape[p][:1], v.shape[p][a:]) })
		return g.reshape(nd(g.reshape(v, flat)), v.shape.with(a, g.index.shape.at(1)))
	}
	to, back := []int64{0, int64(a)}, make([]int64, v.shape.rank())
	for i := 1; i < v.shape.rank(); i++ {
		if i != a {
			to = append(to, int64(i))
		}
	}
	for i, p := range to {
		back[p] = int64(i)
	}
	return g.transpose(nd(g.transpose(v, to)), back)
}

// takable reports whether v can be gathered along axis a: [R, …, L, …].
func (g *gatherer) takable(v *value, a int) bool {
	return a >= 1 && a < v.shape.rank() && v.shape.at(0) == g.index.shape.at(0) &&
		v.shape.at(a) == probeLength
}
