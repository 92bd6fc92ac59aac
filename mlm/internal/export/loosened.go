package export

import (
	"slices"

	"infill/mlm/onnx"
)

// WeightBytes is the size of the graph's weights as the runtime holds them: those
// stored in 16 bits are widened when a model is loaded.
func (m Exported) WeightBytes() int64 {
	n := int64(0)
	m.Graph.Each(func(g *onnx.Graph) {
		for _, t := range g.Initializers {
			held := t.Type
			if held == onnx.Float16 || held == onnx.BFloat16 {
				held = onnx.Float
			}
			n += held.Bytes(t.Len())
		}
	})
	return n
}

// Loosened gives m with the tables that rows are looked up in and that products
// read as well made inputs that need not be fed. For the runtime such an input is
// not a constant, and it makes no copies of it. m is not changed.
func (m Exported) Loosened() *onnx.Model {
	looked, read := map[string]bool{}, map[string]bool{}
	m.Graph.Each(func(g *onnx.Graph) {
		for _, n := range g.Nodes {
			if len(n.Inputs) < 2 {
				continue
			}
			switch n.Op {
			case "Gather":
				looked[n.Inputs[0]] = true
			case "MatMul", "FusedMatMul", "Gemm":
				read[n.Inputs[1]] = true
			}
		}
	})
	out := m.Clone()
	graph := out.Graph
	for _, t := range graph.Initializers {
		already := slices.ContainsFunc(m.Graph.Inputs,
			func(v *onnx.ValueInfo) bool { return v.Name == t.Name })
		if t.Type != onnx.Float || !looked[t.Name] || !read[t.Name] || already {
			continue
		}
		v := &onnx.ValueInfo{Name: t.Name, Type: t.Type, HasShape: true, Shape: []onnx.Dim{}}
		for _, d := range t.Dims {
			v.Shape = append(v.Shape, onnx.Dim{Value: d})
		}
		graph.Inputs = append(graph.Inputs, v)
	}
	return out
}
