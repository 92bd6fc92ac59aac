package space

import (
	"errors"
	"strings"
	"testing"

	"infill/infill/request"
	"infill/infill/text"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// However many constraints there are, every one of their keys counts, and so does their order.
func TestJoinedKeys(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 9, 20} {
		keys := make([]any, n)
		for i := range keys {
			keys[i] = i
		}
		whole := joined(keys)
		if whole != joined(append([]any(nil), keys...)) {
			t.Errorf("%d equal keys differ", n)
		}
		if whole == joined(keys[:n-1]) || whole == joined(append(keys[:n:n], n)) {
			t.Errorf("%d keys equal fewer or more", n)
		}
		for i := range keys {
			other := append([]any(nil), keys...)
			other[i] = "another"
			if whole == joined(other) {
				t.Errorf("key %d of %d does not count", i, n)
			}
		}
	}
}

func TestSupports(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	s := NewSupports(tok)
	begin := s.sorted.First[text.VocabAll][tokenize.AfterSpace]
	glued := s.sorted.First[text.VocabAll][tokenize.AfterLetter]
	words := s.sorted.First[text.VocabWholeWords][tokenize.AfterSpace]
	for kind, ids := range map[string][]int32{"begin": begin, "glued": glued, "words": words} {
		if len(ids) == 0 {
			t.Fatalf("%s is empty", kind)
		}
		for i, id := range ids {
			piece := tok.Token(id)
			switch {
			case strings.HasPrefix(piece, "[") && len(piece) > 1:
				t.Errorf("%s holds %s", kind, piece)
			case strings.HasPrefix(piece, "##") != (kind == "glued") && text.LettersAfter(piece) != "":
				t.Errorf("%s holds %s", kind, piece)
			case kind != "glued" && strings.HasPrefix(piece, "##"):
				t.Errorf("%s holds %s", kind, piece)
			case i > 0 && ids[i-1] >= id:
				t.Errorf("%s is not ascending at %d", kind, i)
			}
		}
	}
	tm, err := text.Parse(tok, "dog[MASK] [MASK]")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Rules(tm, &request.WordOptions{Vocab: text.VocabAll})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int32{glued, begin} {
		if got, err := r.slot(i, 0, 1); err != nil || &got[0] != &want[0] {
			t.Errorf("blank %d has the other's support (%v)", i+1, err)
		}
	}
	r.Supports = &Supports{bound: s.bound}
	if _, err := r.slot(0, 0, 1); !errors.Is(err, text.ErrEmptySupport) {
		t.Errorf("an empty support gives %v", err)
	}
}
