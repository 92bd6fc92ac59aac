package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/mlm/onnx"
)

// diffusionModel makes a folder with a model as masked diffusion has them: nothing stands around a
// text, and its graph adds an input timesteps to the logits.
func diffusionModel(t *testing.T, mlm, dir string) {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(mlm, "testdata", "unmarked"))); err != nil {
		t.Fatal(err)
	}
	m, err := onnx.Load(os.DirFS(filepath.Join(mlm, "onnxgrad", "testdata")), "eurobert.onnx")
	if err != nil {
		t.Fatal(err)
	}
	g := m.Graph
	g.Inputs = append(g.Inputs, &onnx.ValueInfo{Name: "timesteps", Type: onnx.Float, HasShape: true,
		Shape: []onnx.Dim{{Param: "batch"}}})
	out := *g.Outputs[0]
	out.Name = "logits/timed"
	g.Nodes = append(g.Nodes, &onnx.Node{Name: "mean", Op: "ReduceMean", Inputs: []string{"timesteps"},
		Outputs: []string{"mean"}, Attrs: []*onnx.Attribute{onnx.Attr("keepdims", 0)}},
		&onnx.Node{Name: "timed", Op: "Mul", Inputs: []string{g.Outputs[0].Name, "mean"},
			Outputs: []string{out.Name}})
	g.Outputs = []*onnx.ValueInfo{&out}
	data, err := m.Marshal()
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "model.onnx"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// info takes inputs as fill does, and without them says which flag gives one.
func TestModelInfoInput(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "diffusion")
	diffusionModel(t, "../../mlm", dir)
	r := infillRun("", "model", "info", dir)
	if r.code != exitTrouble || !strings.Contains(r.out, "PROBLEM") ||
		!strings.Contains(r.out, ": --input timesteps=0") || !strings.Contains(r.err, "--input timesteps=0") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	r = infillRun("", "model", "info", dir, "--input", "timesteps=1")
	if r.code != 0 || !strings.Contains(r.out, "adapted       the input timesteps is 1 in every place\n") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if r = infillRun("", "fill", "--model", dir, "--input", "timesteps=1", "the old [MASK]"); r.code != 0 {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}
