package mlm_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/mlm/onnx"
)

// integers32 has the inputs of a graph as int32 and with other names.
func integers32(names ...string) func(*onnx.Model) {
	return func(m *onnx.Model) {
		var casts []*onnx.Node
		for i, v := range m.Graph.Inputs {
			casts = append(casts, &onnx.Node{Name: "cast" + v.Name, Op: "Cast", Inputs: []string{names[i]},
				Outputs: []string{v.Name}, Attrs: []*onnx.Attribute{onnx.Attr("to", onnx.Int64)}})
			v.Name, v.Type = names[i], onnx.Int32
		}
		m.Graph.Nodes = append(casts, m.Graph.Nodes...)
	}
}

// renamed has other names for the inputs of a graph.
func renamed(names ...string) func(*onnx.Model) {
	return func(m *onnx.Model) {
		for i, v := range m.Graph.Inputs {
			for _, n := range m.Graph.Nodes {
				for k, in := range n.Inputs {
					if in == v.Name {
						n.Inputs[k] = names[i]
					}
				}
			}
			v.Name = names[i]
		}
	}
}

// then makes two changes.
func then(changes ...func(*onnx.Model)) func(*onnx.Model) {
	return func(m *onnx.Model) {
		for _, c := range changes {
			c(m)
		}
	}
}

// stating has the inputs state sizes that the graph does not need.
func stating(m *onnx.Model) {
	for _, v := range m.Graph.Inputs {
		v.Shape = []onnx.Dim{{Value: 1}, {Value: 16}}
	}
}

// finally puts a node behind the logits.
func finally(op string, attrs ...*onnx.Attribute) func(*onnx.Model) {
	return func(m *onnx.Model) {
		out := m.Graph.Outputs[0]
		m.Graph.Nodes = append(m.Graph.Nodes, &onnx.Node{Name: "last " + op, Op: op,
			Inputs: []string{out.Name}, Outputs: []string{op}, Attrs: attrs})
		out.Name = op
	}
}

// beside gives a graph a second output, one number a text, and the first another name.
func beside(m *onnx.Model) {
	finally("Identity")(m)
	m.Graph.Outputs[0].Name = "prediction_logits"
	m.Graph.Nodes[len(m.Graph.Nodes)-1].Outputs[0] = "prediction_logits"
	hidden := m.Graph.Nodes[len(m.Graph.Nodes)-1].Inputs[0]
	m.Graph.Nodes = append(m.Graph.Nodes, &onnx.Node{Name: "pool", Op: "ReduceMax",
		Inputs: []string{hidden}, Outputs: []string{"seq_relationship_logits"},
		Attrs: []*onnx.Attribute{onnx.Attr("axes", []int64{1}),
			onnx.Attr("keepdims", 0)}})
	m.Graph.Outputs = append(m.Graph.Outputs, &onnx.ValueInfo{Name: "seq_relationship_logits",
		Type: onnx.Float, HasShape: true, Shape: []onnx.Dim{{Param: "batch"}, {Value: 97}}})
}

// Inputs and outputs of other names, types and kinds are used where it is known how: scores are the
// same, gradients are right, and the notes say what was done.
func TestAdapted(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	last := onnx.Attr("axis", -1)
	plain := opened(t, exportFolder(t, "bert", "bert-sdpa-tied"))
	for name, c := range map[string]struct {
		change func(*onnx.Model)
		says   string
	}{
		"int32": {integers32("ids", "mask", "segment_ids"), "input_ids is cast to int32"},
		"TensorFlow": {integers32("serving_default_input_ids:0", "input_mask:0", "token_type_ids:0"),
			"the input input_mask:0 is attention_mask"},
		"names": {renamed("input_word_ids", "input_mask", "input_type_ids"),
			"the input input_word_ids is input_ids"},
		"stated sizes":  {stating, "rows of exactly 16 tokens"},
		"probabilities": {finally("Softmax", last), "probabilities"},
		"logarithms":    {then(finally("Softmax", last), finally("Log")), "probabilities"},
		"LogSoftmax":    {finally("LogSoftmax", last), ""},
		"two outputs":   {beside, "prediction_logits has the logits; seq_relationship_logits left out"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := editedFolder(t, "bert-sdpa-tied", c.change)
			m := opened(t, dir)
			compareFolder(t, m, readTruth(t, "bert"), true)
			sameGradient(t, m, plain)
			says(t, m.Info().Adapted, c.says)
		})
	}
}

// sameGradient compares full gradients of two models of the same function, of which onnxgrad's
// TestModels has checked the second.
func sameGradient(t *testing.T, m, plain *mlm.Model) {
	t.Helper()
	s := &mlm.Sentence{IDs: []int32{2, 10, 11, 12, 13, 3}, Blanks: []int{1, 3, 4}}
	of := func(m *mlm.Model) []float32 {
		lp, g := [][]float32{make([]float32, 3)}, [][]float32{make([]float32, 3*m.VocabSize())}
		if err := m.Gradient(t.Context(), s, [][]int32{{20, 21, 22}}, mlm.Full, lp, g); err != nil {
			t.Fatalf("%v: %s", err, m.Info().NoGradients)
		}
		return append(lp[0], g[0]...)
	}
	got, off := of(m), 0.0
	for i, want := range of(plain) {
		off = math.Max(off, math.Abs(float64(got[i]-want)))
	}
	if !(off < 1e-4) {
		t.Errorf("gradients differ by %g", off)
	}
}

// A file that is not a usable masked language model is refused with the remedy.
func TestInterfacesRefused(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	name := func(name string) func(*onnx.Model) {
		return func(m *onnx.Model) {
			finally("Identity")(m)
			m.Graph.Outputs[0].Name = name
			m.Graph.Nodes[len(m.Graph.Nodes)-1].Outputs[0] = name
		}
	}
	for what, c := range map[string]struct {
		change func(*onnx.Model)
		says   string
	}{
		"base model": {name("last_hidden_state"), "its output is last_hidden_state; it has no head for " +
			"masked words; export it for the task fill-mask"},
		"base model of another name": {func(m *onnx.Model) {
			i := slices.IndexFunc(m.Graph.Nodes, func(n *onnx.Node) bool {
				return n.Op == "MatMul" && strings.Contains(n.Name, "decoder")
			})
			m.Graph.Outputs[0] = &onnx.ValueInfo{Name: m.Graph.Nodes[i].Inputs[0], Type: onnx.Float,
				HasShape: true, Shape: []onnx.Dim{{Param: "batch"}, {Param: "sequence"}, {Value: 24}}}
		}, "its output has the width of its layers, 24; it has no head"},
		"fixed and no mask": {func(m *onnx.Model) {
			stating(m)
			m.Graph.Inputs = slices.DeleteFunc(m.Graph.Inputs,
				func(v *onnx.ValueInfo) bool { return v.Name == "attention_mask" })
			m.Graph.Initializers = append(m.Graph.Initializers,
				onnx.Ints("attention_mask", onnx.Int64, []int64{1, 1}, 1))
		}, "exactly 16 tokens, and without the input attention_mask"},
		"several sizes": {func(m *onnx.Model) {
			stating(m)
			m.Graph.Inputs[1].Shape[1].Value = 32
		}, "dynamic axes"},
		"unknown input": {renamed("input_ids", "attention_mask", "pixels"), `"pixels"`},
	} {
		dir := editedFolder(t, "bert-sdpa-tied", c.change)
		m, err := mlm.OpenDir(t.Context(), dir, mlm.Options{})
		if !errors.Is(err, mlm.ErrNotMasked) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", what, m, err)
		}
		if _, problems := mlm.InspectDir(dir, ""); len(problems) == 0 ||
			!strings.Contains(errors.Join(problems...).Error(), c.says) {
			t.Errorf("%s: %v", what, problems)
		}
	}
}
