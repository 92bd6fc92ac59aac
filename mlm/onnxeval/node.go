// Package onnxeval computes single ONNX operators in float64, in plain Go: those with which models
// compute sizes, positions and constants. mlm/onnxgrad folds constants and follows the contents of
// shapes with it. Its tests add the operators of layers, and evaluate whole model files to check
// what it derives. So a mistake in an operator here could stand on both sides of that check. Three
// things guard against it: tests compare operators with values worked out by hand or by numpy, and
// whole models with torch, and nothing is folded there, so that what onnxgrad folds is checked by
// values that were never rounded or put together.
//
// Floating types of every width are computed in float64. Operators are known by their ONNX names.
package onnxeval

import (
	"errors"
	"fmt"
	"maps"

	"infill/mlm/onnx"
)

// ErrOp is wrapped by the error for an operator, or a form of one, that the package does not know.
var ErrOp = errors.New("operator is not supported by the float64 reference")

// A Kernel is what is known of an operator.
type Kernel struct {
	Least int // inputs that must be given, the first ones
	Run   Run
}

// Run computes a node's outputs.
type Run func(c *Call) ([]*Tensor, error)

// A Call is one application of a node.
type Call struct {
	Node  *onnx.Node
	In    []*Tensor // an entry for every input, nil for one left out
	Opset int64
}

// Arg is input i, nil if left out.
func (c *Call) Arg(i int) *Tensor {
	if i < len(c.In) {
		return c.In[i]
	}
	return nil
}

// Kernels are operators by their names.
type Kernels map[string]Kernel

var kernels Kernels

func init() {
	kernels = Kernels{}
	for _, m := range []Kernels{elementwise, reductions, layout, indexing} {
		maps.Copy(kernels, m)
	}
}

// Node computes the outputs of a single node under operator set version opset (of the standard
// domain), by the operators of this package and others. It never changes its inputs. Outputs may
// share their memory.
func Node(n *onnx.Node, in []*Tensor, opset int64, others Kernels) (out []*Tensor, err error) {
	k, ok := kernels[n.Op]
	if !ok {
		k, ok = others[n.Op]
	}
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrOp, n)
	}
	for i := range k.Least {
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
	out, err = k.Run(&Call{n, in, opset})
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
		case !t.IsFloat():
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
	out := t.With(t.Shape)
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
