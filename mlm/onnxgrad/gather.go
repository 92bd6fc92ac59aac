package onnxgrad

import (
	"slices"

	"infill/mlm/onnx"
)

// place is a value and one of its axes.
type place struct {
	v    *value
	axis int
}

// gatherer rebuilds a graph so that a value is computed at some positions of its sequence axis only.
// The gather is pushed towards the inputs through every operation that works position by position,
// until it meets a value that is needed at all positions anyway. The gathered axis stays in its place,
// of the length of the index, so that what comes after needs no change.
type gatherer struct {
	*builder                 // where the rebuilt nodes go
	index    *value          // [R, K] positions
	full     map[*value]bool // needed at all positions
	pushed   map[*node][]int // nodes computed at the positions only: for each input the axis to gather, or −1
	plain    map[*value]*value
	at       map[place]*value
	cursor   *value // [R, K, 1] index of GatherND
}

// run rebuilds nodes. The value `want` is wanted at the positions along axis, the values in keep fully.
func (g *gatherer) run(nodes []*node, want place, keep ...*value) *value {
	g.full, g.pushed = map[*value]bool{}, map[*node][]int{}
	g.plain, g.at = map[*value]*value{}, map[place]*value{}
	for _, v := range keep {
		g.full[v] = true
	}
	axes := map[*value][]int{want.v: {want.axis}}
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
			if r := g.push(n, axes[n.out[0]][0]); r != nil {
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
	for _, n := range nodes {
		r, pushed := g.pushed[n]
		if !pushed && !slices.ContainsFunc(n.out, func(v *value) bool { return g.full[v] }) {
			continue
		}
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
	return g.gathered(want)
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
		s := g.index.shape
		for p := range s {
			s[p] = append(slices.Clone(s[p]), 1)
		}
		g.cursor = g.reshape(g.index, s)
	}
	nd := func(x *value) *value {
		return g.add(&node{op: "GatherND", in: []*value{x, g.cursor}, attrs: []*onnx.Attribute{intAttr("batch_dims", 1)}})
	}
	if a == 1 {
		return nd(v)
	}
	ones := true
	for i := 1; i < a; i++ {
		ones = ones && v.shape.isOne(i)
	}
	if ones { // [R, 1, L, …]: drop the ones and put them back
		var flat dims
		for p := range flat {
			flat[p] = append([]int{v.shape[p][0]}, v.shape[p][a:]...)
		}
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

// takable tells whether v can be gathered along axis a: [R, …, L, …].
func (g *gatherer) takable(v *value, a int) bool {
	return a >= 1 && a < v.shape.rank() && v.shape.at(0) == g.index.shape.at(0) && v.shape.at(a) == probeLength
}

// push says what a node's inputs must be for its output to be computed at the positions along axis a:
// for each the axis along which it is gathered, or −1 for all of it. nil means it cannot be done.
func (g *gatherer) push(n *node, a int) []int {
	out := n.out[0]
	r := make([]int, len(n.in))
	for i := range r {
		r[i] = -1
	}
	first := func(axis int) []int {
		if !g.takable(n.in[0], axis) {
			return nil
		}
		r[0] = axis
		return r
	}
	switch n.op {
	case "Concat":
		if c, err := axis(n.proto().Int("axis", 0), out.shape.rank()); err != nil || c == a {
			return nil
		}
		for i, v := range n.in {
			if !g.takable(v, a) {
				return nil
			}
			r[i] = a
		}
		return r
	case "LayerNormalization", "Softmax", "LogSoftmax":
		if a == out.shape.rank()-1 {
			return nil
		}
		return first(a)
	case "ReduceMean", "ReduceSum", "ReduceMax":
		axes, err := reduceAxes(n, 0)
		if err != nil || slices.Contains(axes, a) || n.proto().Int("keepdims", 1) == 0 {
			return nil
		}
		return first(a)
	case "Transpose":
		return first(int(perm(n)[a]))
	case "Reshape":
		x := n.in[0]
		for i := range x.shape.rank() {
			if x.shape.at(i) == out.shape.at(a) && x.shape.prefix(i) == out.shape.prefix(a) {
				return first(i)
			}
		}
		return nil
	case "Slice":
		for p := range probes {
			spans, err := sliceSpans(n, p)
			if err != nil || slices.ContainsFunc(spans, func(s span) bool { return s.axis == a }) {
				return nil
			}
		}
		return first(a)
	case "MatMul":
		return g.pushMatMul(n, a, r)
	}
	if !positionwise[n.op] {
		return nil
	}
	any := false
	for i, v := range n.in {
		if v == nil {
			continue
		}
		ai := a - (out.shape.rank() - v.shape.rank())
		if ai < 0 || v.shape.isOne(ai) {
			continue
		}
		if !g.takable(v, ai) {
			return nil
		}
		r[i], any = ai, true
	}
	if !any {
		return nil
	}
	return r
}

// positionwise are the operations whose output at a position depends on the inputs at that position.
var positionwise = map[string]bool{}

func init() {
	for _, op := range []string{"Add", "Sub", "Mul", "Div", "Pow", "Neg", "Exp", "Log", "Sqrt", "Erf", "Tanh", "Sigmoid", "Reciprocal", "Relu", "Abs",
		"Sin", "Cos", "Cast", "Where", "Gelu", "Not", "And", "Or", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Min", "Max", "IsNaN"} {
		positionwise[op] = true
	}
}

func (g *gatherer) pushMatMul(n *node, a int, r []int) []int {
	rank := n.out[0].shape.rank()
	side := 0 // rows of the product come from the first operand, columns from the second
	switch {
	case a == rank-1:
		side = 1
	case a < rank-2:
		return nil
	}
	v := n.in[side]
	axis := v.shape.rank() - 2 + side
	if side == 0 && n.transA {
		axis = v.shape.rank() - 1
	}
	if side == 1 && n.transB {
		axis = v.shape.rank() - 2
	}
	if !g.takable(v, axis) {
		return nil
	}
	r[side] = axis
	return r
}
