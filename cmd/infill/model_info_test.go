package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/disk"
	"infill/mlm"
)

// Every row of a whole model is there, and JSON says the same.
func TestModelInfoWhole(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"default", tinyModel} {
		r := infillRun("", "model", "info", model)
		for _, row := range []string{"file ", "sha256 ", "architecture  BertForMaskedLM", "exporter      pytorch", "parameters ", "inputs        input_ids, attention_mask, token_type_ids",
			"mask token [MASK] = ", "length        up to ", "embedding ", "tied to the embedding", "gradient      full", "operators     Add×"} {
			if !strings.Contains(r.out, row) {
				t.Errorf("%s: %q is not in\n%s", model, row, r.out)
			}
		}
		var j recognised
		if err := json.Unmarshal([]byte(infillRun("", "model", "info", "--json", model).out), &j); err != nil || r.code != 0 || len(j.Problems) > 0 ||
			!strings.Contains(r.out, j.SHA256) || !strings.Contains(r.out, j.Embedding) ||
			!strings.Contains(r.out, j.Head) ||
			j.MaskID == 0 ||
			len(j.Ops) == 0 {
			t.Errorf("%s: exit %d, %v: %+v", model, r.code, err, j)
		}
	}
}

// model info and model list give one size for a model of the program.
func TestModelInfoSize(t *testing.T) {
	t.Parallel()
	sizes := map[string]int64{}
	for line := range strings.Lines(infillRun("", "model", "list", "--json").out) {
		var l listed
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		sizes[l.Name] = l.Bytes
	}
	for _, name := range []string{"default", "small"} {
		var j recognised
		if err := json.Unmarshal([]byte(infillRun("", "model", "info", "--json", name).out),
			&j); err != nil {
			t.Fatal(err)
		}
		if want := sizes[name]; want == 0 || j.Bytes != want {
			t.Errorf("%s: %d bytes, model list has %d", name, j.Bytes, want)
		}
	}
}

// Where no folder can be the cache, the models that have a name are listed all the same.
func TestModelListWithoutHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData", disk.EnvCache} {
		t.Setenv(name, "")
	}
	r := infillRun("", "model", "list")
	if r.code != exitOK || !strings.Contains(r.err, "no cache folder") ||
		!strings.HasPrefix(r.out, "name ") || !strings.Contains(r.out, "\nbert-base-uncased ") {
		t.Errorf("exit %d: %s%s", r.code, r.err, r.out)
	}
}

// A vocabulary that other models have is named, in both forms; another one is not.
func TestModelInfoKnownVocabulary(t *testing.T) {
	i := &recognised{
		Info: mlm.Info{Tokens: 30522, Mask: "[MASK]", MaskID: 103, Known: "BERT, uncased"},
	}
	want := "vocabulary    30522 pieces, mask token [MASK] = 103\n              the pieces and ids of BERT, uncased\n"
	if !strings.Contains(i.text(), want) {
		t.Errorf("%q is not in\n%s", want, i.text())
	}
	for _, args := range [][]string{{"model", "info", tinyModel}, {"model", "info", "--json", tinyModel}} {
		r := infillRun("", args...)
		if strings.Contains(r.out, "pieces and ids") || strings.Contains(r.out, "known_vocabulary") {
			t.Errorf("%v names the tiny vocabulary:\n%s", args, r.out)
		}
	}
}

// The fixtures of the graph surgery are files without a tokenizer: the graph is described, and the lack.
func TestModelInfoFixtures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../mlm/onnxgrad/testdata/*.onnx")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, f := range files {
		r := infillRun("", "model", "info", f)
		for _, row := range []string{"sha256 ", "inputs        input_ids", "logits ", "embedding ", "head ", "operators ", "PROBLEM       the tokenizer"} {
			// Quantised models have no table that a gradient could be taken in.
			if !strings.Contains(r.out, row) &&
				(row != "embedding " || !strings.Contains(r.out, "forward only")) {
				t.Errorf("%s: %q is not in\n%s", f, row, r.out)
			}
		}
		if r.code != exitTrouble || !strings.Contains(r.err, "tokenizer") {
			t.Errorf("%s: exit %d: %s", f, r.code, r.err)
		}
		var j recognised
		if err := json.Unmarshal([]byte(infillRun("", "model", "info", "--json", f).out), &j); err != nil ||
			len(j.Problems) == 0 ||
			j.Vocab == 0 {
			t.Errorf("%s: %v: %+v", f, err, j)
		}
	}
}

func TestModelInfoBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tinyModel)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "config.json"), "{")
	r := infillRun("", "model", "info", dir)
	if r.code != exitTrouble || !strings.Contains(r.out, "PROBLEM ") ||
		!strings.Contains(r.out, "config.json") ||
		!strings.Contains(r.out, "mask token [MASK]") ||
		!strings.Contains(r.out, "embedding ") {
		t.Errorf("broken config.json: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if err := os.Truncate(filepath.Join(dir, "model.onnx"), 3000); err != nil {
		t.Fatal(err)
	}
	r = infillRun("", "model", "info", dir)
	if r.code != exitTrouble || strings.Count(r.out, "PROBLEM ") != 2 ||
		!strings.Contains(r.out, "mask token [MASK]") ||
		strings.Contains(r.out, "sha256") {
		t.Errorf("and a truncated model: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r = infillRun("", "model", "info", t.TempDir()); r.code != exitTrouble || r.out != "" ||
		!strings.Contains(r.err, "model.onnx") {
		t.Errorf("an empty folder: exit %d: %s%s", r.code, r.out, r.err)
	}
	if r = infillRun("", "model", "info", "--ort", filepath.Join(dir, "vocab.txt"), tinyModel); r.code != exitTrouble ||
		!strings.Contains(r.out, "PROBLEM ") ||
		!strings.Contains(r.out, "vocabulary ") {
		t.Errorf("no runtime: exit %d: %s%s", r.code, r.out, r.err)
	}
}

// A configuration that contradicts the model is named by info and by fill.
func TestDoubtfulModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tinyModel)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte(`"vocab_size": 70`), []byte(`"vocab_size": 7`), 1)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	const want = "config.json states vocab_size 7, the model file has 70 logits"
	if r := infillRun("", "model", "info", dir); r.code != exitOK || !strings.Contains(r.out, want) {
		t.Errorf("info: exit %d: %s%s", r.code, r.out, r.err)
	}
	r := infillRun("", "fill", "--quiet", "--seed", "1", "--model", dir, "the [MASK] .")
	if r.code != exitOK || strings.Count(r.err, want) != 1 {
		t.Errorf("fill: exit %d: %s", r.code, r.err)
	}
}
