package openvino

import (
	"slices"

	"infill/mlm/onnx"
)

// splitSquares has every square weight that products read both as it is and transposed read in
// one way only, and returns how many there are. For the second way the products read a transposed
// copy, which the runtime makes when it loads the graph. A derived graph has many such weights: its
// forward pass reads W, its backward pass Wᵀ. OpenVINO 2026.4 packs a weight by its address and its
// shape alone, so that in float32 one of the two products comes out as x·Wᵀ in place of x·W. m's
// graph is changed.
func splitSquares(m *onnx.Model) int {
	s := splitter{square: map[string]bool{}, read: map[string]bool{}, copies: map[string]string{}}
	for _, t := range m.Graph.Initializers {
		if len(t.Dims) == 2 && t.Dims[0] == t.Dims[1] && t.Dims[0] > 1 {
			s.square[t.Name] = true
		}
	}
	for _, n := range m.Graph.Nodes {
		// of weights in 16 bits
		if n.Op == "Cast" && len(n.Inputs) > 0 && len(n.Outputs) > 0 && s.square[n.Inputs[0]] {
			s.square[n.Outputs[0]] = true
		}
	}
	products(m.Graph, s.look)
	products(m.Graph, s.settle)
	s.addCopies(m.Graph)
	return len(s.copies)
}

// splitter is the state of splitSquares. The outermost graph holds all weights.
type splitter struct {
	square map[string]bool
	read   map[string]bool   // whether the products that read the weight itself transpose it
	copies map[string]string // the transposed copy of a weight
}

// products calls f for both factors of every product of a graph.
func products(g *onnx.Graph, f func(n *onnx.Node, k int, attribute string)) {
	g.Each(func(g *onnx.Graph) {
		for _, n := range g.Nodes {
			if n.IsProduct() {
				f(n, 0, "transA")
				f(n, 1, "transB")
			}
		}
	})
}

// look finds the way in which a weight itself is read: that of a Gemm, into which the runtime
// would take a transposition back, else the first.
func (s *splitter) look(n *onnx.Node, k int, attribute string) {
	x := n.Inputs[k]
	if _, seen := s.read[x]; s.square[x] && (!seen || n.Op == "Gemm") {
		s.read[x] = n.Int(attribute, 0) != 0
	}
}

// settle has a product read the copy if it reads the weight in the other way.
func (s *splitter) settle(n *onnx.Node, k int, attribute string) {
	x, turned := n.Inputs[k], n.Int(attribute, 0) != 0
	if !s.square[x] || s.read[x] == turned {
		return
	}
	if s.copies[x] == "" {
		s.copies[x] = x + "_turned"
	}
	n.Inputs = slices.Clone(n.Inputs)
	n.Inputs[k] = s.copies[x]
	n.Attrs = slices.DeleteFunc(slices.Clone(n.Attrs),
		func(a *onnx.Attribute) bool { return a.Name == attribute })
	if turned {
		return
	}
	n.Attrs = append(n.Attrs, onnx.Attr(attribute, 1))
	if n.Op == "MatMul" {
		n.Op, n.Domain = "FusedMatMul", onnx.Microsoft
	}
}

// addCopies computes each copy as soon as its weight is there.
func (s *splitter) addCopies(g *onnx.Graph) {
	var nodes []*onnx.Node
	turn := func(x string) {
		if c := s.copies[x]; c != "" {
			nodes = append(nodes, &onnx.Node{Name: c, Op: "Transpose", Inputs: []string{x},
				Outputs: []string{c}, Attrs: []*onnx.Attribute{onnx.Attr("perm", []int64{1, 0})}})
		}
	}
	for _, t := range g.Initializers {
		turn(t.Name)
	}
	for _, n := range g.Nodes {
		nodes = append(nodes, n)
		for _, o := range n.Outputs {
			turn(o)
		}
	}
	g.Nodes = nodes
}
