package onnxgrad

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"infill/mlm/onnx"
)

// narrowed stores every matrix of a model as float16 followed by a Cast, as compact model files do.
func narrowed(t *testing.T, m *onnx.Model) *onnx.Model {
	t.Helper()
	var casts []*onnx.Node
	for i, w := range m.Graph.Initializers {
		if w.Type != onnx.Float || len(w.Dims) != 2 {
			continue
		}
		v, err := w.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		var half []byte
		for _, x := range v {
			half = binary.LittleEndian.AppendUint16(half, toHalf(float32(x)))
		}
		m.Graph.Initializers[i] = onnx.NewTensor(w.Name+".half", onnx.Float16, w.Dims, half)
		casts = append(casts, &onnx.Node{Name: w.Name + "/Cast", Op: "Cast",
			Inputs: []string{w.Name + ".half"}, Outputs: []string{w.Name},
			Attrs: []*onnx.Attribute{onnx.Attr("to", onnx.Float)}})
	}
	m.Graph.Nodes = append(casts, m.Graph.Nodes...)
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return m
}

// toHalf cuts a normal float32 of moderate size down to half precision.
func toHalf(x float32) uint16 {
	b := math.Float32bits(x)
	e := int(b>>23&0xff) - 112
	if e <= 0 {
		return uint16(b >> 31 << 15)
	}
	return uint16(b>>31<<15) | uint16(e)<<10 | uint16(b>>13&0x3ff)
}

// TestNarrowComputation: files that compute in float16 or bfloat16 are evaluated in float32, and
// their energies and gradients follow the file's own function as exactly as in other files.
func TestNarrowComputation(t *testing.T) {
	t.Parallel()
	done := 0
	for _, f := range fixtures(t) {
		if !strings.Contains(f.name, "float16") {
			continue
		}
		done++
		t.Run(f.name, func(t *testing.T) {
			if wide := Widen(f.model); wide == f.model != strings.HasSuffix(f.name, "-weights") ||
				Widen(wide) != wide {
				t.Errorf("widened: %v", wide != f.model)
			} else if err := wide.Check(); err != nil {
				t.Error(err)
			}
			checkByDifferences(t, f.model, []int64{2, 7, 24, 43, 10, 7, 36, 20, 3}, []int{2, 6}, 4,
				12)
		})
	}
	if done < 7 {
		t.Errorf("%d fixtures of narrow numbers", done)
	}
}

// TestFloat16Weights: weights that are cast when the model is loaded, in the backward pass too.
func TestFloat16Weights(t *testing.T) {
	t.Parallel()
	m := narrowed(t, loadModel(t, "../testdata/tiny-bert/model.onnx"))
	d := derive(t, m)
	if !d.Tied {
		t.Error("the narrowed head was not recognised as the embedding table")
	}
	checkByDifferences(t, m, []int64{2, 7, 24, 43, 10, 7, 36, 20, 3}, []int{2, 6}, 4, 12)
}
