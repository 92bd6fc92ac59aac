package tokenize

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMarks checks what is said of spaces, for a word in many places, against
// the pieces that a text with the word has.
func TestMarks(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bert-cased", "roberta", "modernbert", "albert", "deberta-v2",
		"deberta-v3", "xlm-roberta", "xlm-roberta-4"} {
		tok := hfTokenizer(t, name)
		if tok.MarksSpaces() != (name != "bert-cased") {
			t.Errorf("%s: MarksSpaces is %v", name, tok.MarksSpaces())
		}
		if !tok.MarksSpaces() {
			continue
		}
		for _, before := range []string{"", "the ", "the  ", "the\n", "the, ", "(", "the “", "the-",
			strings.Repeat("long ", 20), strings.Repeat("é", 40) + "("} {
			spaced := tok.FollowsSpace(before)
			at := AfterSymbol
			if spaced {
				at = AfterSpace
			}
			word, err := tok.Word("water", at)
			if err != nil {
				t.Fatal(err)
			}
			e, err := tok.Encode(before + "water")
			if err != nil {
				t.Fatal(err)
			}
			n := len(e.IDs) - len(tok.suffix)
			if before != "the-" && !slices.Equal(e.IDs[n-len(word.IDs):n], word.IDs) {
				t.Errorf("%s: %q ends with %q, the word there is %q", name, before+"water", e.Tokens,
					word.Tokens)
			}
			if _, space := tok.Surface(word.IDs[0]); space != spaced {
				t.Errorf("%s: after %q a word begins with %q", name, before, word.Tokens[0])
			}
		}
	}
}

// TestSurface: the surfaces of a text's pieces are the text again, where the
// normalizer leaves it alone.
func TestSurface(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"roberta", "modernbert", "xlm-roberta", "deberta-v3", "eurobert", "mmbert"} {
		text := "The old man's house, in the city (été) was red."
		tok := hfTokenizer(t, name)
		if tok.algorithm == bytePairModel || tok.algorithm == charPairModel {
			text += " 😀 in 1984: 中文\n\tx"
		}
		e, err := tok.Pieces(text)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, id := range e.IDs {
			s, space := tok.Surface(id)
			if space {
				b.WriteByte(' ')
			}
			b.WriteString(s)
		}
		if got := strings.TrimPrefix(b.String(), " "); got != text {
			t.Errorf("%s: %q", name, got)
		}
		if tok.Lowercase() {
			t.Errorf("%s is of lower case", name)
		}
	}
	// Bytes of unknown characters look like the byte.
	tok := hfTokenizer(t, "xlm-roberta-4")
	id, ok := tok.ID("<0xE2>")
	if s, space := tok.Surface(id); !ok || s != "\xe2" || space || utf8.ValidString(s) {
		t.Errorf("<0xE2> looks like %q, %v", s, ok)
	}
}

// TestEncodeBlanks: what follows a mask is as it is after a word.
func TestEncodeBlanks(t *testing.T) {
	t.Parallel()
	for _, name := range hfNames {
		tok := hfTokenizer(t, name)
		mask := tok.Token(tok.MaskID())
		for _, text := range []string{"the *.", "the * was red", "(the *) *", "the *, the *!",
			"the *  was"} {
			blank, err := tok.EncodeBlanks(strings.ReplaceAll(text, "*", mask))
			if err != nil {
				t.Fatal(err)
			}
			full, err := tok.Encode(strings.ReplaceAll(text, "*", "man"))
			if err != nil {
				t.Fatal(err)
			}
			if tok.MarksSpaces() && text == "the *  was" && name == "modernbert" {
				continue // two spaces are a token, of which the mask takes none
			}
			if len(blank.IDs) != len(full.IDs) {
				t.Errorf("%s: %q is %q, with words %q", name, text, blank.Tokens, full.Tokens)
				continue
			}
			for i, id := range blank.IDs {
				if id != tok.MaskID() && id != full.IDs[i] {
					t.Errorf("%s: %q is %q, with words %q", name, text, blank.Tokens, full.Tokens)
					break
				}
			}
		}
	}
}

// TestAfterLetter: what directly follows a mask, or a letter, is cut as the rest
// of a word is after a beginning that the tokenizer cuts off.
func TestAfterLetter(t *testing.T) {
	t.Parallel()
	for _, name := range hfNames {
		tok := hfTokenizer(t, name)
		mask := tok.Token(tok.MaskID())
		compared := 0
		for _, rest := range []string{"1", "42", "s", "ing", "1%", "s, and", "é2", ".", "(1", "中1",
			"\u03011"} {
			// No vocabulary has a piece of a word with these letters and something after them.
			const word = "qzqz"
			full, err := tok.Encode("the " + word + rest)
			if err != nil {
				t.Fatal(err)
			}
			begin, err := tok.Encode("the " + word)
			if err != nil {
				t.Fatal(err)
			}
			blank, err := tok.EncodeBlanks("the " + mask + rest)
			if err != nil {
				t.Fatal(err)
			}
			n := len(begin.IDs) - len(tok.suffix)
			if len(full.IDs) < n || !slices.Equal(full.IDs[:n], begin.IDs[:n]) {
				continue // cut elsewhere, or unknown as a whole
			}
			compared++
			want := full.IDs[n:]
			got := blank.IDs[slices.Index(blank.IDs, tok.MaskID())+1:]
			if !slices.Equal(got, want) {
				t.Errorf("%s: %q after a mask is %v, after a word %q", name, rest, blank.Tokens, full.Tokens)
			}
			after, err := tok.Word(rest, AfterLetter)
			if err != nil || !slices.Equal(after.IDs, want[:len(want)-len(tok.suffix)]) {
				t.Errorf("%s: %q after a letter is %q (%v), after a word %q", name, rest, after.Tokens, err,
					full.Tokens)
			}
		}
		if compared < 5 {
			t.Errorf("%s: only %d texts are cut after the word", name, compared)
		}
	}
}

// TestLossy compares with what Unicode recommends for what is not UTF-8.
func TestLossy(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"é":                    "é",
		"a\xe4\xb8":            "a\ufffd",
		"a\xe4\xb8b":           "a\ufffdb",
		"\xf0\x9f\x98":         "\ufffd",
		"\xf0\x9f\x98\xf0\x9f": "\ufffd\ufffd",
		"\xff\xfe":             "\ufffd\ufffd",
		"\xed\xa0\x80":         "\ufffd\ufffd\ufffd",
		"\xc3\xa9\xc3":         "é\ufffd",
	} {
		if got := lossy(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
