package export

import "infill/mlm/onnx"

// qualified is the name of a node's operator with its domain, unless that is ONNX's own.
func qualified(n *onnx.Node) string {
	if n.Domain == "" {
		return n.Op
	}
	return n.Domain + "." + n.Op
}

// logits is the output called so, or the only one there is.
func logits(m *onnx.Model) *onnx.ValueInfo {
	for _, v := range m.Graph.Outputs {
		if v.Name == "logits" {
			return v
		}
	}
	if len(m.Graph.Outputs) == 1 {
		return m.Graph.Outputs[0]
	}
	return nil
}

// HeadWeight is the stored weight of the product that makes the logits, nil if they are made in
// another way.
func (m Exported) HeadWeight() *onnx.Tensor {
	s := newSources(m.Model)
	n := s.producer[logits(m.Model).Name]
	for n != nil && len(n.Inputs) > 0 {
		switch n.Op {
		case "MatMul", "Gemm", "FusedMatMul":
			if len(n.Inputs) > 1 {
				return s.weight(n.Inputs[1])
			}
			return nil
		case "Add":
			next := s.producer[n.Inputs[0]]
			if len(n.Inputs) > 1 && (next == nil || s.weight(n.Inputs[0]) != nil) {
				next = s.producer[n.Inputs[1]]
			}
			n = next
		case "Cast", "Identity", "Reshape", "Squeeze":
			n = s.producer[n.Inputs[0]]
		default:
			return nil
		}
	}
	return nil
}

// sources say where the values of a graph come from.
type sources struct {
	stored   map[string]*onnx.Tensor
	producer map[string]*onnx.Node
}

func newSources(m *onnx.Model) sources {
	s := sources{map[string]*onnx.Tensor{}, map[string]*onnx.Node{}}
	for _, t := range m.Graph.Initializers {
		s.stored[t.Name] = t
	}
	for _, n := range m.Graph.Nodes {
		for _, o := range n.Outputs {
			if o != "" { // an output that is left out, like an input
				s.producer[o] = n
			}
		}
	}
	return s
}

// weight follows a value through changes of layout and type to where it is stored, nil if
// it is computed.
func (s sources) weight(name string) *onnx.Tensor {
	for s.stored[name] == nil {
		n := s.producer[name]
		if n == nil || len(n.Inputs) == 0 {
			return nil
		}
		switch n.Op {
		case "Transpose", "Cast", "Identity", "DequantizeLinear":
		default:
			return nil
		}
		name = n.Inputs[0]
	}
	return s.stored[name]
}
