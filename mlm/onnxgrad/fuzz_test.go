package onnxgrad

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"infill/mlm/onnx"
)

// tryDerive derives whatever the reader accepts. Nothing may panic, and what is derived must pass Check.
func tryDerive(t *testing.T, data []byte) {
	m, err := onnx.Parse(data, "", nil)
	if err != nil || onnx.Check(m) != nil {
		return
	}
	d, err := Derive(m, Options{})
	if errors.Is(err, errInternal) {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	if err := onnx.Check(d.Model); err != nil {
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
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

func FuzzDerive(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(tryDerive)
}

// TestMutatedGraphs damages the graphs rather than the bytes: operators, inputs, attributes and constants
// change places, which gets further into the derivation than flipped bits do.
func TestMutatedGraphs(t *testing.T) {
	all := seeds(t)
	r := rand.New(rand.NewPCG(7, 7))
	derived := 0
	for range 1500 {
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
		if onnx.Check(m) != nil {
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
		if err := onnx.Check(d.Model); err != nil {
			t.Fatalf("derived graph: %v", err)
		}
	}
	t.Logf("%d of 1500 mutants were still derived", derived)
}
