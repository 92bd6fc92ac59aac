// Package inputtest has the inputs of tests: files that are hard to read.
package inputtest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
)

// Files are files whose lines are hard to cut.
func Files() map[string]string {
	return map[string]string{
		"lines":           Sentences(60),
		"nothing":         "",
		"one byte":        "a",
		"one end":         "\n",
		"blank lines":     "\n\n \r\n\na b\n\n\t\n",
		"CRLF":            "one\r\ntwo\r\n\r\nthree\r\nbad 4\r\nfive",
		"a mark":          "\ufeffone\n\ufefftwo\nthree\n",
		"a mark, alone":   "\ufeff",
		"two marks":       "\ufeff\ufeff0\n1",
		"a long line":     "a\n" + strings.Repeat("x", 3*textline.PeekSize) + "\nb\n",
		"too long":        "a\n" + strings.Repeat("y", jsonl.MaxInput+5) + "\nb\nc",
		"magic in a line": "one\n\x1f\x8btwo\n(\xb5/\xfdthree\nPAR1\nfour\n",
		"JSON lines": "{\"text\":\"a\",\"id\":1}\n\nno json\n{\"text\":\"b\"}\n" +
			"{\"text\":\"c\",\"id\":\"c\",\"line\":7}\n{\"text\":\"d\"}",
		"CSV.csv":    "id,text\n1,\"a\nb\"\n2,c\n3,\"bad\n\n\nrow\"\n4\n5,\"d \"\"e\"\"\n\"\n6,f",
		"TSV.tsv":    "text\n\"a\nc\"\n\nd\n",
		"header.csv": "text\n",
		"JSON later": "text comes first\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n",
	}
}

// Packed are the first of them, compressed.
func Packed(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lines", "JSON lines", "CSV.csv", "nothing", "a mark"} {
		data := []byte(Files()[name])
		out[name+".gz"] = string(Gzip(t, data))
		out[name+".zst"] = string(z.EncodeAll(data, nil))
	}
	return out
}

// Gzip are bytes, compressed.
func Gzip(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Parquet writes a table with a number of rows, and returns its path.
func Parquet(t *testing.T, path string, rows int) string {
	t.Helper()
	var out bytes.Buffer
	whole := table.Type{Kind: table.Whole}
	w, err := table.NewWriter(&out, settings.FormatParquet, 0, []table.Column{
		{Name: "zeta", Type: whole}, {Name: "text", Type: table.Type{Kind: table.Text}},
		{Name: "score", Type: table.Type{Kind: table.List, Elem: &whole}}, {Name: "id", Type: whole}})
	for i := range rows {
		var text any = fmt.Sprintf("row %d has text", i+1)
		if i == 2 {
			text = nil
		}
		if i%5 == 1 {
			text = "bad row"
		}
		row := []any{int64(i) << 40, text, []any{int64(i), int64(1)}, int64(100 + i)}
		err = errors.Join(err, w.Write(row))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return Write(t, path, out.String())
}

// Sentences is an input of n lines, some of them bad, some empty.
func Sentences(n int) string {
	var b strings.Builder
	for i := range n {
		switch {
		case i%17 == 3:
			b.WriteString("\n")
		case i%11 == 5:
			fmt.Fprintf(&b, "bad line %d\r\n", i)
		default:
			fmt.Fprintf(&b, "line %d has text\n", i)
		}
	}
	return b.String() + "the last has no end"
}

// Write writes a file, and returns its path.
func Write(t testing.TB, path string, data string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Read has the bytes of a file.
func Read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
