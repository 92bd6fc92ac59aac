package tokenize

import (
	"io/fs"
	"slices"
	"testing"
)

// Straight gives curly text the ids of plain text, and spans of the text as it is. A span is written
// out by hand: “ has three bytes, … too.
func TestTypography(t *testing.T) {
	t.Parallel()
	const curly = "“I can’t,” she said… a\u00ADb\u00A0—\u200Bno"
	const plain = `"I can't," she said... ab -no`
	for _, c := range []struct {
		name   string
		folder fs.FS
	}{
		{"WordPiece", folder(map[string]string{vocabFile: "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n\"\n'\n,\n.\n-\n" +
			"i\ncan\nt\nshe\nsaid\nab\nno\na\n##b\n“\n’\n", configFile: `{"do_lower_case": true}`})},
		{"byte-level BPE", testdata("hf/roberta-files")},
	} {
		straight, err := LoadAs(c.folder, Straight)
		if err != nil {
			t.Fatal(err)
		}
		got, err := straight.Encode(curly)
		if err != nil {
			t.Fatal(err)
		}
		want, err := straight.Encode(plain)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.IDs, want.IDs) {
			t.Errorf("%s: %q, want %q", c.name, got.Tokens, want.Tokens)
		}
		if first := got.Spans[1]; first != [2]int{0, len("“")} {
			t.Errorf("%s: the first quote has the span %v", c.name, first)
		}
		if last := got.Spans[len(got.Spans)-2]; last[1] != len(curly) {
			t.Errorf("%s: the last word has the span %v of %d bytes", c.name, last, len(curly))
		}
		own, err := Load(c.folder)
		if err != nil {
			t.Fatal(err)
		}
		before, err := own.Encode(curly)
		if err != nil || slices.Equal(before.IDs, want.IDs) || own.Typography() != AsIs {
			t.Errorf("%s: without it the text is %q, %v", c.name, before.Tokens, err)
		}
		same, err := own.Encode(plain)
		if err != nil || !slices.Equal(same.IDs, want.IDs) {
			t.Errorf("%s: plain text changes: %q, %q, %v", c.name, same.Tokens, want.Tokens, err)
		}
	}
}

// A model's own file says how it sees marks, and a caller may say otherwise.
func TestTypographyOfModel(t *testing.T) {
	t.Parallel()
	files := map[string]string{vocabFile: "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n-\n", configFile: `{"typography": "straight"}`}
	for as, want := range map[Typography]Typography{OfModel: Straight, Straight: Straight, AsIs: AsIs} {
		if tok, err := LoadAs(folder(files), as); err != nil || tok.Typography() != want {
			t.Errorf("%v: %v, %v", as, tok.Typography(), err)
		}
	}
	files[configFile] = `{"typography": "curly"}`
	if _, err := Load(folder(files)); err == nil {
		t.Error("a typography of no name is taken")
	}
}
