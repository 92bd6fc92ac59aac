package text

import (
	"errors"
	"strings"
	"testing"

	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// Whatever a list holds, what comes of it spells its words, or it is a typed error.
func FuzzReadWordList(f *testing.F) {
	for _, s := range []string{"dog\ncat\n", "# c\n\n big dog \r\n", "\ufeffdogs", "[MASK]\n", "\xff", "ing\n s, and he", "##s"} {
		f.Add(s)
	}
	tok := tokenizetest.Tiny(f)
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ReadWordList(tok, strings.NewReader(s))
		if err != nil {
			if !errors.Is(err, ErrOption) && !strings.Contains(err.Error(), "token too long") {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		for _, p := range l.phrases {
			enc, err := tok.Pieces(p.Text)
			if err != nil || IDsKey(enc.IDs) != IDsKey(p.IDs) || len(p.IDs) == 0 ||
				len(p.IDs) > MaxTokens {
				t.Fatalf("%q became %v", p.Text, p.IDs)
			}
			inside, err := l.bound.Spell(p.Text, tokenize.AfterLetter)
			if err == nil && (len(inside.IDs) == 0 || len(inside.IDs) > MaxTokens) {
				t.Fatalf("%q inside a word became %v", p.Text, inside.IDs)
			}
			for _, id := range inside.IDs {
				if tok.IsSpecial(id) {
					t.Fatalf("%q inside a word has a special token", p.Text)
				}
			}
		}
	})
}

func TestWordListErrors(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for _, w := range []string{"", "  ", "zebra!", "[MASK]", "a\xff", strings.Repeat("dog ", 33), strings.Repeat("d", 201)} {
		if _, err := NewWordList(tok, []string{"dog", w}); !errors.Is(err, ErrOption) {
			t.Errorf("%q: %v", w, err)
		}
	}
	if _, err := ReadWordList(tok, strings.NewReader("# comment\n\ndog\r\nqqq\n")); !errors.Is(
		err, ErrOption,
	) ||
		!strings.Contains(err.Error(), "line 4") {
		t.Errorf("%v", err)
	}
	if _, err := ReadWordList(tok, strings.NewReader("#\n\n")); !errors.Is(err, ErrOption) {
		t.Errorf("%v", err)
	}
	if l, err := ReadWordList(tok, strings.NewReader("\ufeffdog\r\n Big Dog \nDOG\n")); err != nil ||
		l.Len() != 2 {
		t.Errorf("%v, %v", l, err)
	}
}
