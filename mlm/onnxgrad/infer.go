package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// infer works out type, shape and, where it follows from constants and shapes alone, the contents of a
// node's outputs, at both probes.
func infer(n *node, opset int64) error {
	for i := range arity(n) {
		if i >= len(n.in) || n.in[i] == nil {
			return &OpError{Op: n.op, Node: n.name, Reason: fmt.Sprintf("input %d is missing", i), Err: ErrShape}
		}
	}
	if len(n.in) > 2 && twoOperands[n.op] {
		return &OpError{Op: n.op, Node: n.name, Reason: "has more than two inputs", Err: ErrShape}
	}
	fixed := true
	for _, v := range n.in {
		fixed = fixed && (v == nil || v.fixed)
	}
	for p := range probes {
		if n.op != "Reshape" && inferKnown(n, p, opset) {
			continue
		}
		shapes, err := inferShapes(n, p, opset)
		if err != nil {
			return &OpError{Op: n.op, Node: n.name, Reason: err.Error(), Err: ErrShape}
		}
		if len(shapes) < len(n.out) {
			return &OpError{Op: n.op, Node: n.name, Reason: "has more outputs than this package knows", Err: ErrUnsupportedOp}
		}
		for i, o := range n.out {
			o.shape[p] = shapes[i]
			o.typ = outType(n, i)
			if n.op == "Reshape" && n.in[0].known[p] != nil {
				k := *n.in[0].known[p]
				k.Shape = shapes[0]
				o.known[p] = &k
			}
		}
	}
	for _, o := range n.out {
		o.fixed = fixed
		if o.shape.rank() != len(o.shape[1]) {
			return &OpError{Op: n.op, Node: n.name, Reason: "rank depends on the size of the input", Err: ErrShape}
		}
	}
	return nil
}

// arity is the number of inputs that a node must have.
func arity(n *node) int {
	switch n.op {
	case "Where", "Range", "ScatterElements":
		return 3
	case "Gemm", "Gather", "GatherND", "GatherElements", "Expand", "CumSum", "Tile", "CastLike", "Pad", "LayerNormalization", "RMSNormalization":
		return 2
	}
	if twoOperands[n.op] {
		return 2
	}
	return 1
}

// twoOperands are the operations with exactly two inputs.
var twoOperands = map[string]bool{"Add": true, "Sub": true, "Mul": true, "Div": true, "Pow": true, "Mod": true, "Equal": true, "Less": true,
	"Greater": true, "LessOrEqual": true, "GreaterOrEqual": true, "And": true, "Or": true, "Xor": true, "MatMul": true}

// inferKnown computes the outputs when all inputs are known and small, or only their shapes matter.
func inferKnown(n *node, p int, opset int64) bool {
	in := make([]*onnxeval.Tensor, len(n.in))
	for i, v := range n.in {
		switch {
		case v == nil:
		case n.op == "Shape" || n.op == "Size":
			in[i] = &onnxeval.Tensor{Type: v.typ, Shape: v.shape[p]}
		case v.known[p] == nil || v.known[p].Len() > maxKnown:
			return false
		default:
			in[i] = v.known[p]
		}
	}
	// What expands must not grow beyond what is followed.
	if n.op == "Range" && tooLong(in) {
		return false
	}
	if shapes, err := inferShapes(n, p, opset); err == nil {
		for _, s := range shapes {
			if volume(s) > maxKnown {
				return false
			}
		}
	}
	proto := n.proto()
	if n.op == "MatMul" { // the fused form, which the reference knows under another name
		proto = fusedProto(n)
	}
	proto.Outputs = make([]string, len(n.out))
	out, err := onnxeval.Node(proto, in, opset)
	if err != nil || len(out) < len(n.out) {
		return false
	}
	for i, o := range n.out {
		o.shape[p], o.typ = slices.Clone(out[i].Shape), out[i].Type
		if out[i].Len() <= maxKnown {
			o.known[p] = out[i]
		}
	}
	return true
}

// tooLong tells whether a Range of these bounds has more elements than are followed.
func tooLong(in []*onnxeval.Tensor) bool {
	v := [3]float64{}
	for i := range v {
		switch {
		case i >= len(in) || in[i] == nil || in[i].Len() != 1:
			return true
		case len(in[i].F) == 1:
			v[i] = in[i].F[0]
		default:
			v[i] = float64(in[i].I[0])
		}
	}
	return !((v[1]-v[0])/v[2] <= maxKnown)
}

// outType is the element type of output i.
func outType(n *node, i int) onnx.DataType {
	switch n.op {
	case "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor", "Not", "IsNaN":
		return onnx.Bool
	case "Shape", "Size":
		return onnx.Int64
	case "Cast":
		return onnx.DataType(n.proto().Int("to", 1))
	case "CastLike":
		return n.in[1].typ
	case "Where":
		return n.in[1].typ
	case "ConstantOfShape":
		if a := n.proto().Attr("value"); a != nil && a.T != nil {
			return a.T.Type
		}
		return onnx.Float
	}
	return n.in[0].typ
}
