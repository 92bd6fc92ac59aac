package onnxgrad

import (
	"slices"
	"testing"

	"infill/internal/ort"
	"infill/mlm/onnx"
)

// TestIntegersAgainstTorch: a backward pass in 8-bit integers gives torch's second term to a few
// hundredths, for every fixture, and for one whose weights were all made by constant folding.
func TestIntegersAgainstTorch(t *testing.T) {
	t.Parallel()
	folded := named(t, "bert-eager-tied")
	folded.name, folded.model = "every matrix transposed", transposedWeights(t, folded.model)
	for _, f := range append(slices.Clone(fixtures(t)), folded) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			// Signed weights give the same bits, but not on every processor.
			d, err := Derive(f.model, Options{Int8: true, Unsigned: true})
			if f.model.Opset("") < 13 {
				if err == nil {
					t.Error("derived without the operators of opset 13")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s := open(t, d, ort.Config{})
			for i, c := range f.Calls {
				if c["blanks"].Shape[1] == 1 {
					continue
				}
				r := s.run(t, c, true, true)
				if off := relative(second(c, r.gradient, r.conditional)); !(off < 0.1) ||
					off < 1e-4 {
					t.Errorf("call %d: the second term is off by %.2g", i, off)
				}
				if off := relative(r.logProb, c["log_prob"].Data); !(off < f.tolerance(1e-5)) {
					t.Errorf("call %d: log f is off by %.2g", i, off)
				}
			}
		})
	}
}

// TestUnsignedIsShifted: unsigned graphs differ from signed ones in nothing but integers that are
// 128 larger, with zero points to match.
func TestUnsignedIsShifted(t *testing.T) {
	t.Parallel()
	m := named(t, "bert-eager-tied").model
	var stored [2][]*onnx.Tensor
	var products [2][]*onnx.Node
	for i := range stored {
		d, err := Derive(m, Options{Int8: true, Unsigned: i == 1})
		if err != nil {
			t.Fatal(err)
		}
		stored[i] = d.Model.Graph.Initializers
		for _, n := range d.Model.Graph.Nodes {
			for _, a := range n.Attrs {
				if a.G == nil {
					continue
				}
				for _, n := range a.G.Nodes {
					if n.Op == "MatMulIntegerToFloat" {
						products[i] = append(products[i], n)
					}
				}
			}
		}
	}
	if len(stored[0]) != len(stored[1]) || len(products[0]) == 0 ||
		len(products[0]) != len(products[1]) {
		t.Fatalf("%d and %d tensors, %d and %d products", len(stored[0]), len(stored[1]),
			len(products[0]), len(products[1]))
	}
	shifted := 0
	for i, s := range stored[0] {
		u := stored[1][i]
		a, errA := s.Bytes()
		b, errB := u.Bytes()
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if s.Type == onnx.Int8 {
			shifted++
			b = slices.Clone(b)
			for k := range b {
				b[k] -= 128
			}
		}
		if s.Name != u.Name || !slices.Equal(a, b) || (s.Type == onnx.Int8) != (s.Type != u.Type) {
			t.Errorf("%s, %v, became %s, %v", s.Name, s.Type, u.Name, u.Type)
		}
	}
	if shifted == 0 {
		t.Error("no weights are in integers")
	}
	for i, n := range products[0] {
		in := products[1][i].Inputs
		if len(n.Inputs) != 5 || !slices.Equal(in, append(slices.Clone(n.Inputs), n.Inputs[4])) {
			t.Errorf("%v reads %q, and %q with unsigned weights", n, n.Inputs, in)
		}
	}
}

// transposedWeights stores the matrices that products read the other way round and turns them back
// in the graph, as exports without constant folding do.
func transposedWeights(t *testing.T, m *onnx.Model) *onnx.Model {
	t.Helper()
	out, g := *m, *m.Graph
	out.Graph, g.Nodes = &g, nil
	turned := map[string]bool{}
	for _, n := range m.Graph.Nodes {
		if n.Op == "MatMul" {
			turned[n.Inputs[1]] = true
		}
	}
	g.Initializers = nil
	for _, w := range m.Graph.Initializers {
		if !turned[w.Name] || len(w.Dims) != 2 {
			g.Initializers = append(g.Initializers, w)
			continue
		}
		v, err := w.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		rows, cols := int(w.Dims[0]), int(w.Dims[1])
		data := make([]float32, len(v))
		for r := range rows {
			for c := range cols {
				data[c*rows+r] = float32(v[r*cols+c])
			}
		}
		back := w.Name + "/turned"
		g.Initializers = append(g.Initializers,
			onnx.Floats(back, []int64{w.Dims[1], w.Dims[0]}, data...))
		g.Nodes = append(g.Nodes, &onnx.Node{Name: back, Op: "Transpose", Inputs: []string{back},
			Outputs: []string{w.Name},
			Attrs:   []*onnx.Attribute{intsAttr("perm", 1, 0)}})
	}
	if len(g.Nodes) == 0 {
		t.Fatal("no matrix is read by a product")
	}
	g.Nodes = append(g.Nodes, m.Graph.Nodes...)
	return &out
}
