package space

import (
	"testing"

	"infill/infill/request"
	"infill/infill/text"
	"infill/tokenize/tokenizetest"
)

// A content word is replaced by none of the function words, in blanks of one token, of several and
// with a list. A function word may be replaced by any.
func TestMeaning(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	s := NewSupports(tok)
	for _, c := range []struct {
		text, stood string
		content     bool
		the         bool // "the" may fill the blank
	}{
		{"The [MASK] sat.", "dog", true, false},
		{"The [MASK] sat.", "dog", false, true},
		{"The [MASK] sat.", "of", true, true},
		{"The [MASK|the|cat] sat.", "dog", true, false},
		{"The [MASK*2w] sat.", "dog", true, false},
	} {
		tp, err := text.Parse(tok, c.text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Rules(tp, &request.WordOptions{Original: []string{c.stood}, Content: c.content})
		if err != nil {
			t.Fatal(err)
		}
		g := &tp.Groups[0]
		the, err := s.bound.Spell("the", 0)
		if err != nil {
			t.Fatal(err)
		}
		may := true
		for _, m := range r.all {
			if m, ok := m.(*written); !ok {
				continue
			} else if g.Max == 1 || g.Words != nil {
				ask, _ := m.alone(slot{Group: g, count: 1, list: g.Words != nil})
				may = ask == nil || ask(text.Phrase{IDs: the.IDs, Text: "the"})
			} else {
				may = m.allows(&draft{t: tp, fillings: [][]int32{append(the.IDs, the.IDs...)}})
			}
		}
		if may != c.the {
			t.Errorf("%q in the place of %q: the is allowed: %v", c.text, c.stood, may)
		}
	}
}
