package input

import (
	"errors"
	"io"
	"strings"
	"testing"

	"infill/infill/settings"
)

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
		if err != nil || !in.options.InPlace() {
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
