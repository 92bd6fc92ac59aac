package text

import (
	"strings"
	"testing"

	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// What other tools and models write for a blank is one with every model, or is named with what to
// write in its place.
func TestSpellingsOfOthers(t *testing.T) {
	t.Parallel()
	toks := map[string]*tokenize.Tokenizer{"bert": tokenizetest.Small(t)}
	for _, name := range tokenizetest.MarkedNames {
		tok := tokenizetest.Marked(t, name)
		toks[name] = tok
		tm, err := Parse(tok, `a <mask> b [MASK] c ___ d \<mask> \[MASK] \___ .`)
		if err != nil || len(tm.Blanks) != 3 || tm.Text != "a <mask> b [MASK] c ___ d <mask> [MASK] ___ ." {
			t.Fatalf("%s: %+v, %v", name, tm, err)
		}
		masks := 0
		for _, id := range tm.IDs {
			if id == tok.MaskID() {
				masks++
			}
		}
		if masks != 3 {
			t.Errorf("%s: %d mask tokens", name, masks)
		}
	}
	for text, want := range map[string]string{
		"the [mask] sits":               "[mask] is not a blank and stays as it is; write [MASK]",
		"the <MASK> sits":               "<MASK> is not a blank and stays as it is; write [MASK]",
		"the {mask} sits":               "{mask} is not",
		"the {{mask}} sits":             "{{mask}} is not",
		"the <|mask|> sits":             "<|mask|> is not",
		"the ［MASK］ sits":               "［MASK］ is not",
		"the [ MASK ] sits":             "[ MASK ] is not",
		"the <mask_1> sits":             "<mask_1> is not",
		"the [MASK1] sits":              "[MASK1] is not",
		"the [BLANK] sits":              "[BLANK] is not",
		"the <blank> sits":              "<blank> is not",
		"the [MASKED] sits":             "[MASKED] is not",
		"the [MSAK] sits":               "[MSAK] is not",
		"the <extra_id_0> sits":         "<extra_id_0> is not a blank and stays as it is; write [MASK], or [MASK*1-3]",
		"the [mask|red|old dog] sits":   "[mask|red|old dog] is not a blank and stays as it is; write [MASK|red|old dog]",
		"the <mask:a> sits":             "write [MASK:a]",
		"the [MASK sits":                "[MASK is not closed, or has a space after it",
		"the _ sits":                    "_ is not a blank and stays as it is; write [MASK] or ___",
		"the __.":                       "__ is not",
		"we like ... a lot":             "", // prose where there are blanks: see TestDots
		"the {} sits":                   "{} is not a blank and stays as it is; write [MASK] or ___",
		`in C:\[MASK] it is`:            `the backslash makes [MASK] ordinary text; write [MASK] without it, or \\[MASK]`,
		`in C:\<mask> it is`:            "the backslash makes <mask> ordinary text",
		`in dir\[MASK/^[a-z]+ed$/] it`:  "makes [MASK/^[a-z]+ed$/] ordinary",
		"the __init__ of snake_case":    "",
		"a [SEP] and [A] or {x} <b> <>": "",
		`a \[mask] or \{mask}`:          "",
		`we write \[MASK] and (\___)`:   "",
		"a mask, a blank, the gap":      "",
	} {
		for name, tok := range toks {
			alone, err := Read(tok, text)
			if err != nil {
				t.Fatalf("%s: %q: %v", name, text, err)
			}
			beside, err := Read(tok, "A [MASK|x|<MASK>] here: "+text)
			if err != nil {
				t.Fatalf("%s: %q: %v", name, text, err)
			}
			for _, p := range []*Plain{alone, beside} {
				switch {
				case (p.near != nil) != (want != ""):
					t.Errorf("%s: %q: %v", name, text, p.near)
				case want != "" && !strings.Contains(p.near.Msg, want):
					t.Errorf("%s: %q: %s, want %s", name, text, p.near.Msg, want)
				}
			}
			if len(alone.Blanks) != 0 || len(beside.Blanks) != 1 {
				t.Errorf("%s: %q has blanks", name, text)
			}
		}
	}
}

// Three dots are prose beside a blank and at the end, and may be meant for one where none is.
func TestDots(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for text, want := range map[string]string{
		"the ... sat .":          "... is not a blank; write [MASK], or [MASK*1-3w]",
		"the ... [MASK] sat .":   "",
		"the cat sat ...":        "write [MASK], <mask> or ___",
		"the _ cat ... sat on .": "_ is not a blank",
	} {
		_, err := Parse(tok, text)
		if (err != nil) != (want != "") || want != "" && !strings.Contains(err.Error(), ": "+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Underscores between letters or digits are text, also behind escapes and in the way back. Others
// are a blank.
func TestInnerUnderscores(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for raw, blanks := range map[string]int{
		"user___id": 0, "a____9 é___ü": 0, "un___ ___able": 2, "(___)": 1, "___a": 1, "a___b ___.": 1,
		`a\\___b`: 1, `user\___id`: 0, `a___b \___`: 0,
	} {
		p, err := Read(tok, raw)
		if err != nil || len(p.Blanks) != blanks {
			t.Fatalf("%q: %v, %v", raw, p, err)
		}
		again, err := Read(tok, escape(p.Text, tok.Token(tok.MaskID()), p.Blanks))
		if err != nil || again.Text != p.Text || len(again.Blanks) != len(p.Blanks) {
			t.Errorf("%q: %v, %v", raw, again, err)
		}
	}
}

// Errors name the whole of a blank, also where its expression has brackets.
func TestSpelt(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"[MASK] sat":                         "[MASK]",
		"[MASK*0/^[a-z]+ed$/] sat [MASK]":    "[MASK*0/^[a-z]+ed$/]",
		"[MASK/^[a-z]+ed$] sat":              "[MASK/^[a-z]+ed$]",
		`[MASK:a b/[^/\/]]+/] sat`:           `[MASK:a b/[^/\/]]+/]`,
		`[MASK||a\]b] sat]`:                  `[MASK||a\]b]`,
		"[MASK|red":                          "[MASK|red",
		"[MASK|" + strings.Repeat("é", 1000): "[MASK|" + strings.Repeat("é", 97) + "…",
	} {
		if got := asWritten(s); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
	_, err := Parse(tokenizetest.Tiny(t), "the [MASK*0/^[a-z]+ed$/] sat .")
	if err == nil || !strings.Contains(err.Error(), `"[MASK*0/^[a-z]+ed$/]"`) {
		t.Error(err)
	}
}

// A list whose first word was taken for a name says so; names that tie do not.
func TestDoubtsOfLoneNames(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for line, want := range map[string]string{
		"a [MASK] [MASK:dog|cat] .": "blank 2 is called dog, which ties it to no other; write [MASK|dog|…] " +
			"for a list with this word in it",
		"the [MASK:a|dog|cat] saw the [MASK:a] .": "", "a [MASK:a] .": "", "a [MASK|dog|cat] .": "",
	} {
		got := Doubts(tok, line)
		if want == "" && got != nil || want != "" && (len(got) != 1 || got[0].Message != want) {
			t.Errorf("%s: %v, want %q", line, got, want)
		}
	}
}

// A text that cannot be read has doubts about its numbers alone.
func TestDoubtsOfUnreadable(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Small(t)
	for _, text := range []string{"the [MASK|cat sits", "the [mask] \xff sits"} {
		if got := Doubts(tok, text); got != nil {
			t.Errorf("%q: %+v", text, got)
		}
		if got := Doubts(tok, text, 1); len(got) != 1 || got[0].Code != "numbers" {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
