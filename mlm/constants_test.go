package mlm_test

import (
	"errors"
	"math"
	"testing"

	"infill/infill"
	"infill/internal/ort/orttest"
	"infill/mlm"
	"infill/mlm/onnx"
)

// Inputs that no text has get a number in every place. A graph whose logits are multiplied by one of
// them gives the numbers of the graph without it where that is 1, and others where it is 2.
func TestInputs(t *testing.T) {
	t.Parallel()
	orttest.Load(t)
	dim := func(d ...onnx.Dim) []onnx.Dim { return d }
	batch, length := onnx.Dim{Param: "batch"}, onnx.Dim{Param: "length"}
	for name, shape := range map[string][]onnx.Dim{"none": nil, "batch": dim(batch), "column": dim(batch,
		onnx.Dim{Value: 1}), "all": dim(batch, length)} {
		dir := editedFolder(t, "bert-sdpa-tied", func(m *onnx.Model) {
			g := m.Graph
			g.Inputs = append(g.Inputs,
				&onnx.ValueInfo{Name: "time", Type: onnx.Float, HasShape: true, Shape: shape},
				&onnx.ValueInfo{Name: "task_type_ids", Type: onnx.Int64, HasShape: true,
					Shape: dim(batch, length)})
			node := func(op, out string, attr *onnx.Attribute, in ...string) {
				n := &onnx.Node{Name: out, Op: op, Inputs: in, Outputs: []string{out}}
				if attr != nil {
					n.Attrs = []*onnx.Attribute{attr}
				}
				g.Nodes = append(g.Nodes, n)
			}
			out := g.Outputs[0]
			node("ReduceMean", "mean", onnx.Attr("keepdims", 0), "time")
			node("Mul", "timed", nil, out.Name, "mean")
			node("Cast", "tasks", onnx.Attr("to", onnx.Float), "task_type_ids")
			node("ReduceMean", "task", onnx.Attr("keepdims", 0), "tasks")
			node("Add", "logits/timed", nil, "timed", "task")
			other := *out
			other.Name = "logits/timed"
			g.Outputs = []*onnx.ValueInfo{&other}
		})
		score := func(dir string, o mlm.Options) (float64, *mlm.Model) {
			m, err := mlm.OpenDir(t.Context(), dir, o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			t.Cleanup(func() { _ = m.Close() })
			s, err := infill.New(m).Score(t.Context(), "the cat sat on the mat.", infill.ScoreOptions{By: infill.ScorePLL})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return s.Score, m
		}
		want, _ := score(exportFolder(t, "bert", "bert-sdpa-tied"), mlm.Options{})
		one, m := score(dir, mlm.Options{Inputs: map[string]float64{"time": 1}})
		two, _ := score(dir, mlm.Options{Inputs: map[string]float64{"time": 2}})
		if math.Abs(one-want) > near || math.Abs(two-want) < .1 {
			t.Errorf("%s: %v with 1, %v with 2, want %v", name, one, two, want)
		}
		says(t, m.Info().Adapted, "the input time is 1 in every place")
		says(t, m.Info().Adapted, "the input task_type_ids is 0 in every place")
		var e *mlm.InputError
		if _, err := mlm.OpenDir(t.Context(), dir, mlm.Options{}); !errors.As(err, &e) || e.Name != "time" ||
			e.Absent {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := mlm.OpenDir(t.Context(), dir, mlm.Options{Inputs: map[string]float64{"time": 1,
			"input_ids": 1}}); !errors.As(err, &e) || e.Name != "input_ids" || !e.Absent {
			t.Errorf("%s: %v", name, err)
		}
	}
}
