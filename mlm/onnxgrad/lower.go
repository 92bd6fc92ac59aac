package onnxgrad

import (
	"fmt"

	"infill/mlm/onnx"
)

// What composite operators are written out with.

// refuse records that a form of a composite operation is not known.
func (l *loaded) refuse(o *onnx.Node, format string, args ...any) []*value {
	l.fail(&Error{Op: o.Op, Node: o.Name, Reason: fmt.Sprintf(format, args...),
		Kind: errUnsupportedOp})
	return nil
}

// optional is input i, nil if left out.
func optional(in []*value, i int) *value {
	if i < len(in) {
		return in[i]
	}
	return nil
}
