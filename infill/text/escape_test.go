package text

import (
	"infill/tokenize/tokenizetest"
	"reflect"
	"strings"
	"testing"
)

func TestEscapes(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for _, c := range []struct{ raw, text, blanks string }{
		{`the \[MASK] is [MASK] .`, `the [MASK] is [MASK] .`, "[MASK]"},
		{`the \___ is ____ .`, `the ___ is ____ .`, "____"},
		{`a \[MASK|red] or [MASK|red]`, `a [MASK|red] or [MASK|red]`, "[MASK|red]"},
		{`a \[MASK* or [MASK]`, `a [MASK* or [MASK]`, "[MASK]"},
		{`dir\\[MASK] .`, `dir\[MASK] .`, "[MASK]"},
		{`dir\\\[MASK] [MASK]`, `dir\[MASK] [MASK]`, "[MASK]"},
		{`C:\dog \ \\cat __\__ [MASK]`, `C:\dog \ \\cat __\__ [MASK]`, "[MASK]"},
		{`\[MASK][MASK]\[MASK]`, `[MASK][MASK][MASK]`, "[MASK]"},
		{`the \<mask> is <mask> .`, `the <mask> is <mask> .`, "<mask>"},
	} {
		tm, err := Parse(tok, c.raw)
		if err != nil {
			t.Errorf("%s: %v", c.raw, err)
			continue
		}
		b := tm.Blanks[0]
		if again, err := Parse(tok, tm.Source()); err != nil || again.Text != tm.Text ||
			!reflect.DeepEqual(again.Blanks, tm.Blanks) {
			t.Errorf("%s: written as %s, which is %+v (%v)", c.raw, tm.Source(), again, err)
		}
		if tm.Text != c.text || len(tm.Blanks) != 1 || c.text[b.Start:b.End] != c.blanks {
			t.Errorf("%s: %q with blanks %+v", c.raw, tm.Text, tm.Blanks)
		}
		// Every piece has the bytes that it has in the text without the blank.
		for p, id := range tm.IDs {
			bytes := tm.Text[tm.starts[p]:tm.ends[p]]
			switch word := strings.TrimPrefix(tok.Token(id), "##"); {
			case p == b.Pos && bytes != c.blanks, p != b.Pos && id == tok.MaskID():
				t.Errorf("%s: %q is %q", c.raw, bytes, tok.Token(id))
			case p != b.Pos && !tok.IsSpecial(id) && bytes != word:
				t.Errorf("%s: piece %q has the bytes %q", c.raw, word, bytes)
			}
		}
	}
}
