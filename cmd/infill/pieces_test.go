package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/infill/jsonl"
)

// markedModel is a folder of a small model whose vocabulary marks spaces.
func markedModel(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "roberta")
	if err := os.CopyFS(dir, os.DirFS("../../mlm/testdata/architectures/roberta")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("../../mlm/onnxgrad/testdata/roberta.onnx")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "model.onnx"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The tokens of a record are words with every vocabulary, and a run can begin with its pieces.
func TestTokensAreWords(t *testing.T) {
	t.Parallel()
	model := markedModel(t)
	starts := filepath.Join(t.TempDir(), "run.jsonl")
	run := func(args ...string) *jsonl.Filled {
		t.Helper()
		r := infillRun("", append([]string{"batch", "--model", model, "--seed", "1", "--method", "sample",
			"--case", "model", "--steps", "0", "--chains", "9", "--top", "9", "--quiet"}, args...)...)
		if r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		put(t, starts, r.out)
		return recordIn[jsonl.Filled](t, r.out)
	}
	in := put(t, filepath.Join(t.TempDir(), "in.txt"), "the <mask> sat on the [MASK*2] .\n")
	first, marks := run(in), 0
	for _, f := range first.Fillings {
		for i, s := range f.Spans {
			if f.Text[s[0]:s[1]] != f.Tokens[i] || strings.Contains(f.Tokens[i], "Ġ") {
				t.Errorf("%q has the tokens %q, pieces %q", f.Text, f.Tokens, f.Pieces)
			}
			marks += strings.Count(f.Pieces[i], "Ġ")
		}
	}
	if marks == 0 || len(first.Fillings) < 5 {
		t.Errorf("%d marks: %+v", marks, first.Fillings)
	}
	texts := func(r *jsonl.Filled) (out []string) {
		for _, f := range r.Fillings {
			out = append(out, f.Text)
		}
		slices.Sort(out)
		return out
	}
	if again := run(in, "--start", starts); !slices.Equal(texts(again), texts(first)) {
		t.Errorf("%q\n%q", texts(first), texts(again))
	}
	// The tokens of older records are pieces.
	old := *first
	for i := range old.Fillings {
		old.Fillings[i].Tokens, old.Fillings[i].Pieces = old.Fillings[i].Pieces, nil
	}
	b, err := jsonl.Append(nil, &old)
	if err != nil {
		t.Fatal(err)
	}
	put(t, starts, string(b)+"\n")
	if again := run(in, "--start", starts); !slices.Equal(texts(again), texts(first)) {
		t.Errorf("old: %q\n%q", texts(first), texts(again))
	}
}
