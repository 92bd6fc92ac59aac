package prose

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// clean are the folders and files that keep the rules. The list only grows.
var clean = []string{
	"bench", "metrics", "samplers", "internal/outside", "internal/prose", "internal/testmode", "internal/testsum",
	"docs", "internal/disk", "internal/gate", "internal/jsonwords", "internal/ort", "internal/nearest", "internal/textline", "internal/unpack",
	"models/default", "models/teacher", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/architecture.md",
	"docs/guide/blanks.md", "docs/guide/models.md", "docs/reference",
	"docs/notebook/README.md", "docs/notebook/batch.md", "docs/notebook/compare.md",
	"docs/notebook/performance.md", "docs/notebook/verification.md", "bench/torch/reading.md",
	"report", "infill/jsonl", "infill/batch",
	"mlm/onnx", "mlm/onnxeval", "mlm/onnxgrad", "mlm/onnxref",
}

// tree returns the files of the repository with a suffix, as slash-separated
// paths from its root. Test data and hidden folders are left out.
func tree(t *testing.T, suffix string) map[string]string {
	t.Helper()
	root := testmode.Root(t)
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			skip := name == "testdata" || name == "bin" || name == "dist" ||
				strings.HasPrefix(name, ".") && path != root
			if skip {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, suffix) {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(rel)] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no file ends with %s", suffix)
	}
	return files
}

// isClean reports whether a file or one of its folders is in the list.
func isClean(name string) bool {
	return slices.ContainsFunc(clean, func(c string) bool {
		return name == c || strings.HasPrefix(name, c+"/")
	})
}

// check holds the rules against the files of the list.
func check(t *testing.T, suffix string, find func(name, text string) []Finding) {
	t.Helper()
	for name, text := range tree(t, suffix) {
		if !isClean(name) {
			continue
		}
		for _, f := range find(name, text) {
			t.Errorf("%s:%v", name, f)
		}
	}
}

// generated reports that a document is the output of a program on given texts.
func generated(name string) bool { return strings.HasPrefix(name, "docs/notebook/compare/") }

func TestDocuments(t *testing.T) {
	t.Parallel()
	check(t, ".md", func(name, text string) []Finding {
		var found []Finding
		if generated(name) {
			return nil
		}
		sentences, semicolons := 0, 0
		for _, p := range Markdown(text) {
			found = append(append(found, Phrases(p)...), Semicolons(p)...)
			n, k := Sentences(p)
			sentences, semicolons = sentences+n, semicolons+k
		}
		if semicolons*10 > sentences {
			found = append(found, Finding{1, "too many semicolons",
				strings.Join([]string{name, "has one in fewer than ten sentences"}, " ")})
		}
		return found
	})
}

func TestGoFiles(t *testing.T) {
	t.Parallel()
	check(t, ".go", func(name, text string) []Finding {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		found := Columns(text)
		comments, texts, err := GoFile(name, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range comments {
			found = append(append(found, Phrases(p)...), Semicolons(p)...)
		}
		for _, p := range texts {
			found = append(found, Phrases(p)...)
		}
		return found
	})
}
