package infill

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"infill/mlm"
	"infill/tokenize/tokenizetest"
)

// What a template says of its blanks is what the text says, and is the caller's.
func TestTemplateSays(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	const text = `the \\[MASK:a*1-2|dog|cat] saw [MASK.] and [MASK/ing$/] .`
	tm, err := Parse(tok, text)
	if err != nil {
		t.Fatal(err)
	}
	said := func(b Blank) Blank {
		b.Pattern = nil
		return b
	}
	for i, want := range []Blank{
		{Name: "a", Min: 1, Max: 2, Words: []string{"dog", "cat"}},
		{Min: 1, Max: 1, Punctuation: true},
		{Min: 1, Max: 1},
	} {
		b := tm.Blanks()[i]
		want.Start, want.End, want.Pos = b.Start, b.End, tm.Positions()[i]
		if !reflect.DeepEqual(said(b), want) || tm.IDs()[b.Pos] != tok.MaskID() ||
			!strings.HasPrefix(tm.Text()[b.Start:b.End], "[MASK") {
			t.Errorf("blank %d is %+v, want %+v", i+1, b, want)
		}
	}
	if re := tm.Blanks()[2].Pattern; re == nil || re.String() != "ing$" {
		t.Errorf("the expression is %v", re)
	}
	tm.Blanks()[0].Words[0], tm.IDs()[0] = "fox", -1
	if tm.Blanks()[0].Words[0] != "dog" || tm.IDs()[0] == -1 {
		t.Error("a caller changes the template")
	}
	if same, err := tm.Cut(100, 0); err != nil || same != tm {
		t.Errorf("a template that fits is cut (%v)", err)
	}
	cut, err := tm.Cut(len(tm.IDs())-1, 0)
	if err != nil || cut.Window() == tm.Window() || len(cut.IDs()) >= len(tm.IDs()) ||
		cut.Text() != tm.Text() {
		t.Errorf("%+v, %v", cut, err)
	}
	if _, err := tm.Cut(3, 0); !errors.Is(err, mlm.ErrTooLong) {
		t.Errorf("blanks too far apart: %v", err)
	}
}
