package openvino_test

import (
	"reflect"
	"testing"

	"infill/mlm/device"
	"infill/mlm/device/devicetest"
	"infill/mlm/device/openvino"
	"infill/mlm/onnx"
)

// Rewrites of a graph that nothing has checked leave alone what has too few inputs or outputs.
func TestRewritesOfUncheckedGraphs(t *testing.T) {
	t.Parallel()
	graph := func() *onnx.Model {
		g := &onnx.Graph{Initializers: []*onnx.Tensor{onnx.Floats("w", []int64{2, 2}, 1, 2, 3, 4)}}
		for _, op := range []string{"Cast", "MatMul", "Gemm", "FusedMatMul", "ReduceMean", "Sub"} {
			g.Nodes = append(g.Nodes, &onnx.Node{Op: op}, &onnx.Node{Op: op, Inputs: []string{"w"}},
				&onnx.Node{Op: op, Outputs: []string{op}})
		}
		return &onnx.Model{Graph: g}
	}
	for _, d := range []device.Device{openvino.Device{}, devicetest.Emulation{}} {
		m := graph()
		if d.Rewrite(m, true); !reflect.DeepEqual(m, graph()) {
			t.Errorf("%s changes it to %+v", d.Name(), m.Graph)
		}
	}
}
