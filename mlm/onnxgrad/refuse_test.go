package onnxgrad

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"infill/mlm/onnx"
)

// TestRefusals breaks a good model in one way at a time.
func TestRefusals(t *testing.T) {
	t.Parallel()
	find := func(m *onnx.Model, op string) *onnx.Node {
		i := slices.IndexFunc(m.Graph.Nodes, func(n *onnx.Node) bool { return n.Op == op })
		return m.Graph.Nodes[i]
	}
	for name, c := range map[string]struct {
		change func(m *onnx.Model)
		err    error
		say    string
	}{
		"unknown operator": {func(m *onnx.Model) { find(m, "Erf").Op = "Fancy" }, errShape,
			`Fancy in node "/model/bert/encoder/layer.0/intermediate`},
		"no derivative": {func(m *onnx.Model) {
			n := find(m, "Softmax")
			m.Graph.Nodes = slices.Insert(m.Graph.Nodes, slices.Index(m.Graph.Nodes, n),
				&onnx.Node{Name: "up", Op: "Ceil", Inputs: n.Inputs[:1],
					Outputs: []string{"rounded"}})
			n.Inputs = []string{"rounded"}
		}, errUnsupportedOp, `Ceil in node "up"`},
		"endless range": {func(m *onnx.Model) {
			m.Graph.Initializers = append(m.Graph.Initializers, onnx.Ints("from", onnx.Int64, nil, 0),
				onnx.Ints("to", onnx.Int64, nil, 1<<50), onnx.Ints("by", onnx.Int64, nil, 1))
			m.Graph.Nodes = append(m.Graph.Nodes,
				&onnx.Node{Name: "long", Op: "Range", Inputs: []string{"from", "to", "by"},
					Outputs: []string{"numbers"}})
		}, errShape, `Range in node "long"`},
		"a convolution over as many places": {func(m *onnx.Model) {
			m.Graph.Initializers = append(m.Graph.Initializers, onnx.Floats("row", []int64{1, 1, 2}, 1, 2),
				onnx.NewTensor("taps", onnx.Float, []int64{0, 1, 1 << 40}, nil))
			m.Graph.Nodes = append(m.Graph.Nodes,
				&onnx.Node{Name: "far", Op: "Conv", Inputs: []string{"row", "taps"}, Outputs: []string{"b"}})
		}, errUnsupportedOp, "at most 1024"},
		"no logits": {func(m *onnx.Model) {
			m.Graph.Outputs[0].Name = find(m,
				"Cast").Outputs[0]
		}, errOutputs, "shape"},
		"other input": {func(m *onnx.Model) { m.Graph.Inputs[0].Name = "pixels" }, errInputs,
			`"pixels"`},
		"fixed length": {func(m *onnx.Model) { m.Graph.Inputs[0].Shape[1] = onnx.Dim{Value: 16} },
			errInputs, "dynamic axes"},
		"float input": {func(m *onnx.Model) { m.Graph.Inputs[0].Type = onnx.Float }, errInputs,
			"float32"},
		"old opset": {func(m *onnx.Model) { m.Opsets[""] = 11 }, errUnsupportedOp,
			"opset 14 or later"},
		"no table": {func(m *onnx.Model) {
			find(m, "Shape").Inputs[0] = "token_type_ids"
			embeddingOf(m).Inputs[1] = "token_type_ids"
		}, errEmbedding, "input_ids"},
		"softmax axis": {func(m *onnx.Model) { find(m, "Softmax").Attrs[0].I = 1 },
			errUnsupportedOp, "last axis"},
	} {
		m := loadModel(t, "testdata/bert-eager-tied.onnx")
		c.change(m)
		_, err := Derive(m, Options{})
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
		var op *Error
		if c.err == errUnsupportedOp && name == "no derivative" &&
			(!errors.As(err, &op) || op.Node != "up") {
			t.Errorf("%s: the error does not name the node: %v", name, err)
		}
	}
}

// Long contents are followed until follow is used up, short ones always, and shapes are found with
// both: a small file of many long ranges cannot ask for any memory.
func TestFollowedContents(t *testing.T) {
	t.Parallel()
	numbers := func(length int64, follow *int) *value {
		b := newBuilder(17)
		n := &node{op: "Range", in: []*value{b.ints(0), b.ints(length), b.ints(1)}, out: []*value{{}}}
		for i := range n.in { // bounds are scalars
			n.in[i].shape = shapeOf()
			for p := range probes {
				n.in[i].known[p].Shape = nil
			}
		}
		if err := infer(n, 17, follow); err != nil {
			t.Fatal(err)
		}
		return n.out[0]
	}
	follow := 3 * maxKnown
	for i, want := range []int{2, 1, 0} { // of the two probes
		v, followed := numbers(maxKnown, &follow), 0
		for p := range probes {
			if v.known[p] != nil {
				followed++
			}
		}
		if followed != want || v.shape.at(0) != [probes]int{maxKnown, maxKnown} {
			t.Errorf("range %d: followed at %d probes, want %d; shape %v", i, followed, want, v.shape)
		}
	}
	if v := numbers(smallKnown, &follow); follow != 0 || v.known[0] == nil || v.known[1] == nil {
		t.Error("a short range is not followed")
	}
}

func embeddingOf(m *onnx.Model) *onnx.Node {
	for _, n := range m.Graph.Nodes {
		if n.Op == "Gather" && strings.Contains(n.Inputs[0], "word_embeddings") {
			return n
		}
	}
	return nil
}

// TestForwardOnly: a model that cannot be differentiated still gives energies.
func TestForwardOnly(t *testing.T) {
	t.Parallel()
	m := loadModel(t, "testdata/bert-eager-tied.onnx")
	d, err := Derive(m, Options{ForwardOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if d.Gradient || slices.Contains(d.Inputs, inGradient) || len(d.Model.Graph.Outputs) != 3 ||
		d.Backward != 0 {
		t.Errorf("forward-only graph with inputs %v and %d outputs", d.Inputs,
			len(d.Model.Graph.Outputs))
	}
}

// TestRecognised looks at what Derive says about the fixtures, and that nothing is computed twice
// or at more positions than needed.
func TestRecognised(t *testing.T) {
	t.Parallel()
	for name, tied := range map[string]bool{"bert-eager-tied": true, "bert-sdpa-tied": true,
		"bert-tanh": true, "bert-untied": false} {
		m := loadModel(t, "testdata/"+name+".onnx")
		d, err := Derive(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Tied != tied || d.Vocabulary != 97 || d.Dimension != 24 ||
			d.Embedding != "model.bert.embeddings.word_embeddings.weight" || !d.Gradient {
			t.Errorf("%s: %+v", name, d)
		}
		tables := 0
		for _, w := range d.Model.Graph.Initializers {
			if w.Len() == 97*24 {
				tables++
			}
		}
		if want := map[bool]int{true: 1, false: 2}[tied]; tables != want {
			t.Errorf("%s: %d matrices of the size of the vocabulary, want %d", name, tables, want)
		}
		gathers := 0
		for _, n := range d.Model.Graph.Nodes {
			if n.Op == "GatherND" && strings.Contains(n.Name, "layer.1") {
				gathers++
			}
		}
		if gathers == 0 {
			t.Errorf("%s: the gather of the blanks did not reach the last layer", name)
		}
	}
}
