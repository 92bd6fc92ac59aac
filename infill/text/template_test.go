package text

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"infill/mlm"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for _, c := range []struct {
		text   string
		spelt  []string // the blanks as written
		tokens string
	}{
		{"the [MASK] sleeps .", []string{"[MASK]"}, "[CLS] the [MASK] sleeps . [SEP]"},
		{"the ___ sleeps .", []string{"___"}, "[CLS] the [MASK] sleeps . [SEP]"},
		{"the ______ sleeps .", []string{"______"}, "[CLS] the [MASK] sleeps . [SEP]"},
		{"[MASK]", []string{"[MASK]"}, "[CLS] [MASK] [SEP]"},
		{"___ and [MASK]", []string{"___", "[MASK]"}, "[CLS] [MASK] and [MASK] [SEP]"},
		{"dog[MASK][MASK].", []string{"[MASK]", "[MASK]"}, "[CLS] dog [MASK] [MASK] . [SEP]"},
		{"dog [SEP] [MASK]", []string{"[MASK]"}, "[CLS] dog [SEP] [MASK] [SEP]"},
		{"dog __ [MASK]", []string{"[MASK]"}, "[CLS] dog [UNK] [UNK] [MASK] [SEP]"},
	} {
		tm, err := Parse(tok, c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var spelt, tokens []string
		for _, b := range tm.Blanks {
			spelt = append(spelt, c.text[b.Start:b.End])
			if tm.IDs[b.Pos] != tok.MaskID() {
				t.Errorf("%q: position %d holds %s", c.text, b.Pos, tok.Token(tm.IDs[b.Pos]))
			}
		}
		for _, id := range tm.IDs {
			tokens = append(tokens, tok.Token(id))
		}
		if !reflect.DeepEqual(spelt, c.spelt) || strings.Join(tokens, " ") != c.tokens {
			t.Errorf("%q: blanks %q, tokens %v", c.text, spelt, tokens)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for _, c := range []struct {
		text, says string
		is         error
		offset     int
	}{
		{"", "empty", ErrEmpty, -1},
		{" \t\n", "empty", ErrEmpty, -1},
		{"the dog sleeps .", "___", ErrNoBlank, -1},
		{"the [mask] sleeps .", "[mask] is not a blank and stays as it is; write [MASK]", ErrNoBlank, 4},
		{"the __ sleeps .", "write [MASK] or ___", ErrNoBlank, 4},
		{`the \[MASK] sleeps .`, "the backslash makes [MASK] ordinary", ErrNoBlank, 4},
		{`the \[MASK:a|dog] sleeps .`, "makes [MASK:a|dog] ordinary", ErrNoBlank, 4},
		{`the \<mask> sleeps .`, "makes <mask> ordinary", ErrNoBlank, 4},
		{`the \____ sleeps .`, "makes ____ ordinary", ErrNoBlank, 4},
		{"the [MASK|dog|cat", "[MASK|dog|cat", ErrBlank, 4},
		{"ab\xff[MASK]", "UTF-8", tokenize.ErrInvalidUTF8, 2},
	} {
		_, err := Parse(tok, c.text)
		var te *Error
		if !errors.Is(err, c.is) || !errors.As(err, &te) || te.Offset != c.offset ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v, want %v at %d mentioning %q", c.text, err, c.is, c.offset, c.says)
		}
	}
}

func TestGlued(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	for text, want := range map[string][]bool{
		"dog[MASK]":            {true},
		"dog [MASK]":           {false},
		"(___)":                {false},
		"___":                  {false},
		"[MASK][MASK] [MASK]":  {false, true, false},
		"well-[MASK]":          {false},
		"é___":                 {true},
		"e\u0301___":           {true}, // a combining mark belongs to its letter
		"3[MASK]":              {true},
		"猫[MASK]":              {false},
		"a\u00a0[MASK]":        {false},
		"don't___ [SEP][MASK]": {true, false},
	} {
		tm, err := Parse(tok, text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for i := range tm.Blanks {
			if got := tm.Places[i].Glued; got != want[i] {
				t.Errorf("%q: blank %d glued is %v, want %v", text, i, got, want[i])
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"the [MASK] sleeps .", "___[MASK]____ [SEP] [PAD]", "[MASK:a][MASK:a*2]", "[MASK*1-3|red|\\]]", "[MASK:b/^[/]+\\/$/]", "\xff[MASK]", "é[MASK]\u202e", "[MASK", `\\[MASK] \\\\___ \\\\\[MASK`} {
		f.Add(s)
	}
	tok := tokenizetest.Tiny(f)
	f.Fuzz(func(t *testing.T, text string) {
		tm, err := Parse(tok, text)
		if err != nil {
			return
		}
		words := make([]string, len(tm.Blanks))
		for i := range words {
			words[i] = "dog"
		}
		if again, err := Parse(tok, tm.Source()); err != nil || again.Text != tm.Text {
			t.Fatalf("%q is written as %q: %v", text, tm.Source(), err)
		}
		text = tm.Text // without escapes
		filled, spans := tm.Splice(words)
		// Cutting the words out again leaves what was there before.
		var rest, was strings.Builder
		a, b := 0, 0
		for i, bl := range tm.Blanks {
			if !strings.EqualFold(filled[spans[i][0]:spans[i][1]], "dog") {
				t.Fatalf("span %d holds %q", i, filled[spans[i][0]:spans[i][1]])
			}
			rest.WriteString(filled[a:spans[i][0]] + "|")
			was.WriteString(text[b:bl.Start] + "|")
			a, b = spans[i][1], bl.End
		}
		if rest.String()+filled[a:] != was.String()+text[b:] {
			t.Fatalf("text outside the blanks changed: %q became %q", text, filled)
		}
	})
}

func TestCut(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	words := strings.Fields(strings.Repeat("the big dogs saw a small cat near the house . ", 12))
	words[60] = "[MASK]"
	words[63] = "[MASK*3]"
	text := strings.Join(words, " ")
	tm, err := Parse(tok, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{8, 9, 12, 20, 40, 1000} {
		cut, err := tm.Cut(limit, 2)
		if err != nil {
			t.Fatalf("%d: %v", limit, err)
		}
		if len(cut.IDs)+2 > limit || limit < 100 && len(cut.IDs)+2 < limit-2 {
			t.Errorf("limit %d: %d ids", limit, len(cut.IDs))
		}
		seen := text[cut.Window[0]:cut.Window[1]]
		if !strings.Contains(seen, "[MASK]") || !strings.Contains(seen, "[MASK*3]") {
			t.Errorf("limit %d: the window %q lacks a blank", limit, seen)
		}
		// What the model sees is what the window says.
		again, err := Parse(tok, seen)
		if err != nil || !slices.Equal(again.IDs, cut.IDs) ||
			!slices.EqualFunc(again.Blanks, cut.Blanks, func(a, b Blank) bool { return a.Pos == b.Pos }) {
			t.Errorf(
				"limit %d: %q is read as %v, the model sees %v (%v)", limit, seen, again.IDs, cut.IDs, err,
			)
		}
		if cut.Text != text {
			t.Error("the text changed")
		}
	}
	for _, room := range []int{-10, 0} {
		if cut, err := tm.Cut(12, room); err != nil || len(cut.IDs) > 12 {
			t.Errorf("room %d: %d ids, %v", room, len(cut.IDs), err)
		}
	}
	if _, err := tm.Cut(7, 2); err == nil || !strings.Contains(err.Error(), "span 6 pieces") {
		t.Errorf("blanks too far apart: %v", err)
	}
}

// What a template says of its blanks is what the text says.
func TestTemplateSays(t *testing.T) {
	t.Parallel()
	tok := tokenizetest.Tiny(t)
	tm, err := Parse(tok, `the \\[MASK:a*1-2|dog|cat] saw [MASK.] and [MASK/ing$/] .`)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Blank{
		{Name: "a", Min: 1, Max: 2, Words: []string{"dog", "cat"}, Counted: true},
		{Min: 1, Max: 1, Punctuation: true},
		{Min: 1, Max: 1},
	} {
		b := tm.Blanks[i]
		b.Pattern = nil
		want.Start, want.End, want.Pos = b.Start, b.End, tm.Positions()[i]
		if !reflect.DeepEqual(b, want) || tm.IDs[b.Pos] != tok.MaskID() ||
			!strings.HasPrefix(tm.Text[b.Start:b.End], "[MASK") {
			t.Errorf("blank %d is %+v, want %+v", i+1, b, want)
		}
	}
	if re := tm.Blanks[2].Pattern; re == nil || re.String() != "ing$" {
		t.Errorf("the expression is %v", re)
	}
	if same, err := tm.Cut(100, 0); err != nil || same != tm {
		t.Errorf("a template that fits is cut (%v)", err)
	}
	cut, err := tm.Cut(len(tm.IDs)-1, 0)
	if err != nil || cut.Window == tm.Window || len(cut.IDs) >= len(tm.IDs) || cut.Text != tm.Text {
		t.Errorf("%+v, %v", cut, err)
	}
	if _, err := tm.Cut(3, 0); !errors.Is(err, mlm.ErrTooLong) {
		t.Errorf("blanks too far apart: %v", err)
	}
}
