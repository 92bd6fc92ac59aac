package input

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"

	"infill/infill/batch/input/inputtest"
	"infill/infill/jsonl"
	"infill/infill/settings"
)

// readAll has the records of an input up to its end, or up to an error of the whole input.
func readAll(in *Reader) (out []Item, err error) {
	for {
		it, err := in.Next()
		if err != nil {
			return out, err
		}
		out = append(out, it)
	}
}

// sent has the records of an input that were read as lines first.
func sent(in *Reader, textField string) (out []Item, err error) {
	for {
		l, err := in.NextLine()
		if err != nil {
			return out, err
		}
		o := Options{Format: in.Format(), TextField: textField}
		out = append(out, o.Item(l))
	}
}

func TestNextLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", jsonl.MaxInput+1)
	for name, c := range map[string]struct {
		text  string
		lines []int
	}{
		"empty":          {"", nil},
		"only ends":      {"\n\r\n \t\n", nil},
		"no end":         {"one\ntwo", []int{1, 2}},
		"CRLF and marks": {"\ufeffone\r\n\r\ntwo\r\n\ufeffthree", []int{1, 3, 4}},
		"JSON":           {"{\"text\":\"a ___\",\"id\":3}\n\n{bad\n{\"text\":1}\n", []int{1, 3, 4}},
		"too long":       {"one\n" + long + "\nthree\n" + long[1:] + "\n", []int{1, 2, 3, 4}},
	} {
		open := func(limit int) *Reader {
			in, err := OpenStream("x", strings.NewReader(c.text), Options{Limit: limit})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return in
		}
		want, werr := readAll(open(0))
		got, err := sent(open(0), "")
		if werr != io.EOF || err != io.EOF || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v, %v", name, err, werr, len(got))
		}
		var lines []int
		for _, it := range got {
			lines = append(lines, it.Line)
		}
		if !reflect.DeepEqual(lines, c.lines) {
			t.Errorf("%s: lines %v, want %v", name, lines, c.lines)
		}
		if got, _ := sent(open(1), ""); len(got) > 1 || len(c.lines) > 0 && len(got) == 0 {
			t.Errorf("%s: a limit of 1 gives %d", name, len(got))
		}
	}
	in, err := OpenStream("a.csv", strings.NewReader("text\nx\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.NextLine(); !errors.Is(err, ErrNoLines) || !strings.HasPrefix(err.Error(), "a.csv") {
		t.Errorf("a table: %v", err)
	}
}

// A shard of a compressed file has lines too, those of its records.
func TestNextLineOfShards(t *testing.T) {
	t.Parallel()
	for name, text := range inputtest.Packed(t) {
		if strings.HasPrefix(name, "CSV") {
			continue
		}
		path := inputtest.Write(t, filepath.Join(t.TempDir(), name), text)
		for i := range 3 {
			open := func() *Reader {
				in, err := Open(path, nil, Options{Shard: settings.Shard{Index: i, Of: 3}})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				t.Cleanup(func() { _ = in.Close() })
				return in
			}
			want, werr := readAll(open())
			got, err := sent(open(), "")
			if werr != io.EOF || err != io.EOF || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, shard %d: %v, %v, %d lines of %d", name, i, err, werr, len(got), len(want))
			}
		}
	}
}

func TestOpenStream(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, "{\"sentence\":\"a ___\"}\n"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := OpenStream("far/a.jsonl.gz", &packed, Options{TextField: "sentence"})
	if err != nil {
		t.Fatal(err)
	}
	if in.Format() != settings.FormatJSONL {
		t.Errorf("format %v", in.Format())
	}
	if got, err := sent(in, "sentence"); err != io.EOF || len(got) != 1 || got[0].Text != "a ___" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = OpenStream("far/a.parquet", strings.NewReader("PAR1"), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "far/a.parquet: ") {
		t.Errorf("Parquet: %v", err)
	}
}

// Lines that are read as records elsewhere are the records of Next.
func FuzzNextLine(f *testing.F) {
	f.Add("one\r\n\n\ufefftwo", false)
	f.Add("{\"text\":\"a\"}\n{\n", true)
	f.Fuzz(func(t *testing.T, text string, jsonLines bool) {
		format := settings.FormatText
		if jsonLines {
			format = settings.FormatJSONL
		}
		want, werr := readAll(Lines("x", strings.NewReader(text), format))
		got, err := sent(Lines("x", strings.NewReader(text), format), "")
		if err != io.EOF || werr != io.EOF || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v %+v, want %v %+v", err, got, werr, want)
		}
	})
}

// A folder can come in as a stream too, and is called one.
func TestFolderAsStream(t *testing.T) {
	t.Parallel()
	r := iotest.ErrReader(&fs.PathError{Op: "read", Path: "/dev/stdin", Err: syscall.EISDIR})
	in, err := OpenStream("standard input", r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = in.Next()
	const want = "standard input: it is a folder; name a file in it"
	if !errors.Is(err, syscall.EISDIR) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// What is wrong with an element of an array is said of an element.
func TestElements(t *testing.T) {
	t.Parallel()
	const want = "; want a text or an object with a text"
	for text, says := range map[string]string{
		"5": "bad element: it is a number" + want, "[\"a\"]": "bad element: it is an array" + want,
		"true": "bad element: it is true" + want,
		"{}":   "bad element: no field \"text\"", "x": "bad element: want an object such as",
		"\"\\ud800\"": "bad element: it has half", `{"text":5}`: "bad element: text is not a string",
	} {
		it := Options{Format: settings.FormatJSON}.Item(Line{Number: 3, Text: []byte(text)})
		if it.Err == nil || !strings.HasPrefix(it.Err.Error(), says) || jsonl.Code(it.Err) != "bad_json" || it.Line != 3 {
			t.Errorf("%s: %+v", text, it)
		}
	}
	// A text that is null or empty is nothing to do, unless it is to be an error.
	for text, left := range map[string]string{"null": "null", `""`: "empty", `{"text":" "}`: "empty",
		`{"text":null}`: "null", `"a"`: ""} {
		o := Options{Format: settings.FormatJSON}
		if it := o.Item(Line{Number: 1, Text: []byte(text)}); it.Err != nil || it.Left != left {
			t.Errorf("%s: %+v", text, it)
		}
		o.OnNull = "error"
		if it := o.Item(Line{Number: 1, Text: []byte(text)}); it.Left != "" ||
			(it.Err != nil) != (left == "null") {
			t.Errorf("%s is an error: %+v", text, it)
		}
	}
	long := Options{Format: settings.FormatJSON}.Item(Line{Number: 1, TooLong: true})
	if jsonl.Code(long.Err) != "too_long" || !strings.HasPrefix(long.Err.Error(), "the element is too long: ") {
		t.Errorf("%+v", long)
	}
	none := Options{Format: settings.FormatJSON}.Item(Line{Number: 1, Text: []byte("{}")})
	if !errors.Is(none.Err, jsonl.ErrNoText) {
		t.Errorf("without its kind: %v", none.Err)
	}
}
