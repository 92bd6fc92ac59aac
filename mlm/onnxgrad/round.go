package onnxgrad

import (
	"slices"
	"strconv"

	"infill/mlm/onnx"
)

// RoundProducts has the factors of every product rounded to bfloat16, to the nearest and to even in
// the middle, and returns how many products there are. Products and sums stay in float32. It is
// what a processor computes that has such products, on any. m's graph is changed.
func RoundProducts(m *onnx.Model) int {
	n := 0
	roundIn(m.Graph, &n)
	return n
}

func roundIn(g *onnx.Graph, n *int) {
	var nodes []*onnx.Node
	for _, node := range g.Nodes {
		if node.Op == "MatMul" || node.Op == "Gemm" || node.Op == "FusedMatMul" {
			*n++
			node.Inputs = slices.Clone(node.Inputs)
			for k := range 2 {
				x := node.Inputs[k]
				name := "rounded " + strconv.Itoa(*n) + " " + strconv.Itoa(k)
				nodes = append(nodes, castTo(x, name+" narrow", onnx.BFloat16),
					castTo(name+" narrow", name, onnx.Float))
				node.Inputs[k] = name
			}
		}
		for _, a := range node.Attrs {
			if a.G != nil {
				roundIn(a.G, n)
			}
		}
		nodes = append(nodes, node)
	}
	g.Nodes = nodes
}

func castTo(from, to string, t onnx.DataType) *onnx.Node {
	return &onnx.Node{Name: to, Op: "Cast", Inputs: []string{from}, Outputs: []string{to},
		Attrs: []*onnx.Attribute{{Name: "to", Type: onnx.AttrInt, I: int64(t)}}}
}
