// Package onnxeval computes single ONNX operators in float64, in plain Go.
//
// Two packages share it. mlm/onnxgrad folds constants and follows the contents of shapes with it.
// mlm/onnxref evaluates whole model files with it, to check what onnxgrad derives. So a mistake in
// an operator here could stand on both sides of that check. Three things guard against it: the
// tests here compare operators with values worked out by hand or by numpy, those of onnxref compare
// whole models with torch, and onnxref folds nothing, so that what onnxgrad folds is checked by
// values that were never rounded or put together.
//
// Floating types of every width are computed in float64. Operators are known by their ONNX names.
// Those of com.microsoft are the ones that ONNX Runtime's optimisers put into exported models.
package onnxeval

import (
	"errors"
	"fmt"

	"infill/mlm/onnx"
)

// ErrOp is wrapped by the error for an operator, or a form of one, that the package does not know.
var ErrOp = errors.New("operator is not supported by the float64 reference")

// kernel computes a node's outputs. in has an entry for every input, nil for one left out.
type kernel func(c *call) ([]*Tensor, error)

// call is one application of a node.
type call struct {
	n     *onnx.Node
	in    []*Tensor
	opset int64
}

// arg is input i, nil if left out.
func (c *call) arg(i int) *Tensor {
	if i < len(c.in) {
		return c.in[i]
	}
	return nil
}

var kernels map[string]kernel

func init() {
	kernels = map[string]kernel{}
	for _, m := range []map[string]kernel{elementwise, reductions, products, convolutions, layout,
		indexing, neural, attention, fused} {
		for k, f := range m {
			kernels[k] = f
		}
	}
}

// minInputs is how many inputs a node must have, where it is not one.
var minInputs = map[string]int{
	"Constant": 0, "MatMul": 2, "Gemm": 2, "FusedMatMul": 2, "Gather": 2, "GatherND": 2,
	"GatherElements": 2, "Reshape": 2, "Expand": 2, "Range": 3, "Where": 3, "CumSum": 2,
	"Tile": 2, "Add": 2, "Sub": 2, "Mul": 2, "Div": 2, "Pow": 2, "Mod": 2, "Equal": 2, "Less": 2,
	"Greater": 2, "LessOrEqual": 2, "GreaterOrEqual": 2, "And": 2, "Or": 2, "Xor": 2,
	"LayerNormalization": 2, "CastLike": 2, "ScatterElements": 3, "BiasGelu": 2, "Conv": 2,
	"RMSNormalization": 2,
}

// Node computes the outputs of a single node under operator set version opset (of the standard
// domain). It never changes its inputs. Outputs may share their memory.
func Node(n *onnx.Node, in []*Tensor, opset int64) (out []*Tensor, err error) {
	k := kernels[n.Op]
	if k == nil {
		return nil, fmt.Errorf("%w: %s", ErrOp, n)
	}
	need, ok := minInputs[n.Op]
	if !ok {
		need = 1
	}
	for i := range need {
		if i >= len(in) || in[i] == nil {
			return nil, fmt.Errorf("%s: input %d is missing", n, i)
		}
	}
	// Graphs are not ours: an index that a kernel did not foresee is reported, not fatal.
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("%s: inputs do not fit the operator: %v", n, r)
		}
	}()
	out, err = k(&call{n, in, opset})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n, err)
	}
	if fromIntegers(n, in) {
		for i, t := range out {
			if t != nil && t.Type == onnx.Float && !t.single {
				out[i] = rounded(t)
			}
		}
	}
	return out, nil
}

// fromIntegers reports whether a node's result follows from integers and scalars alone, see
// Tensor.single.
func fromIntegers(n *onnx.Node, in []*Tensor) bool {
	any := false
	for _, t := range in {
		switch {
		case t == nil:
		case !t.float():
			any = any || n.Op == "Cast"
		case t.single:
			any = true
		case t.Len() != 1:
			return false
		}
	}
	return any
}

func rounded(t *Tensor) *Tensor {
	out := t.with(t.Shape)
	out.single = true
	out.F = make([]float64, len(t.F))
	for i, v := range t.F {
		out.F[i] = float64(float32(v))
	}
	return out
}

func one(t *Tensor, err error) ([]*Tensor, error) {
	if err != nil {
		return nil, err
	}
	return []*Tensor{t}, nil
}
