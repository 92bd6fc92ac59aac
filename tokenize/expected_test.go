package tokenize

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExpected compares with Hugging Face's tokenizers on generated lines full
// of special tokens, marks, controls and rare characters. Each folder is a
// tokenizer with its expected.jsonl, made by testdata/gen_expected.py; more
// such folders can be named in INFILL_TOKENIZE_FOLDERS, a path list.
func TestExpected(t *testing.T) {
	t.Parallel()
	folders := filepath.SplitList(os.Getenv("INFILL_TOKENIZE_FOLDERS"))
	for _, name := range []string{"uncased", "cased-json", "uncased-json", "switches"} {
		folders = append(folders, filepath.Join("testdata", name))
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			tok, err := Load(os.DirFS(folder))
			if err != nil {
				t.Fatal(err)
			}
			cases := readExpected(t, filepath.Join(folder, "expected.jsonl"))
			if len(cases) < 200 {
				t.Errorf("only %d lines", len(cases))
			}
			bad := 0
			for _, c := range cases {
				if !c.check(t, tok, 1) {
					bad++
				}
				if got := tok.Decode(c.IDs); got != c.Decoded {
					t.Errorf("Decode(%d)\n got %q\nwant %q", c.IDs, got, c.Decoded)
				}
				if bad > 10 {
					t.Fatal("and so on")
				}
			}
		})
	}
}
