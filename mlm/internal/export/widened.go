package export

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
)

// mostWidened is how much of a matrix is in float32 at a time, in bytes, where it is read in parts.
const mostWidened = 12 << 20

// Widened gives a graph that casts the looked up words of a table in 16 bits to float32, not the
// table. late is for a graph without a backward pass, all of whose weights in 16 bits are cast at
// their use, at every run, and a large matrix of a Gemm in parts. Next to nothing then lies in
// memory but the file. The runtime must not fold constants. found is false where there are no such
// weights. m is not changed.
func (m Exported) Widened(late bool) (out *onnx.Model, found bool) {
	wide := m.casts()
	if len(wide) == 0 {
		return m.Model, false
	}
	out = m.Clone()
	graph := out.Graph
	var l list
	for _, n := range graph.Nodes {
		switch {
		case n.Op == "Gather" && wide[n.Inputs[0]] != nil && n.Int("axis", 0) == 0:
			words, few := n.Outputs[0], n.Outputs[0]+"/narrow"
			n.Inputs[0], n.Outputs[0] = wide[n.Inputs[0]].Name, few
			l.nodes = append(l.nodes, n, widening(few, words))
		case late && n.Op == "Gemm" && n.Int("transB", 0) == 1 && len(n.Inputs) == 3 &&
			n.Attr("beta") == nil && wide[n.Inputs[1]] != nil &&
			4*wide[n.Inputs[1]].Len() > mostWidened:
			l.inParts(n, wide[n.Inputs[1]])
		default:
			l.nodes = append(l.nodes, n)
		}
	}
	graph.Nodes, graph.Initializers = l.nodes, slices.Concat(graph.Initializers, l.parts)
	read := graph.Reads()
	graph.Nodes = slices.DeleteFunc(graph.Nodes, func(n *onnx.Node) bool {
		return wide[n.Outputs[0]] != nil && read[n.Outputs[0]] == 0
	})
	return out, true
}

// casts are the weights in 16 bits that are cast to float32, by the output of the Cast.
func (m Exported) casts() map[string]*onnx.Tensor {
	stored := map[string]*onnx.Tensor{}
	for _, t := range m.Graph.Initializers {
		if t.Type == onnx.Float16 || t.Type == onnx.BFloat16 {
			stored[t.Name] = t
		}
	}
	wide := map[string]*onnx.Tensor{}
	for _, n := range m.Graph.Nodes {
		if n.Op == "Cast" && stored[n.Inputs[0]] != nil && n.Int("to", 0) == int64(onnx.Float) {
			wide[n.Outputs[0]] = stored[n.Inputs[0]]
		}
	}
	return wide
}

// Float32 gives a graph whose weights in 16 bits are float32 ones in place of casts. They are
// widened when they are read, see [onnx.Tensor.Wide]. m is not changed.
func (m Exported) Float32() *onnx.Model {
	wide, out := m.casts(), m.Clone()
	graph := out.Graph
	graph.Nodes = slices.DeleteFunc(graph.Nodes, func(n *onnx.Node) bool {
		t := wide[n.Outputs[0]]
		if t != nil {
			graph.Initializers = append(graph.Initializers, t.Wide(n.Outputs[0]))
		}
		return t != nil
	})
	read := graph.Reads()
	graph.Initializers = slices.DeleteFunc(graph.Initializers, func(t *onnx.Tensor) bool {
		return read[t.Name] == 0
	})
	return out
}

// inParts writes n, a product with the transpose of w, as products with some of its rows each. What
// is added is added at the end.
func (l *list) inParts(n *onnx.Node, w *onnx.Tensor) {
	all, most := w.Dims[0], max(1, mostWidened/(4*w.Len()/w.Dims[0]))
	joined := &onnx.Node{Name: n.Name + "/joined", Op: "Concat", Outputs: []string{n.Outputs[0] +
		"/joined"}, Attrs: []*onnx.Attribute{onnx.Attr("axis", 1)}}
	for from := int64(0); from < all; from += most {
		name := fmt.Sprintf("%s/%d", n.Outputs[0], from)
		part := w.Rows(name+"/weights", from, min(from+most, all))
		product := *n
		product.Name, product.Outputs = name, []string{name}
		product.Inputs = []string{n.Inputs[0], name + "/wide"}
		l.nodes = append(l.nodes, widening(part.Name, name+"/wide"), &product)
		l.parts = append(l.parts, part)
		joined.Inputs = append(joined.Inputs, name)
	}
	l.nodes = append(l.nodes, joined, &onnx.Node{Name: n.Name + "/added", Op: "Add",
		Inputs: []string{joined.Outputs[0], n.Inputs[2]}, Outputs: n.Outputs})
}

// list is what becomes of a graph's nodes.
type list struct {
	nodes []*onnx.Node
	parts []*onnx.Tensor
}

// widening casts from to float32.
func widening(from, to string) *onnx.Node {
	return &onnx.Node{Name: to, Op: "Cast", Inputs: []string{from}, Outputs: []string{to},
		Attrs: []*onnx.Attribute{onnx.Attr("to", onnx.Float)}}
}
