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
		SaveTo: saved, Entries: map[string]string{"optimization.disable_specified_optimizers": disabled}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // end of the test
	return loadModel(t, saved)
}

// TestOptimisedGraphs derives from graphs that the runtime has already rewritten with operators of
// its own.
func TestOptimisedGraphs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range fixtures(t) {
		// those were optimised already
		if !strings.HasPrefix(f.name, "bert") || strings.Contains(f.name, "-ort-") {
			continue
		}
		// this test feeds three inputs from memory
		if f.tolerance(0) > 0 || f.name == "bert-positions" || f.name == "bert-external" {
			continue
		}
		m := optimised(t, f.name, "AttentionFusion;EmbedLayerNormFusion")
		for _, n := range m.Graph.Nodes {
			seen[n.Op] = true
		}
		s := open(t, derive(t, m), ort.Config{})
		for i, c := range f.Calls {
			r := s.run(t, c, true, true)
			if e := max(relative(r.logProb, c["log_prob"].Data),
				relative(r.gradient, c["gradient"].Data)); !(e < 1e-5) {
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

// TestFusedAttentionRefused: forms of fused attention that are not taken apart are refused by name.
func TestFusedAttentionRefused(t *testing.T) {
	t.Parallel()
	one := func(name string) *onnx.Attribute { return onnx.Attr(name, 1) }
	for name, c := range map[string]struct {
		fixture, op string
		change      func(m *onnx.Model, n *onnx.Node)
	}{
		"causal": {"bert-ort-transformers", "Attention",
			func(_ *onnx.Model, n *onnx.Node) { n.Attrs = append(n.Attrs, one("unidirectional")) }},
		"rotary": {"bert-ort-transformers", "Attention",
			func(_ *onnx.Model, n *onnx.Node) { n.Attrs = append(n.Attrs, one("do_rotary")) }},
		"past": {"bert-ort-transformers", "Attention",
			func(_ *onnx.Model, n *onnx.Node) { n.Inputs = append(n.Inputs, n.Inputs[2]) }},
		"no weight": {"bert-ort-transformers", "Attention",
			func(_ *onnx.Model, n *onnx.Node) { n.Inputs = n.Inputs[:1] }},
		"seven heads": {"bert-ort-transformers", "Attention",
			func(_ *onnx.Model, n *onnx.Node) { n.Attr("num_heads").I = 7 }},
		"no heads": {"bert-ort-mha", "MultiHeadAttention",
			func(_ *onnx.Model, n *onnx.Node) { n.Attrs = nil }},
		"mask of numbers": {"bert-ort-mha", "MultiHeadAttention",
			func(_ *onnx.Model, n *onnx.Node) { n.Inputs[4] = n.Inputs[0] }},
		"packed": {"bert-ort-mha", "MultiHeadAttention",
			func(_ *onnx.Model, n *onnx.Node) { n.Inputs = n.Inputs[:1] }},
		"no words": {"bert-ort-mha", "EmbedLayerNormalization",
			func(_ *onnx.Model, n *onnx.Node) { n.Inputs[2] = "" }},
	} {
		m := loadModel(t, "testdata/"+c.fixture+".onnx")
		i := slices.IndexFunc(m.Graph.Nodes, func(n *onnx.Node) bool { return n.Op == c.op })
		c.change(m, m.Graph.Nodes[i])
		_, err := Derive(m, Options{})
		var op *Error
		if !errors.As(err, &op) || op.Op != c.op || op.Node != m.Graph.Nodes[i].Name ||
			!errors.Is(err, errUnsupportedOp) ||
			!strings.Contains(err.Error(), "before optimisation") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
