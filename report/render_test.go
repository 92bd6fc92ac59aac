package report_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"infill/report/show"
)

var update = flag.Bool("update", false, "rewrite the golden files of the renderers")

// golden compares a rendering with testdata/name.
func golden(t *testing.T, name string, render func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; make it with -update and look at it", err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		got, exp := bytes.Split(b.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
		for i := range min(len(got), len(exp)) {
			if !bytes.Equal(got[i], exp[i]) {
				t.Fatalf("%s, line %d:\n got %.300s\nwant %.300s", name, i+1, got[i], exp[i])
			}
		}
		t.Fatalf("%s: %d lines, want %d", name, len(got), len(exp))
	}
}

func TestRenderCompare(t *testing.T) {
	t.Parallel()
	r, err := demoResult()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", show.Compare(r).Text)
	golden(t, "compare.md", show.Compare(r).Markdown)
	golden(t, "compare.json", show.Compare(r).JSON)
	golden(t, "compare.html", show.Compare(r).HTML)
}
