package input

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
)

// Objects, or texts, in brackets are an array of JSON, whatever the name is. Other brackets are text.
func TestLooksArray(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]settings.Format{
		`[{"text": "The [MASK] ran."}]`:           settings.FormatJSON,
		"\ufeff\n [ \"The [MASK] ran.\",\n\"x\"]": settings.FormatJSON,
		"[\r\n  {\r\n}]":                          settings.FormatJSON,
		"[ ]\n":                                   settings.FormatJSON,
		"[]\nThe [MASK].":                         settings.FormatText,
		"[MASK] ran.\n":                           settings.FormatText,
		`{"text": "The [MASK] ran."}`:             settings.FormatJSONL,
	} {
		for _, name := range []string{"a.json", "a.JSON.gz", "a", "-"} {
			if want == settings.FormatText && strings.HasPrefix(name, "a.") {
				continue // see TestNotLines
			}
			in, err := OpenStream(name, strings.NewReader(data), Options{})
			if err != nil || in.Format() != want {
				t.Fatalf("%s %q: %v, want %v", name, data, err, want)
			}
		}
	}
	in, err := OpenStream("a.txt", strings.NewReader(`["The [MASK]."]`), Options{})
	if err != nil || in.Format() != settings.FormatText {
		t.Errorf("an array in a file of text: %v", err)
	}
}

// What has no lines is refused, unless somebody says that it is text. Sentences may begin with
// brackets.
func TestNotLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, data, want string }{
		{"a.json", "{\n  \"text\": \"The [MASK] ran.\"\n}", "jq -c ."},
		{"a.png", "\x89PNG\r\n\x1a\n\x00\x00", "a PNG image"},
		{"a.txt", "\xff\xfea\x00b\x00", "UTF-16"},
		{"a.txt", "\xff\xfea\x00b\x00", "say its encoding, utf-16le"},
		{"a.jsonl", "PK\x03\x04\n", "a zip archive"},
		{"a.bin", "text\n\x00", "NUL bytes"},
		{"a.txt", "One [MASK].\rTwo [MASK].\r", `tr '\r' '\n'`},
		{"a", "\r\rOne [MASK].\r\rTwo [MASK].", `tr '\r' '\n'`},
		{"a", "# text = Ann slept.\n1\tAnn\tAnn\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\n" +
			"2\tslept\tsleep\tVERB\tVBD\t_\t0\troot\t_\t_\n3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n", `"spans": [{"start": 0`},
		{"a.txt", "Grade B-plus\nGroup O\n", ""},                         // two lines
		{"a.txt", "\f\n\v", ""},                                          // no column at all
		{"a.txt", "Ann O\nBob O\nTom O\n", ""},                           // no label has a name
		{"a.txt", "Vitamin B-twelve\nIt is B-plus.\nGroup O\nx O\n", ""}, // a sentence among them
		{"a.txt", "One [MASK].\rTwo [MASK].\n", ""},
		{"a.conll", "The old man sat.\nShe left.\n\nThen came rain .\n", "not columns"},
		{"a.bio", "Hello.\n\nWorld.\n", "not columns"},
		{"a.iob", "I sat in\na small house\nby the sea\n", "not columns"}, // three words each
		{"a.iob2", `{"text":"Ann slept.","spans":[]}` + "\n", "not columns"},
		{"a.conll", "Ann PER\nslept O\n", ""},
		{"a.conll", "the det\ncat noun\nthe det\ndog noun\n", ""},
		{"a.conll", "the\tdet\ncat\tnoun\n", ""},
		{"a.conll", "O Ann\nO slept\n", ""}, // an error of its sentence
		{"a.conll", "", ""},
		{"a.txt", "pos\tIt was good.\nneg\tIt was bad.\n", "say that it is a table"},
		{"a", "text\tlabel\nIt was good.\t1\r\n\nIt was bad.\t0", "say that it is a table"},
		{"a.txt", "It is good.\tvery good\nIt is fine.\tvery good\nAh.\tbad\nIt is.\tbad\n" +
			strings.Repeat("It is so.\tbad\n", 5), "say that it is a table"},
		{"a.txt", "It was good.\tEs war gut.\nIt is bad.\tEs ist arg.\n", ""}, // no labels
		{"a.txt", "pos\tIt was good.\nIt was bad.\n", ""},
		{"a.txt", "dog\tHund\ncat\tKatze\n", ""},
		{"a.txt", "One [MASK].\r", ""},
		{"a", "[MASK] ran.\n", ""},
		{"a", "[ [MASK] ] ran.\n", ""},
		{"a.wiki", "[[File:x.png]] [MASK]\n", ""},
		{"a", "[\n", ""},
		{"a.json", "", ""},
		{"a.json", " \n", ""},
		{"a.json", "{\"text\":\"a [MASK]\"}\n{", ""},
		{"a.json", "[MASK] ran.\n", "neither an array of texts"},
		{"a.json", `[["a [MASK] day"]]`, "neither an array of texts"},
		{"a.json", "[\n [1,\"a [MASK] day\"]\n]", "neither an array of texts"},
		{"a.json", `{'text':'a [MASK]'}`, "neither an array of texts"},
		{"a.json", "// c\n[{\"text\":\"a [MASK]\"}]", "neither an array of texts"},
		{"a.json", `"a [MASK] day"`, "mend it, or say that it is text"},
		{"a.json.gz", "1\n", "neither an array of texts"},
		{"a.json.zst", "[\n", "neither an array of texts"},
		{"a.txt", `["The [MASK] ran."]`, ""},
		{"a.txt", "a\x00b", ""},
	} {
		path := inputtest.Write(t, filepath.Join(t.TempDir(), c.name), c.data)
		in, err := Open(path, nil, Options{})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%q: %v", c.data, err)
		case c.want != "" && (!errors.Is(err, ErrNotLines) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), path)):
			t.Errorf("%q: %v, want %q", c.data, err, c.want)
		case err == nil:
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
		in, err = Open(path, nil, Options{Format: settings.FormatText})
		if err != nil {
			t.Errorf("%q as text: %v", c.data, err)
			continue
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// That it is text is offered only where that can be read.
func TestNotLinesAsText(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]bool{
		"BZhao [MASK].\n":            true,
		"a\x00b":                     true,
		"\xff\xfea\x00b\x00":         false,
		"\x89PNG\r\n\x1a\n\x00\x00":  false,
		"a\x00b\xff\xfe\xfd":         false,
		"One [MASK].\rTwo [MASK].\r": false,
	} {
		_, err := guess(settings.FormatAuto, []byte(data))
		var lines *NotLinesError
		if !errors.As(err, &lines) || lines.Text != want ||
			strings.Contains(err.Error(), "or say that it is text") != want {
			t.Errorf("%q: %v, want %v", data, err, want)
		}
	}
}

// Labels in the forms of other tools are known by their bytes, if these cannot be anything else.
func TestLabelledByBytes(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]settings.Format{
		"-DOCSTART- -X- O O\n\nAnn NNP I-NP B-PER\nslept VBD I-VP O\n. . O O\n": settings.FormatCoNLL,
		"Ann\tB-PER\r\nslept\tO\r\n.\tO\r\n\r\nBob\tB-P":                        settings.FormatCoNLL,
		`[["Ann slept.", {"entities": [[0, 3, "PER"]]}]]`:                       settings.FormatJSON,
		`["Ann slept.", {"entities": [[0, 3, "PER"]]}]`:                         settings.FormatJSONL,
		`{"text": "Ann slept.", "label": [[0, 3, "PER"]]}`:                      settings.FormatJSONL,
		"Ann O\nBob O\nTom O\n":                                                 settings.FormatCoNLL,
	} {
		in, err := OpenStream("a", strings.NewReader(data), Options{})
		if err != nil || in.Format() != want {
			t.Errorf("%q: %v, want %v", data, err, want)
		}
	}
}
