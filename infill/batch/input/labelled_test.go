package input

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
)

// A sentence whose rows are no tokens and tags is an error that names the line. Others are read.
func TestRowErrors(t *testing.T) {
	t.Parallel()
	const good = "Ann B-PER\nslept O\n\n"
	for rows, want := range map[string]string{
		"Bob B-PER\nran\n. O":       `line 5 is not a token and its tag`,
		"Bob N B-PER\nran O\n. . O": "line 5 has 2 columns, and line 4 has 3",
		"B-PER Bob\nO ran\nO .":     "line 4 has its tag first",
		"1 Bob B-PER\n2 ran O":      "line 4 has the number of its token first",
		"Bob PER\nran O":            "",
		"New\u00a0York B-LOC\nis O": "",
		"1 O\nis O":                 "",
	} {
		got, err := items(t, inputtest.Write(t, filepath.Join(t.TempDir(), "a.conll"), good+rows), Options{})
		if err != nil || len(got) != 2 || strings.Contains(got[0], "<") ||
			strings.Contains(got[1], "<bad_row>") != (want != "") {
			t.Errorf("%q: %q, %v", rows, got, err)
		}
		in, err := OpenStream("a.conll", strings.NewReader(good+rows), Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = in.Next()
		if it, _ := in.Next(); it.Err == nil && want != "" || it.Err != nil &&
			!strings.Contains(it.Err.Error(), want) {
			t.Errorf("%q: %v, want %q", rows, it.Err, want)
		}
	}
}

// Whatever a labelled file holds, its items together are the file, byte for byte.
func FuzzLabelled(f *testing.F) {
	for i, text := range []string{
		"-DOCSTART- -X- O\n\nAnn NNP B-PER\nran VBD O\n\n# next\r\nBob B-PER\r\n",
		`{"text":"Ann ran.","label":[[0,3,"PER"]]}` + "\n\n" + `{"text":"x","label":[]}`,
		`{"data":{"text":"Ann ran."},"label":[{"start":0,"end":3,"labels":["PER"]}]}` + "\r\n",
		"\ufeff [[\"Ann ran.\", {\"entities\": [[0, 3, \"PER\"]]}],\n [\"x\", {}]]\n",
		"{\"data\": [{\"text\": \"Ann ran.\"},\n {\"text\": \"x\"}], \"n\": 1}",
		`{"a": [{"text": "x"}, {"text": "y"}]}`,
	} {
		f.Add(text, uint8([]int{0, 1, 1, 2, 2, 4}[i]))
	}
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		o := []Options{{Format: settings.FormatCoNLL}, {Format: settings.FormatJSONL, TextField: "data.text"},
			{Format: settings.FormatJSON}, {Format: settings.FormatJSONL, TextField: "[0]"},
			{Format: settings.FormatJSONL, TextField: "a[].text"}}[kind%5]
		in, err := OpenStream("x", strings.NewReader(text), o)
		if err != nil || !in.InPlace() {
			return
		}
		var whole strings.Builder
		for items := 0; ; items++ {
			it, err := in.Next()
			if errors.Is(err, io.EOF) {
				if items > 0 && whole.String() != text {
					t.Fatalf("%q came back as %q", text, whole.String())
				}
				return
			}
			if err != nil {
				return
			}
			if !it.Source.More {
				whole.WriteString(it.Source.Before + it.Source.Body + it.Source.After)
			}
		}
	})
}
