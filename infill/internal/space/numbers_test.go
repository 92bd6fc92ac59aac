package space

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"infill/infill/request"
	"infill/infill/text"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// What has digits goes where a number is asked for, and nowhere else.
func TestNumbers(t *testing.T) {
	t.Parallel()
	toks := map[string]*tokenize.Tokenizer{"default": tokenizetest.Small(t)}
	for _, name := range tokenizetest.MarkedNames {
		toks[name] = tokenizetest.Marked(t, name)
	}
	const none, some, only = "none", "some", "only"
	for _, c := range []struct{ text, original, want string }{
		{"just [MASK] version", "", none}, {"[MASK] it for me", "", none}, {"CC[MASK]CO", "", none},
		{"in [MASK|may|june] we go", "", none}, {"a page[MASK]", "", none}, {"in the [MASK].", "", none},
		{"in 2019 [MASK] left", "", none}, {"the [MASK/^[a-z]+$/] sat", "", none},
		{"the [MASK/^.+$/] sat", "", none}, {"the [MASK/a{1,3}/] sat", "", none},
		{"just [MASK#] version", "", only}, {"a page[MASK#]", "", only}, {"[MASK:a#] or [MASK:a]", "", only},
		{"in [MASK/^[0-9]+$/] we go", "", only}, {`in [MASK/^\d/] we go`, "", only},
		{"in [MASK/^[a-z0-9]+$/] we go", "", some}, {"in [MASK/^1|^m/] we go", "", some},
		{"in 1[MASK] we go", "", some}, {"at 5:[MASK] it began", "", some}, {"some [MASK],000 left", "", some},
		{"it costs $[MASK].", "", some}, {"by [MASK]% more", "", some},
		{"in [MASK] we go", "1984", some}, {"in [MASK] we go", "May", none}, {"a [MASK] one", "B2B", some},
	} {
		for name, tok := range toks {
			s := NewSupports(tok)
			tm, err := text.Parse(tok, c.text)
			if err != nil {
				t.Fatal(err)
			}
			o := &request.WordOptions{}
			if c.original != "" {
				o.Original = []string{c.original}
			}
			r, err := s.Rules(tm, o)
			if err != nil {
				t.Logf("%s: %s: %v", name, c.text, err) // the small vocabularies lack words
				continue
			}
			sp, err := r.Space(tm, []int{1, 1}[:len(tm.Groups)])
			if err != nil && name != "default" {
				continue // as above
			}
			if err != nil {
				t.Fatal(err)
			}
			numbers, letters := 0, 0
			for v := range sp.Coords[0].K() {
				word := sp.Word([]int32{int32(v)}, 0)
				if strings.IndexFunc(word, unicode.IsDigit) >= 0 {
					numbers++
				} else {
					letters++
				}
			}
			got := some
			if numbers == 0 {
				got = none
			} else if letters == 0 {
				got = only
			}
			if got != c.want && (name == "default" || c.want == none || c.want == only && letters > 0) {
				t.Errorf("%s: %s takes %d words and %d numbers, want %s", name, c.text, letters, numbers, c.want)
			}
		}
	}
}

// A number is of digits, a decade or an ordinal.
func TestNumberWords(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	got := fillingsOf(t, tok, "in the [MASK#] .", text.VocabWords)
	for word, want := range map[string]bool{"7": true, "1984": true, "1990s": true, "20th": true, "1st": true,
		"2nd": true, "3rd": true, "3d": false, "the": false, "s": false, "th": false, "##90": false} {
		if slices.Contains(got, word) != want {
			t.Errorf("%s among %d numbers: %v, want %v", word, len(got), !want, want)
		}
	}
}
