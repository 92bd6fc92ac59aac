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
		`["Ann ran.", {"entities": [[0, 3, "PER"]]}] ["x", {"entities": []}]`,
	} {
		f.Add(text, uint8(min(i, 3)))
	}
	f.Fuzz(func(t *testing.T, text string, kind uint8) {
		formats := []settings.Format{settings.FormatCoNLL, settings.FormatDoccano,
			settings.FormatLabelStudio, settings.FormatSpaCy}
		in, err := OpenStream("x", strings.NewReader(text), Options{Format: formats[kind%4]})
		if err != nil {
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
			whole.WriteString(it.Source.Before + it.Source.Body + it.Source.After)
		}
	})
}
