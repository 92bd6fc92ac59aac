// The files reference_*_test.go check gradients of masked language models against the model file
// itself, in float64.
//
// They evaluate the file, operator by operator, and take derivatives by central differences, which
// are good to ten digits: weights of any width are widened to float64 and every operator computes
// in it. A model of 11 M parameters takes a few tenths of a second for a sentence.
//
// Of the derivation they share one part, the operators of mlm/onnxeval, with which constants are
// folded. Those of layers are here. Operators of com.microsoft are the ones that ONNX Runtime's
// optimisers put into exported models. Nothing is folded here: the file is evaluated as it stands,
// so that what is folded, fused or rewritten is compared with what the file says.

package onnxgrad

import (
	"fmt"
	"maps"

	"infill/mlm/onnx"
	"infill/mlm/onnxeval"
)

// evaluator runs one model. It is safe for concurrent use. It serves graphs of every kind, for
// masked language models there is [MaskedLM].
type evaluator struct {
	model   *onnx.Model
	opset   int64
	weights map[string]*onnxeval.Tensor // initializers
	by      map[string]*onnx.Node
}

// newEvaluator prepares a model that [onnx.Model.Check] has passed: its weights are widened to float64.
func newEvaluator(m *onnx.Model) (*evaluator, error) {
	e := &evaluator{model: m, opset: m.Opsets[""], weights: map[string]*onnxeval.Tensor{},
		by: map[string]*onnx.Node{}}
	for _, w := range m.Graph.Initializers {
		t, err := onnxeval.FromONNX(w)
		if err != nil {
			return nil, err
		}
		e.weights[w.Name] = t
	}
	for _, n := range m.Graph.Nodes {
		for _, o := range n.Outputs {
			e.by[o] = n
		}
	}
	return e, nil
}

type (
	dense = onnxeval.Tensor
	call  = onnxeval.Call
	table = onnxeval.Kernels
)

var kernels table

func init() {
	kernels = table{}
	kernels["Constant"] = onnxeval.Kernel{Run: func(c *call) ([]*dense, error) {
		t, err := constantTensor(c.Node)
		if err != nil {
			return nil, err
		}
		return one(onnxeval.FromONNX(t))
	}}
	for _, m := range []table{activations, indexing, products, convolutions, neural,
		attentions, fused} {
		maps.Copy(kernels, m)
	}
}

// evaluated is [onnxeval.Node] with the operators of layers.
func evaluated(n *onnx.Node, in []*onnxeval.Tensor, opset int64) ([]*onnxeval.Tensor, error) {
	return onnxeval.Node(n, in, opset, kernels)
}

func one(t *onnxeval.Tensor, err error) ([]*onnxeval.Tensor, error) {
	if err != nil {
		return nil, err
	}
	return []*onnxeval.Tensor{t}, nil
}

// Run computes the named values. inputs are the graph's inputs. A value computed by the graph may
// be given as well, which then stands in the place of what the graph would compute.
func (e *evaluator) Run(inputs map[string]*onnxeval.Tensor, outputs ...string) ([]*onnxeval.Tensor,
	error) {
	return e.graph(e.model.Graph, e.by, func(name string) *onnxeval.Tensor {
		if t := inputs[name]; t != nil {
			return t
		}
		return e.weights[name]
	}, outputs)
}

// graph computes outputs of g. outer knows what is given from outside, by tells which node computes
// a value.
func (e *evaluator) graph(g *onnx.Graph, by map[string]*onnx.Node,
	outer func(string) *onnxeval.Tensor, outputs []string) ([]*onnxeval.Tensor, error) {
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
		n.Uses(func(in string) { stack = append(stack, in) })
	}
	left := map[string]int{} // uses still to come, to free what is no longer needed
	for _, o := range outputs {
		left[o]++
	}
	for n := range need {
		n.Uses(func(in string) { left[in]++ })
	}
	have := map[string]*onnxeval.Tensor{}
	get := func(name string) *onnxeval.Tensor {
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
		n.Uses(func(in string) {
			if left[in]--; left[in] == 0 {
				delete(have, in)
			}
		})

	}
	res := make([]*onnxeval.Tensor, len(outputs))
	for i, o := range outputs {
		if res[i] = get(o); res[i] == nil {
			return nil, fmt.Errorf("value %q was not computed", o)
		}
	}
	return res, nil
}

// node computes one node. If is computed here because its branches read values from outside.
func (e *evaluator) node(n *onnx.Node, get func(string) *onnxeval.Tensor) ([]*onnxeval.Tensor,
	error) {
	in := make([]*onnxeval.Tensor, len(n.Inputs))
	for i, name := range n.Inputs {
		if name != "" {
			in[i] = get(name)
		}
	}
	if n.Op != "If" {
		return evaluated(n, in, e.opset)
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
	g, own, by := branch.G, map[string]*onnxeval.Tensor{}, map[string]*onnx.Node{}
	for _, w := range g.Initializers {
		t, err := onnxeval.FromONNX(w)
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
	return e.graph(g, by, func(name string) *onnxeval.Tensor {
		if t := own[name]; t != nil || by[name] != nil {
			return t
		}
		return get(name)
	}, outputs)
}
