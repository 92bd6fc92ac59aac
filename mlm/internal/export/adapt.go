package export

import (
	"fmt"
	"slices"
	"strings"

	"infill/mlm/onnx"
	"infill/mlm/onnxgrad"
)

// Adapted gives a graph the interface that the rest of the program knows: inputs of type int64 with
// the usual names, and logits as the output. Other inputs are given numbers, each in every place.
// done says what was changed, for people. m is not changed, and is returned itself if there is
// nothing to do.
func (m Exported) Adapted(given map[string]float64) (out *onnx.Model, done []string) {
	a := adapter{m: m.Model}
	a.output()
	a.softmax()
	a.inputs()
	a.constants(given)
	return a.m, a.done
}

// WithUsualInputs does it for the inputs alone.
func (m Exported) WithUsualInputs() *onnx.Model {
	a := adapter{m: m.Model}
	a.inputs()
	a.constants(nil)
	return a.m
}

type adapter struct {
	m    *onnx.Model
	done []string
	own  bool // m is a copy
}

func (a *adapter) note(format string, args ...any) {
	a.done = append(a.done, fmt.Sprintf(format, args...))
}

// graph returns the graph of the copy, which the first call makes.
func (a *adapter) graph() *onnx.Graph {
	if !a.own {
		a.m, a.own = a.m.Clone(), true
	}
	return a.m.Graph
}

// headless are names of outputs that a model without a head for masked words has.
var headless = []string{"last_hidden_state", "hidden_states", "token_embeddings", "pooler_output",
	"sentence_embedding"}

// predicting are parts of names that outputs over the vocabulary have.
var predicting = []string{"logits", "prediction", "scores", "mlm", "lm_head"}

// output leaves of several outputs the one over the vocabulary, if none is called logits. Beside it
// may be others by their shapes: a vector or a few numbers of a text.
func (a *adapter) output() {
	outputs := a.m.Graph.Outputs
	if len(outputs) < 2 || slices.ContainsFunc(outputs,
		func(v *onnx.ValueInfo) bool { return v.Name == "logits" }) {
		return
	}
	words := slices.DeleteFunc(slices.Clone(outputs), func(v *onnx.ValueInfo) bool {
		return v.Type != onnx.Float || v.HasShape && len(v.Shape) != 3
	})
	if named := slices.DeleteFunc(slices.Clone(words), func(v *onnx.ValueInfo) bool {
		own := strings.ToLower(v.Name[strings.LastIndex(v.Name, "/")+1:]) // not that of its layers
		weight := slices.ContainsFunc(a.m.Graph.Initializers,
			func(t *onnx.Tensor) bool { return t.Name == v.Name })
		return weight || !slices.ContainsFunc(predicting,
			func(part string) bool { return strings.Contains(own, part) })
	}); len(named) > 0 {
		words = named
	}
	if len(words) != 1 {
		return
	}
	var others []string
	for _, v := range outputs {
		if v != words[0] {
			others = append(others, v.Name)
		}
	}
	g := a.graph()
	g.Outputs = words
	prune(g)
	a.note("the output %s has the logits; %s left out", words[0].Name, strings.Join(others, ", "))
}

// prune removes the nodes that no output needs.
func prune(g *onnx.Graph) {
	needed := map[string]bool{}
	for _, v := range g.Outputs {
		needed[v.Name] = true
	}
	var kept []*onnx.Node // last first
	for _, n := range slices.Backward(g.Nodes) {
		if slices.ContainsFunc(n.Outputs, func(o string) bool { return needed[o] }) {
			kept = append(kept, n)
			n.Uses(func(in string) { needed[in] = true })
		}
	}
	slices.Reverse(kept)
	g.Nodes = kept
}

// softmax takes the softmax off an output of probabilities or their logarithms: log f is the same.
func (a *adapter) softmax() {
	out := logits(a.m)
	if out == nil || out.HasShape && len(out.Shape) != 3 {
		return
	}
	producer := newSources(a.m).producer
	name := out.Name
	for {
		n := producer[name]
		if n == nil || len(n.Inputs) == 0 {
			return
		}
		name = n.Inputs[0]
		switch n.Op {
		case "Identity", "Log":
			continue
		case "Cast":
			if onnx.DataType(n.Int("to", 0)) == onnx.Float {
				continue
			}
			return
		case "Softmax":
		default:
			return
		}
		// Up to opset 12 the axis is the first of several, 1 where it is not given.
		last := int64(-1)
		if a.m.Opsets[""] < 13 {
			last = 1
		}
		if axis := n.Int("axis", last); axis != -1 && axis != 2 {
			return
		}
		values := *out
		values.Name = name
		g := a.graph()
		g.Outputs = []*onnx.ValueInfo{&values}
		prune(g)
		a.note("the output %s has probabilities; its logits are the input of %s", out.Name, n)
		return
	}
}

// inputNames are other names of the inputs, as exporters and converters write them, in lower case.
var inputNames = map[string]string{
	"ids": "input_ids", "input_word_ids": "input_ids", "word_ids": "input_ids",
	"token_ids": "input_ids",
	"mask":      "attention_mask", "input_mask": "attention_mask", "attention_masks": "attention_mask",
	"segment_ids": "token_type_ids", "input_type_ids": "token_type_ids", "type_ids": "token_type_ids",
	"segment_id": "token_type_ids", "token_types": "token_type_ids",
	"position": "position_ids", "positions": "position_ids",
}

// usualName is the usual name of an input, its own if there is none. TensorFlow's names have a
// number behind them and at times a signature before.
func usualName(name string) string {
	short, _, _ := strings.Cut(strings.ToLower(name), ":")
	short = short[strings.LastIndex(short, "/")+1:]
	short = strings.TrimPrefix(short, "serving_default_")
	if slices.Contains(onnxgrad.Inputs(), short) {
		return short
	}
	if usual := inputNames[short]; usual != "" {
		return usual
	}
	return name
}

// valueNames are the names of a graph's values, and of those in its subgraphs: false for those that
// its nodes compute for themselves.
func valueNames(m *onnx.Model) map[string]bool {
	names := map[string]bool{}
	m.Graph.Each(func(g *onnx.Graph) {
		for _, n := range g.Nodes {
			for _, o := range n.Outputs {
				names[o] = false
			}
		}
	})
	m.Graph.Each(func(g *onnx.Graph) {
		for _, t := range g.Initializers {
			names[t.Name] = true
		}
		for _, v := range slices.Concat(g.Inputs, g.Outputs) {
			names[v.Name] = true
		}
	})
	return names
}

// inputs gives the inputs their usual names, and casts to the type that the graph has for one.
func (a *adapter) inputs() {
	names, instead := valueNames(a.m), map[string]string{}
	fresh := func(name string) string {
		for _, taken := names[name]; taken; _, taken = names[name] {
			name += "'"
		}
		names[name] = true
		return name
	}
	stored := newSources(a.m).stored
	var casts []*onnx.Node
	for i, v := range a.m.Graph.Inputs {
		own, typ, usual := v.Name, v.Type, usualName(v.Name)
		if stored[own] != nil || usual != own && names[usual] {
			continue
		}
		cast := typ == onnx.Int32 || usual == "attention_mask" &&
			(typ == onnx.Float || typ == onnx.Bool)
		if usual == own && !cast {
			continue
		}
		if usual != own {
			if _, computed := names[usual]; computed { // such as the input cast to int64
				instead[usual] = fresh(usual + "/computed")
			}
			names[usual], instead[own] = true, usual
			a.note("the input %s is %s", own, usual)
		}
		input := a.graph().Inputs[i]
		input.Name = usual
		if cast {
			inner := fresh(usual + "/" + typ.String())
			instead[own] = inner
			casts = append(casts, &onnx.Node{Name: inner, Op: "Cast", Inputs: []string{usual},
				Outputs: []string{inner}, Attrs: []*onnx.Attribute{onnx.Attr("to", typ)}})
			input.Type = onnx.Int64
			a.note("%s is cast to %v", usual, typ)
		}
	}
	if len(instead) > 0 {
		g := a.graph()
		rename(g, instead)
		g.Nodes = append(casts, g.Nodes...)
		g.ValueInfo = slices.DeleteFunc(g.ValueInfo,
			func(v *onnx.ValueInfo) bool { return instead[v.Name] != "" })
	}
}

// rename gives some values that nodes read and compute other names, in subgraphs, too.
func rename(g *onnx.Graph, names map[string]string) {
	name := func(of *string) {
		if to, ok := names[*of]; ok {
			*of = to
		}
	}
	g.Each(func(sub *onnx.Graph) {
		for _, n := range sub.Nodes {
			for i := range n.Inputs {
				name(&n.Inputs[i])
			}
			for i := range n.Outputs {
				name(&n.Outputs[i])
			}
		}
		for _, v := range sub.Outputs {
			if sub != g {
				name(&v.Name)
			}
		}
	})
}
