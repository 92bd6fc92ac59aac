// Package onnxref evaluates ONNX graphs of language models in float64, in plain Go.
//
// It is the yardstick against which the gradients that mlm/onnxgrad derives, and the float32 results of
// the runtime, are checked: it knows only the forward operators and shares no code with either. Weights
// of any width are widened to float64 and every operator computes in it, so that central differences
// are good to ten digits. It is written to be read; a model of 11 M parameters takes a few tenths of a
// second for a sentence.
package onnxref

import (
	"errors"
	"fmt"

	"infill/mlm/onnx"
)

// ErrOp is wrapped by the error for an operator that the package does not know.
var ErrOp = errors.New("operator is not supported by the float64 reference")

// Evaluator runs one model. It is safe for concurrent use.
type Evaluator struct {
	model  *onnx.Model
	opset  int64
	consts map[string]*Tensor // initializers and what follows from them alone
	by     map[string]*onnx.Node
}

// New prepares a model that onnx.Check has passed: weights are widened and constants computed.
func New(m *onnx.Model) (*Evaluator, error) {
	e := &Evaluator{model: m, opset: m.Opset(""), consts: map[string]*Tensor{}, by: map[string]*onnx.Node{}}
	for _, w := range m.Graph.Initializers {
		t, err := FromONNX(w)
		if err != nil {
			return nil, err
		}
		e.consts[w.Name] = t
	}
	for _, n := range m.Graph.Nodes {
		in, known := make([]*Tensor, len(n.Inputs)), true
		for i, name := range n.Inputs {
			if name != "" {
				in[i] = e.consts[name]
				known = known && in[i] != nil
			}
		}
		if !known || n.Op == "If" {
			for _, o := range n.Outputs {
				e.by[o] = n
			}
			continue
		}
		out, err := Node(n, in, e.opset)
		if err != nil {
			return nil, err
		}
		for i, o := range n.Outputs {
			if i < len(out) {
				e.consts[o] = out[i]
			}
		}
	}
	return e, nil
}

// Run computes the named values. inputs are the graph's inputs; a value computed by the graph may be
// given as well, which then stands in the place of what the graph would compute.
func (e *Evaluator) Run(inputs map[string]*Tensor, outputs ...string) ([]*Tensor, error) {
	return e.graph(e.model.Graph, e.by, func(name string) *Tensor {
		if t := inputs[name]; t != nil {
			return t
		}
		return e.consts[name]
	}, outputs)
}

// graph computes outputs of g. outer knows what is given from outside, by tells which node computes a value.
func (e *Evaluator) graph(g *onnx.Graph, by map[string]*onnx.Node, outer func(string) *Tensor, outputs []string) ([]*Tensor, error) {
	// Only what the outputs need is computed, in the graph's order.
	need := map[*onnx.Node]bool{}
	stack := append([]string{}, outputs...)
	for len(stack) > 0 {
		name := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := by[name]
		switch {
		case outer(name) != nil || need[n]:
			continue
		case n == nil:
			return nil, fmt.Errorf("value %q is not computed by the model and was not given", name)
		}
		need[n] = true
		onnx.Uses(n, func(in string) { stack = append(stack, in) })
	}
	left := map[string]int{} // uses still to come, to free what is no longer needed
	for _, o := range outputs {
		left[o]++
	}
	for n := range need {
		onnx.Uses(n, func(in string) { left[in]++ })
	}
	have := map[string]*Tensor{}
	get := func(name string) *Tensor {
		if t := outer(name); t != nil {
			return t
		}
		return have[name]
	}
	for _, n := range g.Nodes {
		if !need[n] {
			continue
		}
		out, err := e.node(n, get)
		if err != nil {
			return nil, err
		}
		for i, o := range n.Outputs {
			if i < len(out) {
				have[o] = out[i]
			}
		}
		onnx.Uses(n, func(in string) {
			if left[in]--; left[in] == 0 {
				delete(have, in)
			}
		})
	}
	res := make([]*Tensor, len(outputs))
	for i, o := range outputs {
		if res[i] = get(o); res[i] == nil {
			return nil, fmt.Errorf("value %q was not computed", o)
		}
	}
	return res, nil
}

// node computes one node; If is computed here because its branches read values from outside.
func (e *Evaluator) node(n *onnx.Node, get func(string) *Tensor) ([]*Tensor, error) {
	in := make([]*Tensor, len(n.Inputs))
	for i, name := range n.Inputs {
		if name != "" {
			in[i] = get(name)
		}
	}
	if n.Op != "If" {
		return Node(n, in, e.opset)
	}
	branch := n.Attr("else_branch")
	if len(in) != 1 || len(in[0].I) != 1 {
		return nil, fmt.Errorf("%s: the condition is not one boolean", n)
	}
	if in[0].I[0] != 0 {
		branch = n.Attr("then_branch")
	}
	if branch == nil || branch.G == nil {
		return nil, fmt.Errorf("%s: a branch is missing", n)
	}
	g, own, by := branch.G, map[string]*Tensor{}, map[string]*onnx.Node{}
	for _, w := range g.Initializers {
		t, err := FromONNX(w)
		if err != nil {
			return nil, err
		}
		own[w.Name] = t
	}
	for _, n := range g.Nodes {
		for _, o := range n.Outputs {
			by[o] = n
		}
	}
	var outputs []string
	for _, v := range g.Outputs {
		outputs = append(outputs, v.Name)
	}
	return e.graph(g, by, func(name string) *Tensor {
		if t := own[name]; t != nil || by[name] != nil {
			return t
		}
		return get(name)
	}, outputs)
}

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
	for _, m := range []map[string]kernel{elementwise, reductions, products, layout, indexing, neural, attention, fused} {
		for k, f := range m {
			kernels[k] = f
		}
	}
}

// inputs that a node must have, where it is not one.
var minInputs = map[string]int{"Constant": 0, "MatMul": 2, "Gemm": 2, "FusedMatMul": 2, "Gather": 2, "GatherND": 2, "GatherElements": 2,
	"Reshape": 2, "Expand": 2, "Range": 3, "Where": 3, "CumSum": 2, "Tile": 2, "Add": 2, "Sub": 2, "Mul": 2, "Div": 2, "Pow": 2, "Mod": 2,
	"Equal": 2, "Less": 2, "Greater": 2, "LessOrEqual": 2, "GreaterOrEqual": 2, "And": 2, "Or": 2, "Xor": 2, "LayerNormalization": 2,
	"CastLike": 2, "ScatterElements": 3, "BiasGelu": 2, "RMSNormalization": 2}

// Node computes the outputs of a single node under operator set version opset (of the standard domain).
// It never changes its inputs; outputs may share their memory.
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

// fromIntegers tells whether a node's result follows from integers and scalars alone, see Tensor.single.
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
