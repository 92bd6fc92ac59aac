package onnxgrad

import (
	"fmt"

	"infill/mlm/onnx"
)

// newEmitter writes graphs with the inputs of the file, which are made inputs of graph.
func (d *derivation) newEmitter() *emitter {
	e := &emitter{names: map[*value]string{}, used: map[string]bool{}, sizes: map[string]string{},
		graph: &onnx.Graph{Name: "infill"}}
	for _, v := range d.inputs {
		e.input(v.name, v.typ, "rows", "length")
		e.names[v] = v.name
	}
	return e
}

// input makes an input of the graph.
func (e *emitter) input(name string, t onnx.DataType, shape ...string) {
	e.graph.Inputs = append(e.graph.Inputs, valueInfo(name, t, shape))
	e.used[name] = true
}

// finish makes a model of the graph and checks it.
func (d *derivation) finish(e *emitter, out *Derived, nodes []*onnx.Node) error {
	if e.err != nil {
		return e.err
	}
	e.graph.Nodes = append(e.prelude, nodes...)
	uniqueNames(e.graph, map[string]bool{})
	e.graph.Initializers = e.weights
	for _, v := range e.graph.Inputs {
		out.Inputs = append(out.Inputs, v.Name)
	}
	for _, v := range e.graph.Outputs {
		out.Outputs = append(out.Outputs, v.Name)
	}
	out.Model = &onnx.Model{IRVersion: max(d.irVersion, 7), ProducerName: "infill", Graph: e.graph,
		Opsets: map[string]int64{"": d.opset, onnx.Microsoft: 1}}
	if err := out.Model.Check(); err != nil {
		return fmt.Errorf("the derived graph is not consistent: %w", err)
	}
	d.out = out
	return nil
}

// plain has products written as operators that every runtime knows.
func (d *derivation) plain() error {
	turned := func(out *builder, x *value) *value {
		perm := count(x.shape.rank())
		n := len(perm)
		perm[n-2], perm[n-1] = perm[n-1], perm[n-2]
		return out.transpose(x, perm)
	}
	d.forward.nodes = d.forward.rewritten(d.forward.nodes, func(out *builder, n *node) bool {
		if n.op != "MatMul" || !n.transA && !n.transB && n.alpha == 1 {
			return false
		}
		x, y := n.in[0], n.in[1]
		if n.transA {
			x = turned(out, x)
		}
		if n.transB {
			y = turned(out, y)
		}
		if n.alpha != 1 {
			x = out.mul(x, out.scalar(n.alpha))
		}
		out.add(&node{op: "MatMul", in: []*value{x, y}, alpha: 1, out: n.out})
		return true
	})
	return d.forward.err
}

// emitWhole writes the graph of Options.Whole.
func (d *derivation) emitWhole() error {
	e := d.newEmitter()
	ids := d.inputs[0].name
	e.sources = []sizeSource{{ids, 1, probeLength}, {ids, 0, probeRows}}
	e.graph.Outputs = []*onnx.ValueInfo{floatInfo(outLogits, "rows", "length", "vocabulary")}
	e.names[d.logits], e.used[outLogits] = outLogits, true
	wanted := []*value{d.logits}
	for i, v := range d.largest {
		name := fmt.Sprintf("%s %d", outLargest, i)
		e.names[v], e.used[name] = name, true
		info := &onnx.ValueInfo{Name: name, Type: onnx.Float}
		e.graph.Outputs, wanted = append(e.graph.Outputs, info), append(wanted, v)
	}
	nodes := e.nodes(linear(d.forward, live(d.forward.nodes, wanted...), wanted))
	err := d.finish(e, &Derived{Facts: Facts{Vocabulary: d.logits.shape[0][2],
		Dimension: d.words.shape[0][2], Tied: d.tied}, Watched: d.watched, Forward: len(nodes)}, nodes)
	if err == nil {
		delete(d.out.Model.Opsets, onnx.Microsoft)
	}
	return err
}
