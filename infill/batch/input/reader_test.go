package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"

	"infill/infill/batch/input/inputtest"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/unpack"
)

func TestInput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", jsonl.MaxInput+1)
	for _, c := range []struct {
		name, data string
		json       bool
		want       []string // texts, or errors in angle brackets
	}{
		{"a.txt", "one\n\ntwo\r\n \tthree\u00a0\nfour\rfive", false,
			[]string{"1 one", "3 two", "4  \tthree\u00a0", "5 four\rfive"}},
		{"a.txt", "one\n  \t \r\n\u00a0\n two", false, []string{"1 one", "4  two"}},
		{"a.jsonl", `{"id":null,"text":"x"}` + "\n \n", true, []string{"1 x"}},
		{"a.txt", "\ufeffone\n{\"text\":\"x\"}", false, []string{"1 one", "2 {\"text\":\"x\"}"}},
		{"a.txt", "a\n" + long + "\nb\n" + long[2:] + "\n" + long, false,
			[]string{"1 a", "2 <the line is too long>", "3 b", "4 " + long[2:], "5 <the line is too long>"}},
		{"a", "{\"text\":\"one\"}\n\n{\"id\":7,\"text\":\"two\",\"x\":[1]}", true,
			[]string{"1 one", "3 two 7 x=[1]"}},
		{"a", "{not json [MASK]\n", false, []string{"1 {not json [MASK]"}},
		{"a.jsonl", "text\n" + `{"id":"é","text":"a\tb\r\n"}` + "\n" + `{"id":[1],"text":"x"}` + "\n" +
			`{"text":7}` + "\n" + `{"x":1}` + "\n" +
			`{"text":"x","text":"y"}` + "\n" + `{"text":"x"} 1` + "\n" + `{"text":"x"` + "\n" +
			"{\"text\":\"\xff\"}\n[1]\n" + `{"text":""}`, true,
			[]string{"1 <bad JSON line>", "2 a\tb\r\n \"é\"", "3 <bad JSON line>", "4 <bad JSON line>",
				"5 <bad JSON line>", "6 <bad JSON line>", "7 <bad JSON line>", "8 <bad JSON line>",
				"9 <bad JSON line>", "10 <bad JSON line>", "11 "}},
	} {
		path := inputtest.Write(t, filepath.Join(t.TempDir(), c.name), c.data)
		in, err := Open(path, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (in.Format() == settings.FormatJSONL) != c.json {
			t.Errorf("%.40q is taken for the wrong format", c.data)
		}
		var got []string
		for {
			it, err := in.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			s := fmt.Sprint(it.Line, " ", it.Text)
			for _, is := range []error{jsonl.ErrJSON, jsonl.ErrLineTooLong} {
				if errors.Is(it.Err, is) {
					s = fmt.Sprint(it.Line, " <", is, ">")
				}
			}
			if it.ID != nil && it.Err == nil {
				s += " " + string(it.ID)
			}
			for _, f := range it.Fields {
				if it.Err == nil {
					s += " " + f.Name + "=" + string(f.Value)
				}
			}
			got = append(got, s)
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%.40q: %.200q, want %.200q", c.data, got, c.want)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(t.TempDir(), nil, Options{}); err == nil ||
		!strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
	for text, ok := range map[string]bool{`\ud83d\ude00`: true, `\ud83d x`: false, `\uFFFD`: true,
		"\ufffd": true, `\\ud83d`: true} {
		var it Item
		if err := it.parse(Options{}, []byte(`{"text":"`+text+`"}`)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	a, b := Item{Line: 5}, Item{Line: 6, ID: json.RawMessage("5")}
	if a.Key() == b.Key() || a.Key() != "5" {
		t.Errorf("keys %q, %q", a.Key(), b.Key())
	}
}

// What Empty reads ahead is not lost, and a stream is read line by line.
func TestEmpty(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "\n\r\n\n": "", "\ufeff": "",
		"\ufeff\n\na\nb": "3 a,4 b", "a\n": "1 a", "\xef\xbb": "1 \xef\xbb"} {
		in := Lines("a test", strings.NewReader(text), settings.FormatText)
		if got := in.Empty(); got != in.Empty() || got != (want == "") { // asking reads nothing away
			t.Errorf("%q: empty %v", text, got)
		}
		var got []string
		for {
			it, err := in.Next()
			if err == io.EOF {
				break
			}
			if err != nil || it.Err != nil {
				t.Fatal(err, it.Err)
			}
			got = append(got, fmt.Sprint(it.Line, " ", it.Text))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if !in.Empty() {
			t.Errorf("%q: something is left", text)
		}
	}
	// A short line of somebody who types is there at once.
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, "a\n") }()
	if it, err := Lines("a terminal", r, settings.FormatText).Next(); err != nil || it.Text != "a" {
		t.Errorf("%+v, %v", it, err)
	}
	broken := errors.New("the cable is cut")
	in := Lines("a wire", io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)),
		settings.FormatText)
	if in.Empty() {
		t.Error("a line is there")
	}
	_, _ = in.Next()
	if _, err := in.Next(); !errors.Is(err, broken) ||
		!strings.Contains(err.Error(), "a wire: after line 1") {
		t.Errorf("%v", err)
	}
}

// What an input is, its bytes say: the names lie here.
func TestCompressedByBytes(t *testing.T) {
	t.Parallel()
	var gz bytes.Buffer
	g := gzip.NewWriter(&gz)
	if _, err := io.WriteString(g, "The [MASK].\nA [MASK].\n"); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	packed := inputtest.Write(t, filepath.Join(dir, "in.txt"), gz.String())
	plain := inputtest.Write(t, filepath.Join(dir, "in.txt.gz"), "The [MASK].\nA [MASK].\n")
	for _, path := range []string{packed, plain, "-"} {
		in, err := Open(path, bytes.NewReader(gz.Bytes()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"The [MASK].", "A [MASK]."} {
			if it, err := in.Next(); err != nil || it.Text != want {
				t.Errorf("%s: %q, %v; want %q", path, it.Text, err, want)
			}
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// No line and no output, however broken, does more than fail.
func FuzzLine(f *testing.F) {
	for _, s := range []string{`{"id":1,"text":"x","y":{"z":[]}}`, `{"text":"\ud800"}`, "{", `{"text":"x"}}`, "\xff", `{"id":null,"text":"x"}`, "[]", `{"text":"x","a":1e999}`, `{"text":"\uFFFD \ud83d\ude00"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		in := Reader{options: options{Options: Options{Format: settings.FormatJSONL}}, close: func() {}}
		if err := in.begin(strings.NewReader(s)); err != nil {
			if !errors.Is(err, unpack.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		for {
			it, err := in.Next()
			if err == io.EOF || errors.Is(err, unpack.ErrDamaged) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if it.Err != nil && !errors.Is(it.Err, jsonl.ErrJSON) &&
				!errors.Is(it.Err, jsonl.ErrLineTooLong) {
				t.Fatalf("untyped error %v", it.Err)
			}
			if it.Err == nil && it.ID != nil && !json.Valid(it.ID) {
				t.Fatalf("id %s", it.ID)
			}
		}
	})
}
