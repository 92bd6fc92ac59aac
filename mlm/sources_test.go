package mlm

import (
	"testing"

	"infill/mlm/internal/export"
	"infill/mlm/onnx"
)

// An output without a name is none. As the producer of inputs that are left out it made circles.
func TestHeadOfUnnamedValues(t *testing.T) {
	t.Parallel()
	m := &onnx.Model{Graph: &onnx.Graph{Outputs: []*onnx.ValueInfo{{Name: "logits"}},
		Nodes: []*onnx.Node{{Op: "Identity", Inputs: []string{""}, Outputs: []string{"", "logits"}}}}}
	if head := export.Of(m).HeadWeight(); head != nil {
		t.Errorf("the head is %q", head.Name)
	}
	if export.Of(m).NewHead() {
		t.Error("a head without vectors is new")
	}
}
