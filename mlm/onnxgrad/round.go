package onnxgrad

import (
	"slices"
	"strconv"

	"infill/mlm/onnx"
)

// RoundProducts has the factors and the result of every product rounded to bfloat16, to the nearest
// and to even in the middle, and returns how many products there are. Sums within a product, and
// what lies between products, stay in float32. It is nearly what OpenVINO computes on a processor
// that has such products, which may round what lies between, too. m's graph is changed.
func RoundProducts(m *onnx.Model) int {
	n := 0
	roundIn(m.Graph, &n)
	return n
}

func roundIn(g *onnx.Graph, n *int) {
	var nodes []*onnx.Node
	for _, node := range g.Nodes {
		product := isProduct(node)
		if product {
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
		if product {
			y, name := node.Outputs[0], "rounded "+strconv.Itoa(*n)
			node.Outputs = []string{name + " wide"}
			back := castTo(name+" narrow", y, onnx.Float)
			back.Name = name // nodes may be called like their outputs
			nodes = append(nodes, castTo(name+" wide", name+" narrow", onnx.BFloat16), back)
		}
	}
	g.Nodes = nodes
}

func castTo(from, to string, t onnx.DataType) *onnx.Node {
	return &onnx.Node{Name: to, Op: "Cast", Inputs: []string{from}, Outputs: []string{to},
		Attrs: []*onnx.Attribute{{Name: "to", Type: onnx.AttrInt, I: int64(t)}}}
}
