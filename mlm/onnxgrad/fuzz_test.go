package onnxgrad

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/mlm/onnx"
)

// tryDerive derives whatever the reader accepts. Nothing may panic, and what is derived must pass
// Check.
func tryDerive(t *testing.T, data []byte) {
	m, err := onnx.Parse(data, "", nil)
	if err != nil || m.Check() != nil {
		return
	}
	d, err := Derive(m, Options{})
	if errors.Is(err, errInternal) {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	if err := d.Model.Check(); err != nil {
		t.Fatalf("derived graph: %v", err)
	}
}

func seeds(tb testing.TB) [][]byte {
	files, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no fixtures: %v", err)
	}
	var out [][]byte
	for _, f := range files {
		if strings.Contains(f, "external") {
			continue // its weights are elsewhere
		}
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func FuzzDerive(f *testing.F) {
	b, err := miniature().Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(tryDerive)
}

// TestMutatedGraphs damages the graphs rather than the bytes: operators, inputs, attributes and
// constants change places, which gets further into the derivation than flipped bits do.
func TestMutatedGraphs(t *testing.T) {
	t.Parallel()
	all := seeds(t)
	r := rand.New(rand.NewPCG(7, 7))
	derived := 0
	for range 200 {
		m, err := onnx.Parse(all[r.IntN(len(all))], "", nil)
		if err != nil {
			t.Fatal(err)
		}
		nodes := m.Graph.Nodes
		pick := func() *onnx.Node { return nodes[r.IntN(len(nodes))] }
		for range 1 + r.IntN(2) {
			a, b := pick(), pick()
			switch r.IntN(6) {
			case 0:
				a.Op = b.Op
			case 1:
				if len(a.Inputs) > 0 && len(b.Inputs) > 0 {
					a.Inputs[r.IntN(len(a.Inputs))] = b.Inputs[r.IntN(len(b.Inputs))]
				}
			case 2:
				a.Attrs = b.Attrs
			case 3:
				if len(a.Inputs) > 0 {
					a.Inputs = a.Inputs[:len(a.Inputs)-1]
				}
			case 4:
				if w := m.Graph.Initializers[r.IntN(len(m.Graph.Initializers))]; len(w.Dims) == 2 {
					w.Dims = []int64{w.Dims[1], w.Dims[0]}
				}
			case 5:
				if at := a.Attrs; len(at) > 0 {
					at[0].I, at[0].Ints = r.Int64N(9)-4, []int64{r.Int64N(9) - 4}
				}
			}
		}
		if m.Check() != nil {
			continue
		}
		d, err := Derive(m, Options{})
		if errors.Is(err, errInternal) {
			t.Error(err)
		}
		if err != nil {
			continue
		}
		derived++
		if err := d.Model.Check(); err != nil {
			t.Fatalf("derived graph: %v", err)
		}
	}
	t.Logf("%d of 200 mutants were still derived", derived)
}

// miniature is a masked language model of a kilobyte, small enough to be mutated byte by byte: a
// lookup, one head of attention, Gelu, a head.
func miniature() *onnx.Model {
	node := func(op, out string, in ...string) *onnx.Node {
		return &onnx.Node{Name: out, Op: op, Inputs: in, Outputs: []string{out}}
	}
	w := make([]float32, 15)
	for i := range w {
		w[i] = float32(i*i%7) - 2.5
	}
	softmax := node("Softmax", "p", "s")
	softmax.Attrs = []*onnx.Attribute{onnx.Attr("axis", -1)}
	turn := node("Transpose", "k", "x")
	turn.Attrs = []*onnx.Attribute{onnx.Attr("perm", []int64{0, 2, 1})}
	grid := []onnx.Dim{{Param: "batch", Value: -1}, {Param: "sequence", Value: -1}}
	return &onnx.Model{IRVersion: 8, Opsets: map[string]int64{"": 17}, Graph: &onnx.Graph{
		Name: "miniature",
		Inputs: []*onnx.ValueInfo{{Name: "input_ids", Type: onnx.Int64, HasShape: true,
			Shape: grid}},
		Initializers: []*onnx.Tensor{onnx.Floats("E", []int64{5, 3}, w...),
			onnx.Floats("W", []int64{3, 5}, w...), onnx.Floats("b", []int64{5}, w[:5]...),
			onnx.Floats("g", []int64{3}, 0.3, 0.5, 0.4), onnx.Floats("root2", nil,
				1.4142135), onnx.Floats("one", nil, 1), onnx.Floats("half", nil, 0.5)},
		Nodes: []*onnx.Node{node("Gather", "e", "E", "input_ids"),
			node("LayerNormalization", "x", "e", "g", "g"), turn, node("MatMul", "s", "x",
				"k"), softmax,
			node("MatMul", "c", "p", "x"), node("Add", "r", "c", "x"), node("Div", "u", "r",
				"root2"), node("Erf", "f", "u"), node("Add", "q", "f", "one"),
			node("Mul", "h", "r", "q"), node("Mul", "y", "h", "half"), node("MatMul", "z", "y",
				"W"), node("Add", "logits", "z", "b")},
		Outputs: []*onnx.ValueInfo{{Name: "logits", Type: onnx.Float}},
	}}
}

// TestMiniature: the seed of the fuzz target is derived whole.
func TestMiniature(t *testing.T) {
	t.Parallel()
	m := miniature()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	checkByDifferences(t, m, []int64{1, 2, 3, 4, 3}, []int{1, 3}, 0, 5)
}
