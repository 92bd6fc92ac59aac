package space

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"infill/infill/request"
	"infill/infill/text"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// TestMarkedSupports: after a space the pieces with its mark, elsewhere those
// without, never white space alone or part of a character.
func TestMarkedSupports(t *testing.T) {
	t.Parallel()
	for _, name := range tokenizetest.MarkedNames {
		tok := tokenizetest.Marked(t, name)
		s := NewSupports(tok)
		atStart := name == "albert" || name == "deberta-v2" // a text begins as after a space
		for _, c := range []struct {
			text   string
			spaced bool
		}{
			{"the [MASK] sat", true}, {"the  [MASK]", name != "modernbert"}, // two spaces are a token of ModernBERT
			{"[MASK] sat", atStart}, {"a\n[MASK]", atStart}, {"(___)", false},
			{"un[MASK]", false}, {"[MASK][MASK]", false}, {"the “[MASK]”", false}, {"a [MASK*2]", true},
		} {
			tm, err := text.Parse(tok, c.text)
			if err != nil {
				t.Fatal(err)
			}
			slot := func(v text.Vocab) ([]int32, error) {
				r, err := s.Rules(tm, &request.WordOptions{Vocab: v})
				if err != nil {
					return nil, err
				}
				g := len(tm.Groups) - 1
				return r.slot(g, 0, tm.Groups[g].Max)
			}
			ids, err := slot(text.VocabAll)
			if err != nil {
				t.Fatalf("%s: %q: %v", name, c.text, err)
			}
			for _, id := range ids {
				line, space := tok.Surface(id)
				if space != c.spaced || strings.TrimSpace(line) == "" || tok.IsSpecial(id) {
					t.Errorf("%s: %q may be filled with %q", name, c.text, tok.Token(id))
				}
			}
			words, err := slot(text.VocabWholeWords)
			if c.spaced &&
				(err != nil || !slices.ContainsFunc(words, func(id int32) bool {
					s, _ := tok.Surface(id)
					return s == "cat"
				})) {
				t.Errorf("%s: %q: cat is not among the whole words, %v", name, c.text, err)
			}
		}
	}
}

func TestMarkedTies(t *testing.T) {
	t.Parallel()
	for _, name := range tokenizetest.MarkedNames {
		tok := tokenizetest.Marked(t, name)
		s := NewSupports(tok)
		for _, c := range []struct {
			text string
			ok   bool
		}{
			{"the [MASK:a] and a [MASK:a]", true},
			{"[MASK:a] is dead, long live [MASK:a]!", true}, // at the start both look the same
			{"([MASK:a]) “[MASK:a]”", true},
			{"the [MASK:a] ([MASK:a])", false},
			{"the [MASK:a|cat|dog] ([MASK:a])", false},
		} {
			tm, err := text.Parse(tok, c.text)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Rules(tm, &request.WordOptions{Vocab: text.VocabAll})
			if err == nil && r.Lists[0] == nil {
				_, err = r.slot(0, 0, 1)
			}
			if (err == nil) != c.ok || err != nil && !errors.Is(err, text.ErrEmptySupport) {
				t.Errorf("%s: %q: %v", name, c.text, err)
			}
		}
	}
}

// TestMarkedPhrases: a listed word has the pieces that the tokenizer gives it
// in the finished text, wherever the blank stands.
func TestMarkedPhrases(t *testing.T) {
	t.Parallel()
	for _, name := range tokenizetest.MarkedNames {
		tok := tokenizetest.Marked(t, name)
		s := NewSupports(tok)
		for _, line := range []string{"the [MASK|cat|old man] sat", "[MASK|cat|old man] sat", "(the, [MASK|cat|old man].", "([MASK|cat|old man])", "“[MASK|cat|old man]”"} {
			tm, err := text.Parse(tok, line)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Rules(tm, &request.WordOptions{})
			if err != nil || len(r.Lists[0]) != 2 {
				t.Fatalf("%s: %q: %v, %v", name, line, r, err)
			}
			for _, p := range r.Lists[0] {
				full := line[:tm.Blanks[0].Start] + p.Text + line[tm.Blanks[0].End:]
				e, err := tok.Encode(full)
				if err != nil {
					t.Fatal(err)
				}
				want := slices.Concat(tm.IDs[:tm.Blanks[0].Pos], p.IDs, tm.IDs[tm.Blanks[0].Pos+1:])
				if !slices.Equal(e.IDs, want) {
					t.Errorf("%s: %q is %q", name, full, e.Tokens)
				}
				if got := s.bound.Join(p.IDs); got != p.Text {
					t.Errorf("%s: %q is joined as %q", name, p.Text, got)
				}
			}
		}
	}
}

func TestMarkedConstraints(t *testing.T) {
	t.Parallel()
	for _, name := range tokenizetest.MarkedNames {
		tok := tokenizetest.Marked(t, name)
		s := NewSupports(tok)
		ids := func(line string, at tokenize.Place) []int32 {
			e, err := tok.Word(line, at)
			if err != nil {
				t.Fatal(err)
			}
			return e.IDs
		}
		ban, err := text.NewWordList(tok, []string{"cat"})
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []tokenize.Place{tokenize.AfterSpace, tokenize.AfterSymbol} {
			if !ban.Holds(ids("cat", at)) || ban.Holds(ids("dog", at)) || ban.Len() != 1 {
				t.Errorf("%s: the list of cat, at place %v, has cat %v", name, at, ban.Holds(ids("cat", at)))
			}
		}
		tm, err := text.Parse(tok, "the [MASK*2] sat")
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Rules(tm, &request.WordOptions{Ban: ban})
		if err != nil {
			t.Fatal(err)
		}
		sp, err := r.Space(tm, []int{2})
		if err != nil {
			t.Fatal(err)
		}
		the, cat, dog := ids("the", tokenize.AfterSpace)[0], ids("cat", tokenize.AfterSpace)[0], ids("dog", tokenize.AfterSpace)[0]
		for _, c := range []struct {
			f  []int32
			ok bool
		}{
			{[]int32{the, dog}, true}, {[]int32{the, cat}, false},
			{[]int32{the, the}, true}, // a repetition is for NoRepeat to forbid
		} {
			if got := allowed(sp, c.f); got != c.ok {
				t.Errorf("%s: %q is allowed: %v", name, s.bound.Join(c.f), got)
			}
		}
		u := unrepeated{base: base{bound: s.bound}}
		if u.twice([]int32{the, dog}, false) || !u.twice([]int32{the, the}, false) {
			t.Errorf("%s: repetitions are not seen", name)
		}
		// Pieces that the tokenizer would join are no spelling of a text.
		if c, ok := tok.ID(tok.Token(cat)[:len(tok.Token(cat))-2]); ok {
			at := ids("at", tokenize.AfterSymbol)
			if len(at) == 1 && allowed(sp, []int32{c, at[0]}) {
				t.Errorf("%s: cat in two pieces is allowed", name)
			}
		}
	}
}

// allowed reports whether the constraints of a space let its one group have a filling.
func allowed(sp *Space, f []int32) bool {
	d := &sp.draft
	d.fillings = [][]int32{f}
	return sp.allows(d)
}
