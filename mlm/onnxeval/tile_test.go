package onnxeval

import (
	"slices"
	"testing"

	"infill/mlm/onnx"
)

// A split has as many parts as outputs, however many its attribute says.
func TestSplitIntoTooMany(t *testing.T) {
	t.Parallel()
	n := &onnx.Node{Op: "Split", Inputs: []string{"x"}, Outputs: []string{"y"},
		Attrs: []*onnx.Attribute{onnx.Attr("num_outputs", 1<<40)}}
	x := &Tensor{Type: onnx.Int64, Shape: []int{1}, I: []int64{7}}
	if got, err := split(&Call{Node: n, In: []*Tensor{x}}); err == nil {
		t.Errorf("%d parts", len(got))
	}
}

// Repeats of nothing are nothing, whatever their number.
func TestTileOfNothing(t *testing.T) {
	t.Parallel()
	n := &onnx.Node{Op: "Tile", Inputs: []string{"x", "k"}, Outputs: []string{"y"}}
	x := &Tensor{Type: onnx.Float, Shape: []int{0, 2}}
	k := &Tensor{Type: onnx.Int64, Shape: []int{2}, I: []int64{1 << 31, 3}}
	got, err := tile(&Call{Node: n, In: []*Tensor{x, k}})
	if err != nil || len(got) != 1 || !slices.Equal(got[0].Shape, []int{0, 6}) {
		t.Errorf("%+v, %v", got, err)
	}
}
