package report_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

// Compressed files read as what they hold, whatever their names; damaged ones are errors
// that name them.
func TestOpenCompressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const text = "the dog sleeps .\nthe cat sees a bird .\n"
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{g, z} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		data []byte
		ok   bool
	}{
		"a.txt": {[]byte(text), true}, "a.txt.gz": {gz.Bytes(), true}, "a.zst": {zst.Bytes(), true},
		"b.gz": {[]byte(text), true}, "b.txt": {zst.Bytes(), true}, "b.zst": {gz.Bytes(), true},
		"empty.gz": {nil, false},
		"cut.gz":   {gz.Bytes()[:gz.Len()-4], false}, "cut.zst": {zst.Bytes()[:zst.Len()-4], false},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := measure.Eval(read.Files([]string{path}, nil), nil, measure.EvalOptions{})
		switch {
		case c.ok && (err != nil || r.Files[0].N != 2):
			t.Errorf("%s: %v", name, err)
		case !c.ok && (err == nil || !strings.Contains(err.Error(), path)):
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = measure.Eval(read.Files([]string{dir}, nil), nil, measure.EvalOptions{})
	if err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
}

// An input that nobody made, and standard input that is not there, panicked.
func TestInputWithoutAStream(t *testing.T) {
	for name, in := range map[string][]read.Input{
		"zero": {{Name: "a"}}, "stdin": read.Files([]string{"-"}, nil),
	} {
		if _, err := measure.Eval(in, nil, measure.EvalOptions{}); !errors.Is(err, read.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
		good := []read.Input{inMemory("b", []string{"a b c"})}
		if _, err := measure.Eval(good, in, measure.EvalOptions{}); !errors.Is(err, read.ErrOption) {
			t.Errorf("%s as references: %v", name, err)
		}
	}
}

// A result without rows panicked as text, Markdown and HTML.
func TestResultWithoutRows(t *testing.T) {
	var r measure.EvalResult
	for name, write := range map[string]func(io.Writer) error{
		"text": show.Eval(&r).Text, "markdown": show.Eval(&r).Markdown, "html": show.Eval(&r).HTML, "json": show.Eval(&r).JSON,
	} {
		if err := write(io.Discard); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A result without rows is written all the same.
func TestComparisonWithoutRows(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer) error{
		"text": show.Compare(&measure.CompareResult{}).Text, "HTML": show.Compare(&measure.CompareResult{}).HTML,
		"Markdown": show.Compare(&measure.CompareResult{}).Markdown,
	} {
		var b strings.Builder
		if err := write(&b); err != nil || b.Len() == 0 {
			t.Errorf("%s: %d bytes, %v", name, b.Len(), err)
		}
	}
}
