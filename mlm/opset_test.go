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

// Gradients need rules for the opset, rows do not.
func TestOldOpsets(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	want := map[string]any{}
	for _, opset := range []int64{12, 11} {
		m := opened(t, editedFolder(t, "bert-opset12", func(m *onnx.Model) {
			m.Opsets[""] = opset
			for i, n := range m.Graph.Nodes { // the only operator that is not there
				if n.Op == "GreaterOrEqual" {
					less := *n
					less.Op, less.Outputs = "Less", []string{"below"}
					m.Graph.Nodes[i] = &onnx.Node{Op: "Not", Inputs: less.Outputs, Outputs: n.Outputs}
					m.Graph.Nodes = slices.Insert(m.Graph.Nodes, i, &less)
					break
				}
			}
		}))
		s := &mlm.Sentence{IDs: []int32{2, 5, 6, 7, 8, 5, 9, 45, 3}, Blanks: []int{2, 6}}
		lp := [][]float32{{0, 0}}
		if err := m.LogProb(t.Context(), s, [][]int32{{6, 9}}, lp); err != nil {
			t.Fatalf("opset %d: %v", opset, err)
		}
		if opset == 12 {
			want["log f"] = lp[0]
			continue
		}
		for i, x := range want["log f"].([]float32) {
			if math.Abs(float64(x-lp[0][i])) > near {
				t.Errorf("opset %d: log f %v, want %v", opset, lp[0], want["log f"])
			}
		}
		fillFolder(t, m)
		err := m.Gradient(t.Context(), s, [][]int32{{6, 9}}, mlm.Full, lp, [][]float32{make([]float32,
			2*m.VocabSize())})
		if i := m.Info(); i.Gradients || !strings.Contains(i.NoGradients, "opset 14 or later") ||
			!errors.Is(err, mlm.ErrNoGradient) {
			t.Errorf("opset %d: %s, %v", opset, i.NoGradients, err)
		}
	}
}
