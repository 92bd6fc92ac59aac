package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"infill/internal/testmode"
	"infill/mlm"
)

// tableMarks are between which the table of mlm/onnxgrad/testdata/README.md stands.
const tableBegin, tableEnd = "<!-- table: go test ./cmd/infill -run TestModelTable -update -->\n", "<!-- end of table -->\n"

// The table of mlm/onnxgrad/testdata/README.md is what the fixtures really do: every one of them is opened, filled
// and scored here, by the commands that users have. That its gradients are right is checked by TestModels
// of mlm/onnxgrad.
func TestModelTable(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../mlm/onnxgrad/testdata/*.onnx")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	path := filepath.Join("..", "..", "mlm", "onnxgrad", "testdata", "README.md")
	before, rest, ok := strings.Cut(get(t, path), tableBegin)
	want, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("mlm/onnxgrad/testdata/README.md lacks the marks of the table")
	}
	// The page begins with what the rows have in common.
	for row := range strings.Lines(want) {
		if cells := strings.Split(row, " | "); strings.HasSuffix(row, "` |\n") && (cells[3] != "yes" ||
			cells[4] != "yes" || !strings.HasPrefix(cells[5], "yes") && !strings.Contains(cells[5], "8-bit")) {
			t.Errorf("the page says that this fills, and has gradients but for 8 bits: %s", row)
		}
	}
	all := testmode.All() || *update
	var rows []string
	var mu sync.Mutex
	t.Run("rows", func(t *testing.T) {
		seen := map[string]bool{}
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".onnx")
			if !strings.Contains(want, "| `"+name+"` |") && !*update {
				t.Errorf("%s is not in mlm/onnxgrad/testdata/README.md", name)
			}
			// The normal run has one fixture of each architecture, and of each with 8 bits.
			folder, _, _ := fixtureName(name)
			kind := folder + fmt.Sprint(strings.Contains(name, "-int8"))
			if seen[kind] && !all {
				continue
			}
			seen[kind] = true
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				row := fixtureRow(t, name, f)
				mu.Lock()
				defer mu.Unlock()
				rows = append(rows, row)
			})
		}
	})
	slices.Sort(rows)
	got := "| architecture | export | opset | fill | score | gradient | fixture |\n|---|---|---|---|---|---|---|\n" + strings.Join(
		rows, "",
	)
	const remedy = "(go test ./cmd/infill -run TestModelTable -update)"
	switch {
	case *update:
		put(t, path, before+tableBegin+got+tableEnd+after)
	case all && got != want:
		t.Errorf("mlm/onnxgrad/testdata/README.md says\n%s\nbut the fixtures do\n%s\n%s", want, got, remedy)
	}
	for _, row := range rows {
		if !strings.Contains(want, row) && !*update {
			t.Errorf("mlm/onnxgrad/testdata/README.md lacks %s%s", row, remedy)
		}
	}
	if n := strings.Count(want, "\n") - 2; n != len(files) && !*update {
		t.Errorf("mlm/onnxgrad/testdata/README.md has %d rows, there are %d fixtures", n, len(files))
	}
}

// fixtureRow makes a folder of a fixture, as an exporter leaves it, and runs the commands on it.
// The fixtures are graphs; tokenizer and config.json suit the architecture.
func fixtureRow(t *testing.T, name, file string) string {
	folder, arch, form := fixtureName(name)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "mlm", "testdata", "architectures", folder))); err != nil {
		t.Fatalf("%s: no tokenizer of the architecture: %v", name, err)
	}
	put(t, filepath.Join(dir, "model.onnx"), get(t, file))
	if more, err := filepath.Glob(strings.TrimSuffix(file, ".onnx") + ".*data*"); err == nil { // external weights
		for _, m := range more {
			put(t, filepath.Join(dir, filepath.Base(m)), get(t, m))
		}
	}

	info, fill, score, gradient := commands(t, name, dir)
	mustWork(t, name, fill, score, gradient)
	return fmt.Sprintf(
		"| %s | %s | %d | %s | %s | %s | `%s` |\n",
		arch, form, info.Opset, fill, score, gradient, name,
	)
}

// commands runs info, fill and score on the model in dir and says how each ended, and whether it has
// gradients. All are on the processor.
func commands(t *testing.T, name, dir string) (info mlm.Info, fill, score, gradient string) {
	t.Helper()
	if r := infillRun("", "model", "info", "--json", dir); json.Unmarshal(
		[]byte(r.out), &info,
	) != nil {
		t.Errorf("%s: info: exit %d: %s%s", name, r.code, r.out, r.err)
	}
	fill = tried(
		infillRun(
			"", "fill", "--json", "--device", "cpu", "--seed", "1", "--steps", "4", "--chains", "3",
			"--model", dir, "the [MASK] sat on the [MASK] .",
		),
	)
	score = tried(
		infillRun(
			"", "score", "--json", "--device", "cpu", "--model", dir, "the cat sat on the mat .",
		),
	)
	m, err := mlm.OpenDir(t.Context(), dir, mlm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	s := &mlm.Sentence{IDs: []int32{m.Tokenizer().CLSID(), 9, 9, m.Tokenizer().SEPID()}, Blanks: []int{1, 2}}
	err = m.Gradient(t.Context(), s, [][]int32{{9, 9}}, mlm.Full, [][]float32{{0, 0}},
		[][]float32{make([]float32, 2*m.VocabSize())})
	switch {
	case err == nil && info.Gradients:
		gradient = "yes"
	case !info.Gradients && errors.Is(err, mlm.ErrNoGradient) &&
		strings.Contains(err.Error(), info.NoGradients) && strings.Contains(err.Error(), "use the float32 model"):
		gradient = "refused with the remedy: " + reason(info.NoGradients)
	default:
		gradient = fmt.Sprint("no: ", err)
	}
	return info, fill, score, gradient
}

// mustWork is what the table promises of every fixture, whatever mlm/onnxgrad/testdata/README.md says: fill, score and gradient succeed.
// Models quantised to 8 bits have no gradient, which the default sampler does not need; there the refusal names the remedy.
func mustWork(t *testing.T, name, fill, score, gradient string) {
	if strings.Contains(name, "-int8") {
		if fill != "yes" || score != "yes" || !strings.HasPrefix(gradient, "refused") {
			t.Errorf("%s: fill %s, score %s, gradient %s", name, fill, score, gradient)
		}
		return
	}
	if fill != "yes" || score != "yes" || !strings.HasPrefix(gradient, "yes") {
		t.Errorf("%s: fill %s, score %s, gradient %s", name, fill, score, gradient)
	}
}

// tried says how a command ended.
func tried(r outcome) string {
	if r.code == 0 {
		return "yes"
	}
	return "no: " + reason(r.err)
}

// reason shortens an error for a cell: what comes after the file's name, up to the remedy.
func reason(s string) string {
	s = strings.TrimSpace(strings.TrimPrefix(s, "infill: "))
	s = strings.TrimPrefix(s, "model.onnx: ")
	s, _, _ = strings.Cut(s, ";")
	s, _, _ = strings.Cut(s, "\n")
	return strings.ReplaceAll(s, "|", "/")
}

var opsetName = regexp.MustCompile(`^opset[0-9]+$`)

// borrowed are the folders of other architectures with the kind of tokenizer that these models have.
var borrowed = map[string]string{"eurobert": "modernbert", "neobert": "bert"}

// fixtureName takes the name of a fixture apart: architecture and form of the export.
func fixtureName(name string) (folder, arch, form string) {
	defer func() {
		if other, ok := borrowed[folder]; ok {
			folder = other
		}
	}()
	for _, a := range [][2]string{{"eurobert", "EuroBERT"}, {"neobert", "NeoBERT"}, {"deberta-v2", "DeBERTa-v2"}, {"distilbert", "DistilBERT"}, {"modernbert", "ModernBERT"}, {"roberta", "RoBERTa"},
		{"electra", "ELECTRA"}, {"albert", "ALBERT"}, {"mpnet", "MPNet"}, {"bert", "BERT"}} {
		rest, ok := strings.CutPrefix(name, a[0])
		if !ok || rest != "" && rest[0] != '-' {
			continue
		}
		rest = strings.TrimPrefix(rest, "-")
		forms := map[string]string{
			"": "torch, TorchScript", "eager-tied": "torch, TorchScript, eager attention", "sdpa-tied": "torch, TorchScript, sdpa attention",
			"untied": "torch, TorchScript, head not tied", "tanh": "torch, TorchScript, Gelu by tanh", "dynamo": "torch, dynamo",
			"conv": "torch, TorchScript, convolution as in xlarge and xxlarge", "optimum": "optimum",
			"ort-basic": "optimised by ONNX Runtime, basic", "ort-extended": "optimised by ONNX Runtime, extended", "ort-all": "optimised by ONNX Runtime, all",
			"ort-transformers": "onnxruntime.transformers, fused", "ort-fastgelu": "onnxruntime.transformers, fused, FastGelu", "ort-mha": "onnxruntime.transformers, MultiHeadAttention",
			"ort-rawmask": "onnxruntime.transformers, raw attention mask",
			"sdpa":        "torch, TorchScript, sdpa attention", "eager": "torch, TorchScript, eager attention", "dynamo-opset20": "torch, dynamo, Gelu as one op",
			"positions": "torch, TorchScript, position_ids as input", "external": "torch, TorchScript, external data",
			"float16": "float16, onnxconverter-common", "float16-torch": "float16, torch, TorchScript", "float16-weights": "float16 weights, computing in float32",
			"ort-float16": "onnxruntime.transformers, fused, float16", "bfloat16": "bfloat16, torch, dynamo", "int8": "int8, dynamic", "int8-ort": "int8, dynamic, fused",
		}
		switch form, known := forms[rest]; {
		case known:
			return a[0], a[1], form
		case opsetName.MatchString(rest):
			return a[0], a[1], "torch, TorchScript"
		}
		return a[0], a[1], rest
	}
	return name, name, "as named"
}
