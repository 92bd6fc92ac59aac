package infill

import (
	"errors"
	"strings"
	"testing"

	"infill/tokenize"
)

// Whatever a list holds, what comes of it spells its words, or it is a typed error.
func FuzzReadWordList(f *testing.F) {
	for _, s := range []string{"dog\ncat\n", "# c\n\n big dog \r\n", "\ufeffdogs", "[MASK]\n", "\xff", "ing\n s, and he", "##s"} {
		f.Add(s)
	}
	tok := tinyTokenizer(f)
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ReadWordList(tok, strings.NewReader(s))
		if err != nil {
			if !errors.Is(err, ErrOption) && !strings.Contains(err.Error(), "token too long") {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		for _, p := range l.phrases {
			enc, err := tok.Pieces(p.text)
			if err != nil || idsKey(enc.IDs) != idsKey(p.ids) || len(p.ids) == 0 ||
				len(p.ids) > maxBlankTokens {
				t.Fatalf("%q became %v", p.text, p.ids)
			}
			inside, err := l.bound.spell(p.text, tokenize.AfterLetter)
			if err == nil && (len(inside.ids) == 0 || len(inside.ids) > maxBlankTokens) {
				t.Fatalf("%q inside a word became %v", p.text, inside.ids)
			}
			for _, id := range inside.ids {
				if tok.IsSpecial(id) {
					t.Fatalf("%q inside a word has a special token", p.text)
				}
			}
		}
	})
}

func TestWordListErrors(t *testing.T) {
	t.Parallel()
	tok := tinyTokenizer(t)
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
