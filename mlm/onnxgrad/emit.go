package onnxgrad

import (
	"fmt"
	"math"

	"infill/mlm/onnx"
)

// emitter writes the graph in ONNX's terms.
type emitter struct {
	graph   *onnx.Graph
	names   map[*value]string
	used    map[string]bool
	count   int
	weights []*onnx.Tensor
	prelude []*onnx.Node // sizes of the call, for reshapes that need them
	sizes   map[string]string
	sources []sizeSource
	err     error
}

// sizeSource is a dimension of an input that reshapes may need.
type sizeSource struct {
	input string
	axis  int64
	at    [probes]int
}

func (d *derivation) emit() error {
	e := d.newEmitter()
	graph := e.graph
	ids := d.inputs[0].name
	e.sources = []sizeSource{{ids, 1, probeLength}, {inBlanks, 1, probeBlanks}, {ids, 0, probeRows},
		{inBlanks, 0, probeChains}}
	if d.prompt != nil { // a row is a chain of its own
		e.sources = e.sources[:3]
	}

	out := &Derived{Facts: Facts{Vocabulary: d.logits.shape[0][2],
		Dimension: d.embedded.shape[0][2], Tied: d.tied, Gradient: d.then != nil, Counted: d.counted}}
	d.measure(out)
	if w := weightOf(d.embedding.in[0]); w != nil {
		out.Embedding = w.Name
	}
	d.declare(e)
	e.names[d.picked] = outLogProb

	wanted := []*value{d.picked, d.logp}
	if d.state != nil {
		out.State = d.state.shape[0][1]
		e.names[d.state] = outState
		wanted = append(wanted, d.state)
	}
	if d.then != nil {
		for _, n := range d.then.nodes {
			wanted = append(wanted, n.in...)
		}
	}
	forward := e.nodes(linear(d.forward, live(d.forward.nodes, wanted...), wanted))
	out.Forward = len(forward)
	same := &onnx.Graph{Name: "conditional", Nodes: []*onnx.Node{{Name: "conditional",
		Op: "Identity", Inputs: []string{e.name(d.logp)}, Outputs: []string{"conditional/all"}}},
		Outputs: []*onnx.ValueInfo{floatInfo("conditional/all", "a", "b")}}
	branches := []*onnx.Node{e.branch(inConditional, outCondition, same, 2)}
	if d.then != nil {
		e.names[d.gradient] = "gradient/all"
		g := &onnx.Graph{Name: "gradient", Nodes: e.nodes(d.then.nodes),
			Outputs: []*onnx.ValueInfo{floatInfo("gradient/all", "a", "b", "c")}}
		out.Backward = len(g.Nodes)
		branches = append(branches, e.branch(inGradient, outGradient, g, 3))
	}
	graph.Outputs = []*onnx.ValueInfo{floatInfo(outLogProb, "rows"),
		floatInfo(outCondition, "conditional rows", "vocabulary")}
	if d.then != nil {
		graph.Outputs = append(graph.Outputs,
			floatInfo(outGradient, "gradient chains", "gradient blanks", "gradient vocabulary"))
	}
	if d.state != nil {
		graph.Outputs = append(graph.Outputs, floatInfo(outState, "rows", "state"))
	}
	return d.finish(e, out, append(forward, branches...))
}

// declare adds the inputs of a batch, beside those of the file.
func (d *derivation) declare(e *emitter) {
	in := e.input
	in(inPositions, onnx.Int64, "rows")
	in(inTargets, onnx.Int64, "rows")
	if d.prompt == nil {
		in(inBlanks, onnx.Int64, "chains", "blanks")
	} else {
		in(inBlanks, onnx.Int64, "rows", "blanks")
		in(inPrompt, onnx.Float, "rows", "blanks", "dimension")
		e.names[d.prompt] = inPrompt
	}
	if d.first != nil {
		in(inFirst, onnx.Int64, "distinct")
		in(inNumbers, onnx.Int64, "rows", "length")
		e.names[d.first], e.names[d.numbers] = inFirst, inNumbers
	}
	in(inConditional, onnx.Bool)
	if d.then != nil {
		in(inGradient, onnx.Bool)
	}
	for _, v := range []*value{d.positions, d.targets, d.blanks} {
		e.names[v] = v.name
	}
}

// uniqueNames tells apart the nodes that stem from the same node, as the runtime demands.
func uniqueNames(g *onnx.Graph, used map[string]bool) {
	for _, n := range g.Nodes {
		name := n.Name
		for k := 2; used[n.Name]; k++ {
			n.Name = fmt.Sprintf("%s#%d", name, k)
		}
		used[n.Name] = true
		for _, a := range n.Attrs {
			if a.G != nil {
				uniqueNames(a.G, used)
			}
		}
	}
}

func floatInfo(name string, dims ...string) *onnx.ValueInfo {
	return valueInfo(name, onnx.Float, dims)
}

func valueInfo(name string, t onnx.DataType, dims []string) *onnx.ValueInfo {
	v := &onnx.ValueInfo{Name: name, Type: t, HasShape: true, Shape: []onnx.Dim{}}
	for _, d := range dims {
		v.Shape = append(v.Shape, onnx.Dim{Param: d, Value: -1})
	}
	return v
}

// branch computes graph when the boolean input cond is set, and else a single zero of the given
// rank.
func (e *emitter) branch(cond, out string, graph *onnx.Graph, rank int) *onnx.Node {
	ones := make([]int64, rank)
	names := make([]string, rank)
	for i := range ones {
		ones[i], names[i] = 1, string(rune('a'+i))
	}
	none := out + "/none"
	zero := &onnx.Node{Name: none, Op: "Constant", Outputs: []string{none},
		Attrs: []*onnx.Attribute{
			onnx.Attr("value", onnx.Floats(none, ones, 0))}}
	skip := &onnx.Graph{Name: none, Nodes: []*onnx.Node{zero},
		Outputs: []*onnx.ValueInfo{floatInfo(none, names...)}}
	return &onnx.Node{Name: "if " + out, Op: "If", Inputs: []string{cond}, Outputs: []string{out},
		Attrs: []*onnx.Attribute{
			onnx.Attr("then_branch", graph), onnx.Attr("else_branch", skip)}}
}

// fresh makes a name that nothing else has.
func (e *emitter) fresh(prefix string) string {
	for {
		e.count++
		if s := fmt.Sprintf("%s%d", prefix, e.count); !e.used[s] {
			e.used[s] = true
			return s
		}
	}
}

// name is the name of a value. Weights are collected when first named.
func (e *emitter) name(v *value) string {
	if v == nil {
		return ""
	}
	if s := e.names[v]; s != "" {
		return s
	}
	s := v.name
	if v.tensor == nil || s == "" || e.used[s] {
		s = e.fresh("t")
	}
	e.names[v], e.used[s] = s, true
	if v.tensor != nil {
		w := *v.tensor
		w.Name = s
		e.weights = append(e.weights, &w)
	}
	return s
}

func (e *emitter) nodes(list []*node) []*onnx.Node {
	var out []*onnx.Node
	for _, n := range list {
		p := n.standard()
		for _, v := range n.in {
			p.Inputs = append(p.Inputs, e.name(v))
		}
		if n.op == "Reshape" {
			target, extra := e.target(n)
			p.Inputs = append(p.Inputs[:1], target)
			p.Attrs = nil
			out = append(out, extra...)
		}
		for _, v := range n.out {
			p.Outputs = append(p.Outputs, e.name(v))
		}
		out = append(out, p)
	}
	return out
}

// target is the input that tells a Reshape its shape: constant dimensions as they are, 0 for those
// that the input has in the same place, one −1, and sizes of the call for the rest.
func (e *emitter) target(n *node) (string, []*onnx.Node) {
	to, from := n.out[0].shape, n.in[0].shape
	list := make([]int64, to.rank())
	var open []int
	for i := range list {
		switch {
		case to.constant(i):
			list[i] = int64(to[0][i])
		case i < from.rank() && to.at(i) == from.at(i):
			list[i] = 0
		default:
			open = append(open, i)
		}
	}
	// The one free dimension goes to the last that no size of the call gives, else to the first.
	free := -1
	for _, i := range open {
		if e.size(to.at(i)) == nil {
			free = i
		}
	}
	if free < 0 && len(open) > 0 {
		free = open[0]
	}
	dynamic := false
	for _, i := range open {
		list[i] = -1
		dynamic = dynamic || i != free
	}
	if !dynamic {
		return e.intsName(list), nil
	}
	var parts []string
	for i := range list {
		if list[i] != -1 || i == free {
			parts = append(parts, e.intsName(list[i:i+1]))
			continue
		}
		s := e.size(to.at(i))
		if s == nil {
			e.err = n.refused(errShape, "cannot express shape %v", to[0])
			return "", nil
		}
		parts = append(parts, e.sizeName(*s))
	}
	name := e.fresh("shape")
	return name, []*onnx.Node{{Name: n.name, Op: "Concat", Inputs: parts, Outputs: []string{name},
		Attrs: []*onnx.Attribute{onnx.Attr("axis", 0)}}}
}

func (e *emitter) size(d [probes]int) *sizeSource {
	for i := range e.sources {
		if e.sources[i].at == d {
			return &e.sources[i]
		}
	}
	return nil
}

// sizeName is a one-element tensor with a size of the call.
func (e *emitter) sizeName(s sizeSource) string {
	key := fmt.Sprint(s.input, s.axis)
	if n := e.sizes[key]; n != "" {
		return n
	}
	all, one := e.fresh("sizes"), e.fresh("size")
	e.prelude = append(e.prelude,
		&onnx.Node{Name: "sizes of " + s.input, Op: "Shape", Inputs: []string{s.input},
			Outputs: []string{all}},
		&onnx.Node{Name: "size of " + s.input, Op: "Gather",
			Inputs: []string{all, e.intsName([]int64{s.axis})}, Outputs: []string{one}})
	e.sizes[key] = one
	return one
}

// intsName names a one-dimensional integer constant.
func (e *emitter) intsName(v []int64) string {
	key := fmt.Sprint("ints ", v)
	if n := e.sizes[key]; n != "" {
		return n
	}
	for _, x := range v {
		if x > math.MaxInt32 {
			e.err = refused(errShape, "dimension %d", x)
		}
	}
	n := e.fresh("shape")
	e.weights = append(e.weights, onnx.Ints(n, onnx.Int64, []int64{int64(len(v))}, v...))
	e.sizes[key] = n
	return n
}
