package mlm

import (
	"bytes"
	"slices"
	"testing"

	"infill/internal/ort/orttest"
	"infill/mlm/internal/export"
	"infill/mlm/onnx"
)

// Whatever form the weights of a product have in the file, the product with unsigned ones is exact.
func TestUnsignedWeights(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	for _, c := range []struct {
		name string
		form func(m *onnx.Model, want []int32)
	}{
		{"as it is", func(*onnx.Model, []int32) {}},
		{"a zero point for each column", func(m *onnx.Model, want []int32) {
			zeros := make([]byte, len(want))
			for i := range zeros {
				z := int8(i - 20)
				zeros[i] = byte(z)
				want[i] -= 255 * probeDepth * int32(z)
			}
			m.Graph.Initializers = append(m.Graph.Initializers,
				onnx.NewTensor("z", onnx.Int8, []int64{int64(len(zeros))}, zeros))
			m.Graph.Nodes[0].Inputs = append(m.Graph.Nodes[0].Inputs, "", "z")
		}},
		{"weights made by a node", func(m *onnx.Model, _ []int32) {
			w := m.Graph.Initializers[0]
			m.Graph.Initializers = nil
			m.Graph.Nodes = slices.Insert(m.Graph.Nodes, 0, &onnx.Node{Name: "w", Op: "Constant",
				Outputs: []string{"w"},
				Attrs:   []*onnx.Attribute{onnx.Attr("value", w)}})
		}},
		{"floats between integers", func(m *onnx.Model, _ []int32) { between(m, "zero") }},
		{"floats between integers, no zero point", func(m *onnx.Model, _ []int32) { between(m) }},
		{"in a branch", func(m *onnx.Model, _ []int32) {
			n := m.Graph.Nodes[0]
			branch := func(name string) *onnx.Attribute {
				inner := *n
				inner.Name, inner.Outputs = name, []string{name}
				out := *m.Graph.Outputs[0]
				out.Name = name
				return onnx.Attr(name+"_branch", &onnx.Graph{Name: name, Nodes: []*onnx.Node{&inner},
					Outputs: []*onnx.ValueInfo{&out}})
			}
			m.Graph.Initializers = append(m.Graph.Initializers,
				onnx.NewTensor("yes", onnx.Bool, nil, []byte{1}))
			m.Graph.Nodes[0] = &onnx.Node{Name: "if", Op: "If", Inputs: []string{"yes"},
				Outputs: n.Outputs,
				Attrs:   []*onnx.Attribute{branch("then"), branch("else")}}
		}},
	} {
		m, want := largest(onnx.Int8)
		c.form(m, want)
		before := marshalled(t, m)
		u, err := export.Of(m).UnsignedWeights()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !bytes.Equal(before, marshalled(t, m)) {
			t.Errorf("%s: the model was changed", c.name)
		}
		if wrong, err := probe(u, want); wrong || err != nil {
			t.Errorf("%s: wrong %v, %v", c.name, wrong, err)
		}
		for _, w := range u.Graph.Initializers {
			if w.Type == onnx.Int8 && w.Name != "zero" {
				t.Errorf("%s: %s is signed", c.name, w.Name)
			}
		}
	}
}

// between writes the product of largest on floats, between integers, as some quantisers do: the
// scale of the weights is 1 for each column, and the zero point, if there is to be one, 0.
func between(m *onnx.Model, zero ...string) {
	g, columns := m.Graph, m.Graph.Initializers[0].Dims[1]
	ones := slices.Repeat([]float32{1}, int(columns))
	g.Initializers = append(g.Initializers, onnx.Floats("one", nil, 1),
		onnx.NewTensor("none", onnx.Uint8, nil, []byte{0}),
		onnx.Floats("ones", []int64{columns}, ones...),
		onnx.NewTensor("zero", onnx.Int8, []int64{columns}, make([]byte, columns)))
	number := func(name string, i int64) []*onnx.Attribute {
		return []*onnx.Attribute{onnx.Attr(name, i)}
	}
	g.Nodes = []*onnx.Node{
		{Name: "x", Op: "DequantizeLinear", Inputs: []string{"x", "one", "none"},
			Outputs: []string{"xf"}},
		{Name: "w", Op: "DequantizeLinear", Inputs: append([]string{"w", "ones"}, zero...),
			Outputs: []string{"wf"}, Attrs: number("axis", 1)},
		{Name: "product", Op: "MatMul", Inputs: []string{"xf", "wf"}, Outputs: []string{"yf"}},
		{Name: "y", Op: "Cast", Inputs: []string{"yf"}, Outputs: []string{"y"},
			Attrs: number("to", int64(onnx.Int32))}}
}

// What is not a stored signed weight stays as it is.
func TestUnsignedLeavesOthers(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]func(m *onnx.Model){
		"unsigned weights": func(m *onnx.Model) {
			w := m.Graph.Initializers[0]
			data, err := w.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			m.Graph.Initializers[0] = onnx.NewTensor("w", onnx.Uint8, w.Dims, data)
		},
		"signed activations": func(m *onnx.Model) {
			m.Graph.Initializers = append(m.Graph.Initializers,
				onnx.NewTensor("a", onnx.Int8, nil, []byte{3}))
			m.Graph.Nodes[0].Inputs = append(m.Graph.Nodes[0].Inputs, "a")
		},
		"a computed zero point": func(m *onnx.Model) {
			m.Graph.Nodes[0].Inputs = append(m.Graph.Nodes[0].Inputs, "", "computed")
		},
		"another operator": func(m *onnx.Model) { m.Graph.Nodes[0].Op = "MatMul" },
	} {
		m, _ := largest(onnx.Int8)
		form(m)
		u, err := export.Of(m).UnsignedWeights()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(marshalled(t, m), marshalled(t, u)) {
			t.Errorf("%s: the model was changed", name)
		}
	}
}

func marshalled(t *testing.T, m *onnx.Model) []byte {
	t.Helper()
	b, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
