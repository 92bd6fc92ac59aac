package request

import (
	"strings"
	"testing"

	"infill/tokenize/tokenizetest"
)

func FuzzReadStarts(f *testing.F) {
	tok := tokenizetest.Tiny(f)
	f.Add(`{"text":"a [MASK].","fillings":[{"tokens":["b"]}]}`)
	f.Add(`{"text":"\\[MASK]","fillings":[{}]}` + "\n{")
	f.Fuzz(func(t *testing.T, file string) {
		s, err := ReadStarts(tok, "f", strings.NewReader(file))
		if err == nil && len(s.ByText) == 0 || err != nil && !strings.Contains(err.Error(), "f") {
			t.Errorf("%v, %v", s, err)
		}
	})
}
