package space

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"infill/infill/request"
	"infill/infill/text"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// fillingsOf spells what may fill the first blank of a text.
func fillingsOf(t *testing.T, tok *tokenize.Tokenizer, line string, v text.Vocab) []string {
	t.Helper()
	tm, err := text.Parse(tok, line)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewSupports(tok).Rules(tm, &request.WordOptions{Vocab: v})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := r.slot(0, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, id := range ids {
		out = append(out, tok.Token(id))
	}
	return out
}

// Directly after a letter only pieces that go on with the word are filled in,
// and an expression sees the whole word.
func TestInsideWords(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	letters := regexp.MustCompile(`^##[\pL\pM]+$`)
	for _, c := range []struct {
		text string
		v    text.Vocab
		want func(piece string) bool
	}{
		{"walk[MASK]", text.VocabWholeWords, letters.MatchString},
		{"walk[MASK/ing/]", text.VocabAll, func(p string) bool {
			return letters.MatchString(p) && strings.Contains("walk"+p[2:], "ing")
		}},
		{"a walk[MASK/^walk(s|ed|ing)$/]", text.VocabAll, func(p string) bool {
			return p == "##s" || p == "##ed" || p == "##ing"
		}},
		{"walk[MASK/^walk.ly$/]ly", text.VocabAll, func(p string) bool {
			return letters.MatchString(p) && len([]rune(p)) == 3
		}},
	} {
		var want []string
		for id := range int32(tok.VocabSize()) {
			if p := tok.Token(id); !tok.IsSpecial(id) && !tok.IsUnused(id) && c.want(p) {
				want = append(want, p)
			}
		}
		if got := fillingsOf(t, tok, c.text, c.v); !slices.Equal(got, want) {
			t.Errorf(
				"%s: %d pieces such as %q, want %d", c.text, len(got), got[:min(9, len(got))], len(want),
			)
		}
	}
	// An expression before letters sees these too.
	for _, p := range fillingsOf(t, tok, "a [MASK/^w.*ing$/]ing dog", text.VocabAll) {
		if p[0] != 'w' || !slices.ContainsFunc(tok.WholeWords(), func(id int32) bool { return tok.Token(id) == p }) {
			t.Errorf("%q begins no word in w", p)
		}
	}
}

// The same in vocabularies that mark spaces: pieces of letters without the mark.
func TestInsideMarkedWords(t *testing.T) {
	t.Parallel()
	for _, name := range tokenizetest.MarkedNames {
		tok := tokenizetest.Marked(t, name)
		for _, c := range []struct{ text, before, expr string }{
			{"the c[MASK/^ca/]", "c", "^ca"}, {"the b[MASK/[tn]$/]", "b", "[tn]$"},
		} {
			got := fillingsOf(t, tok, c.text, text.VocabAll)
			for id := range int32(tok.VocabSize()) {
				s, space := tok.Surface(id)
				want := !space && letters(s) && !tok.IsSpecial(id) && !tok.IsUnused(id) &&
					regexp.MustCompile(c.expr).MatchString(c.before+s)
				if slices.Contains(got, tok.Token(id)) != want {
					t.Errorf("%s: %s may take %q: %v", name, c.text, tok.Token(id), !want)
				}
			}
		}
	}
}

// A blank that stands apart takes words. Punctuation is asked for, in the blank
// or for all blanks. Directly after a letter it is there.
func TestPunctuationIsAskedFor(t *testing.T) {
	t.Parallel()
	toks := map[string]*tokenize.Tokenizer{
		"tiny": tokenizetest.Tiny(t), "default": tokenizetest.Small(t),
	}
	for _, name := range tokenizetest.MarkedNames {
		toks[name] = tokenizetest.Marked(t, name)
	}
	digits := func(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }
	word := func(tok *tokenize.Tokenizer, piece string) bool {
		id, _ := tok.ID(piece)
		s, _ := tok.Surface(id)
		return unicode.In([]rune(s)[0], unicode.L, unicode.M) && !digits(s)
	}
	for name, tok := range toks {
		for _, line := range []string{"the [MASK] sat", "the big [MASK]", "(the [MASK] )", "([MASK])", "[MASK]."} {
			all := fillingsOf(t, tok, line, text.VocabAll)
			words := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !word(tok, p) })
			if got := fillingsOf(t, tok, line, text.VocabWords); !slices.Equal(got, words) ||
				name == "default" && len(got) == len(all) {
				t.Errorf("%s: %q takes %d of %d tokens, want %d", name, line, len(got), len(all), len(words))
			}
			asked := strings.Replace(line, "[MASK]", "[MASK.]", 1)
			for _, v := range []text.Vocab{text.VocabWords, text.VocabAll, text.VocabWholeWords} {
				if got := fillingsOf(t, tok, asked, v); !slices.Equal(got, all) {
					t.Errorf("%s: %q takes %d tokens, want %d", name, asked, len(got), len(all))
				}
			}
		}
		all := fillingsOf(t, tok, "the dog[MASK]", text.VocabAll)
		words := slices.DeleteFunc(slices.Clone(all), digits)
		if got := fillingsOf(t, tok, "the dog[MASK]", text.VocabWords); !slices.Equal(got, words) {
			t.Errorf("%s: after a letter %d of %d tokens, want %d", name, len(got), len(all), len(words))
		}
	}
}

// letters reports whether a piece consists of letters and combining marks.
func letters(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r)
	})
}
