package onnxgrad

import (
	"fmt"
	"slices"

	"infill/mlm/onnxeval"
)

// infer works out type, shape and, where it follows from constants and shapes alone, the contents
// of a node's outputs, at both probes. The elements of long contents are taken off follow, and no
// long ones are followed once there are too few left.
func infer(n *node, opset int64, follow *int) error {
	op := operators[n.op]
	if op == nil || op.shape == nil {
		return n.refused(errShape, "operator is not known")
	}
	if err := op.check(n.name, n.in); err != nil {
		return err
	}
	fixed := true
	for _, v := range n.in {
		fixed = fixed && (v == nil || v.fixed)
	}
	for p := range probes {
		if op.fold != unchanged && inferKnown(n, op, p, opset, follow) {
			continue
		}
		shapes, err := inferShapes(n, op, p, opset)
		if err != nil {
			return n.refused(errShape, "%v", err)
		}
		if len(shapes) < len(n.out) {
			return n.refused(errUnsupportedOp, "has more outputs than this package knows")
		}
		for i, o := range n.out {
			o.shape[p] = shapes[i]
			o.typ = op.typ(n)
			if op.fold == unchanged && n.in[0].known[p] != nil {
				k := *n.in[0].known[p]
				k.Shape = shapes[0]
				o.known[p] = &k
			}
		}
	}
	for _, o := range n.out {
		o.fixed = fixed
		if o.shape.rank() != len(o.shape[1]) {
			return n.refused(errShape, "rank depends on the size of the input")
		}
	}
	return nil
}

// inferShapes asks the operator's rule.
func inferShapes(n *node, op *operator, p int, opset int64) (out [][]int, err error) {
	if len(n.in) == 0 || n.in[0] == nil {
		return nil, fmt.Errorf("no input")
	}
	// Attributes and inputs come from a file: whatever does not fit is reported.
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("inputs do not fit the operator: %v", r)
		}
	}()
	return op.shape(n, p, opset)
}

// inferKnown computes the outputs when all inputs are known and small, or only their shapes matter.
func inferKnown(n *node, op *operator, p int, opset int64, follow *int) bool {
	in := make([]*onnxeval.Tensor, len(n.in))
	for i, v := range n.in {
		switch {
		case v == nil:
		case op.fold == fromShape:
			in[i] = &onnxeval.Tensor{Type: v.typ, Shape: v.shape[p]}
		case v.known[p] == nil || v.known[p].Len() > maxKnown:
			return false
		default:
			in[i] = v.known[p]
		}
	}
	// What expands must not grow beyond what is followed.
	shapes, err := inferShapes(n, op, p, opset)
	if err != nil {
		return false
	}
	for _, s := range shapes {
		if volume(s) > maxKnown {
			return false
		}
	}
	proto := n.standard()
	proto.Outputs = make([]string, len(n.out))
	out, err := onnxeval.Node(proto, in, opset, nil)
	if err != nil || len(out) < len(n.out) {
		return false
	}
	for i, o := range n.out {
		o.shape[p], o.typ = slices.Clone(out[i].Shape), out[i].Type
		switch size := out[i].Len(); {
		case size <= smallKnown:
			o.known[p] = out[i]
		case size <= min(maxKnown, *follow):
			o.known[p] = out[i]
			*follow -= size
		}
	}
	return true
}
