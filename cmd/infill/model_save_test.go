package main

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/testmode"
	"infill/models"
	"infill/models/weights"
)

// TestModelSave: what was saved is the model, to the last bit, and a folder in use is left alone.
func TestModelSave(t *testing.T) {
	t.Parallel()
	if first := models.All()[0].Name; first != settings.DefaultModel {
		t.Errorf("the first model of the program is %s, the default one %s", first,
			settings.DefaultModel)
	}
	for _, m := range models.All() {
		dir := filepath.Join(t.TempDir(), "new", "folder")
		r := infillRun("", "model", "save", m.Name, dir)
		if r.code != 0 || strings.TrimSpace(r.out) != dir {
			t.Fatalf("%s: exit %d: %s%s", m.Name, r.code, r.out, r.err)
		}
		want := infillRun("", "score", "--model", m.Name, "A cat sat.")
		if got := infillRun("", "score", "--model", dir, "A cat sat."); got.code != 0 ||
			got.out != want.out {
			t.Errorf("%s: saved %q, %s, in the program %q", m.Name, got.out, got.err, want.out)
		}
		if r := infillRun("", "model", "save", m.Name, dir); r.code != exitTrouble ||
			!strings.Contains(r.err, dir+" is not empty; give a folder that does not exist") {
			t.Errorf("%s: again: exit %d: %s%s", m.Name, r.code, r.out, r.err)
		}
		if m.Name == settings.DefaultModel {
			sameInInt8(t, dir)
		}
	}
	dir := filepath.Join(t.TempDir(), "tiny")
	if r := infillRun("", "model", "save", tinyModel, dir); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	names := func(dir string) (out []string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, d := range list {
			out = append(out, d.Name())
		}
		return out
	}
	if got, want := names(dir), names(tinyModel); !slices.Equal(got, want) {
		t.Errorf("saved %q of %q", got, want)
	}
	for _, args := range [][]string{{}, {"default"}, {"default", "a", "b"}, {"nobody", dir}} {
		if r := infillRun("", append([]string{"model", "save"}, args...)...); r.code != exitUsage {
			t.Errorf("%q: exit %d: %s", args, r.code, r.err)
		}
	}
}

// sameInInt8 compares the saved graph in 8 bits with what the program evaluates. It has no gradients.
func sameInInt8(t *testing.T, dir string) {
	t.Helper()
	score := func(args ...string) float64 {
		r := infillRun("", append([]string{"score", "--json", "She sat on the bed."}, args...)...)
		var rec jsonl.Scored
		if err := json.Unmarshal([]byte(r.out), &rec); err != nil || rec.Score == nil {
			t.Fatalf("%v: %s", err, r.err)
		}
		return *rec.Score
	}
	saved := []string{"--model", dir, "--model-file", int8File}
	own, fp32 := score("--model", dir), score("--model", dir, "--precision", "fp32")
	if got := score(saved...); math.Abs(got-own) > 1e-3 || math.Abs(fp32-own) < 1e-3 {
		t.Errorf("saved in 8 bits %.5f, want %.5f, in float32 %.5f", got, own, fp32)
	}
	r := infillRun("", append([]string{"fill", "--sampler", "dmala", "A [MASK] [MASK]."}, saved...)...)
	if r.code == 0 || !strings.Contains(r.err, "MatMulInteger") {
		t.Errorf("gradients: exit %d: %s", r.code, r.err)
	}
}

// TestModelSaveInPython: the program that the guide shows reads a saved folder and finds the words
// and the percentages that infill finds. INFILL_PYTHON names a Python that has the packages.
func TestModelSaveInPython(t *testing.T) {
	testmode.Long(t)
	python := cmp.Or(os.Getenv("INFILL_PYTHON"), "python3")
	ctx := t.Context()
	probe := exec.CommandContext(ctx, python, "-c", "import numpy, onnxruntime, tokenizers")
	if err := probe.Run(); err != nil {
		testmode.Missing(t, "onnxruntime and tokenizers for "+python+" (INFILL_PYTHON names another)")
	}
	guide := get(t, filepath.Join("..", "..", "docs", "guide", "models.md"))
	found := regexp.MustCompile("(?s)```python\nimport numpy, (.*?)```").FindStringSubmatch(guide)
	if found == nil {
		t.Fatal("the guide shows no program")
	}
	text := regexp.MustCompile(`encode\("(.*?)"\)`).FindStringSubmatch(found[1])[1]
	t.Chdir(t.TempDir())
	if r := infillRun("", "model", "save", "small", "english"); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	out, err := exec.CommandContext(ctx, python, "-c", "import numpy, "+found[1]).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	r := infillRun("", "fill", "--model", "small", "--vocab", "all", "--top", "3", "--json", text)
	var rec jsonl.Filled
	if err := json.Unmarshal([]byte(r.out), &rec); err != nil {
		t.Fatalf("%v: %s", err, r.err)
	}
	for _, f := range rec.Fillings {
		fmt.Fprintf(&want, "%5.1f%%  %s\n", 100*math.Exp(*f.Score), f.Tokens[0])
	}
	if want.Len() == 0 || string(out) != want.String() {
		t.Errorf("it prints\n%swant\n%s", out, want.String())
	}
	first, _, _ := strings.Cut(strings.TrimSpace(want.String()), "\n")
	if !strings.Contains(guide, "prints `"+first+"`") {
		t.Errorf("the guide does not say %q", first)
	}
}

// TestModelSaveStored: weights in few bits are saved as numbers that other programs can read.
func TestModelSaveStored(t *testing.T) {
	t.Parallel()
	file := func(header, body string) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+body...)
	}
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "new")
	stored := file(`{"w":{"dtype":"I8","shape":[1,2],"data_offsets":[0,2]},`+
		`"w.scale":{"dtype":"F16","shape":[1],"data_offsets":[2,4]}}`, "\x01\xfe\x00\x38")
	if err := os.WriteFile(filepath.Join(from, weights.Stored), stored, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := infillRun("", "model", "save", from, to); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	// 1 and -2, times ½
	want := file(`{"w":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]}}`, "\x00\x38\x00\xbc")
	got, err := os.ReadFile(filepath.Join(to, weights.Given))
	if err != nil || string(got) != string(want) {
		t.Errorf("saved %q, want %q (%v)", got, want, err)
	}
	if _, err := os.Stat(filepath.Join(to, weights.Stored)); err == nil {
		t.Error("the stored file was saved, too")
	}
}

// TestModelSaveRefuses: nothing is written where a model's files must not go, and a folder is
// never left without a model and called saved.
func TestModelSaveRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model := filepath.Join(dir, "model")
	if r := infillRun("", "model", "save", tinyModel, model); r.code != 0 {
		t.Fatal(r.err)
	}
	for _, c := range []struct{ from, to, says string }{
		{"small", "", "the name of the folder is empty"},
		{model, filepath.Join(model, "sub", "more"), "is in the folder of the model"},
		{filepath.Join(model, "model.onnx"), filepath.Join(dir, "file"), "give the folder of the model"},
	} {
		r := infillRun("", "model", "save", c.from, c.to)
		if r.code == 0 || r.out != "" || !strings.Contains(r.err, c.says) {
			t.Errorf("%s to %q: exit %d: %s%s", c.from, c.to, r.code, r.out, r.err)
		}
		if _, err := os.Stat(c.to); c.to != "" && err == nil {
			t.Errorf("%s is there", c.to)
		}
	}
	// A snapshot of Hugging Face's cache has links to its blobs.
	blobs, snapshot := filepath.Join(dir, "models--a--b", "blobs"),
		filepath.Join(dir, "models--a--b", "snapshots", "1")
	if err := errors.Join(os.MkdirAll(blobs, 0o755), os.MkdirAll(snapshot, 0o755)); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(model)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		err := errors.Join(os.Rename(filepath.Join(model, f.Name()), filepath.Join(blobs, f.Name())),
			os.Symlink(filepath.Join("..", "..", "blobs", f.Name()), filepath.Join(snapshot, f.Name())))
		if err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	saved := filepath.Join(dir, "saved")
	if r := infillRun("", "model", "save", snapshot, saved); r.code != 0 {
		t.Fatalf("a snapshot: exit %d: %s", r.code, r.err)
	}
	if r := infillRun("", "score", "--model", saved, "the dog"); r.code != 0 {
		t.Errorf("what was saved of a snapshot: exit %d: %s", r.code, r.err)
	}
}
