package onnxgrad

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/internal/ort"
	"infill/internal/ort/orttest"
	"infill/mlm/onnx"
)

// optimised is a fixture as the runtime saves it, with its own operators.
func optimised(t *testing.T, name, disabled string) *onnx.Model {
	t.Helper()
	orttest.Load(t)
	data, err := os.ReadFile("testdata/" + name + ".onnx")
	if err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "saved.onnx")
	s, err := ort.OpenBytes(name, data, knownInputs[:3], []string{"logits"}, ort.Config{
		Level: ort.LevelExtended, SaveTo: saved, Entries: map[string]string{"optimization.disable_specified_optimizers": disabled}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // end of the test
	return loadModel(t, saved)
}

// TestOptimisedGraphs derives from graphs that the runtime has already rewritten with operators of its own.
func TestOptimisedGraphs(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range fixtures(t) {
		if !strings.HasPrefix(f.name, "bert") {
			continue
		}
		m := optimised(t, f.name, "AttentionFusion;EmbedLayerNormFusion")
		for _, n := range m.Graph.Nodes {
			seen[n.Op] = true
		}
		s := open(t, derive(t, m), ort.Config{})
		for i, c := range f.Calls {
			r := s.run(t, c, true, true)
			if e := max(relative(r.logProb, c["log_prob"].Data), relative(r.gradient, c["gradient"].Data)); !(e < 1e-5) {
				t.Errorf("%s, call %d: off by %.2g", f.name, i, e)
			}
		}
	}
	for _, op := range []string{"LayerNormalization", "BiasGelu", "FastGelu", "FusedMatMul"} {
		if !seen[op] {
			t.Errorf("no optimised graph has %s: the test does not test it", op)
		}
	}
}

// TestFusedAttentionRefused: what is not taken apart is refused by name.
func TestFusedAttentionRefused(t *testing.T) {
	n := &onnx.Node{Name: "packed", Op: "Attention", Domain: onnx.Microsoft, Inputs: []string{"/model/bert/embeddings/LayerNorm/Add_1_output_0"}, Outputs: []string{"fused"}}
	m := loadModel(t, "testdata/bert-eager-tied.onnx")
	i := slices.IndexFunc(m.Graph.Nodes, func(n *onnx.Node) bool { return n.Op == "Softmax" })
	n.Inputs[0] = m.Graph.Nodes[i].Inputs[0]
	m.Graph.Nodes[i].Inputs[0] = "fused"
	m.Graph.Nodes = slices.Insert(m.Graph.Nodes, i, n)
	_, err := Derive(m, Options{})
	var op *OpError
	if !errors.As(err, &op) || op.Op != "Attention" || op.Node != "packed" || !errors.Is(err, ErrUnsupportedOp) {
		t.Errorf("%v", err)
	}
}
