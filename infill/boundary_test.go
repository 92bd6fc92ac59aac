package infill

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"infill/infill/internal/text"
	"infill/mlm"
	"infill/models"
	"infill/tokenize"
)

// smallModel is shared by the tests that only ask it.
var smallModel = sync.OnceValues(func() (*mlm.Model, error) {
	return mlm.Open(context.Background(), models.Small(), mlm.Options{Threads: 2})
})

func openSmall(t testing.TB) *mlm.Model {
	t.Helper()
	m, err := smallModel()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fillingsOf spells what may fill the first blank of a text.
func fillingsOf(t *testing.T, tok *tokenize.Tokenizer, text string, v Vocab) []string {
	t.Helper()
	tm, err := Parse(tok, text)
	if err != nil {
		t.Fatal(err)
	}
	s := newSupports(tok)
	ids, err := s.slot(&tm.in, &tm.in.Groups[0], 0, 1, constraintsOf(s, &tm.in, []int{1}, &rules{}), v)
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
	tok := openSmall(t).Tokenizer()
	letters := regexp.MustCompile(`^##[\pL\pM]+$`)
	for _, c := range []struct {
		text string
		v    Vocab
		want func(piece string) bool
	}{
		{"walk[MASK]", VocabWholeWords, letters.MatchString},
		{"walk[MASK/ing/]", VocabAll, func(p string) bool {
			return letters.MatchString(p) && strings.Contains("walk"+p[2:], "ing")
		}},
		{"a walk[MASK/^walk(s|ed|ing)$/]", VocabAll, func(p string) bool {
			return p == "##s" || p == "##ed" || p == "##ing"
		}},
		{"walk[MASK/^walk.ly$/]ly", VocabAll, func(p string) bool {
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
	for _, p := range fillingsOf(t, tok, "a [MASK/^w.*ing$/]ing dog", VocabAll) {
		if p[0] != 'w' || !slices.Contains(wordsOf(tok, nil), p) {
			t.Errorf("%q begins no word in w", p)
		}
	}
}

// The same in vocabularies that mark spaces: pieces of letters without the mark.
func TestInsideMarkedWords(t *testing.T) {
	t.Parallel()
	for _, name := range markedTokenizers {
		tok := markedTokenizer(t, name)
		for _, c := range []struct{ text, before, expr string }{
			{"the c[MASK/^ca/]", "c", "^ca"}, {"the b[MASK/[tn]$/]", "b", "[tn]$"},
		} {
			got := fillingsOf(t, tok, c.text, VocabAll)
			for id := range int32(tok.VocabSize()) {
				s, space := tok.Surface(id)
				want := !space && text.IsLetters(s) && !tok.IsSpecial(id) && !tok.IsUnused(id) &&
					regexp.MustCompile(c.expr).MatchString(c.before+s)
				if slices.Contains(got, tok.Token(id)) != want {
					t.Errorf("%s: %s may take %q: %v", name, c.text, tok.Token(id), !want)
				}
			}
		}
	}
}

// A blank that stands apart takes words. Punctuation is asked for, in the blank
// or for all blanks. Directly after a letter nothing changes.
func TestPunctuationIsAskedFor(t *testing.T) {
	t.Parallel()
	toks := map[string]*tokenize.Tokenizer{
		"tiny": tinyTokenizer(t), "default": openSmall(t).Tokenizer(),
	}
	for _, name := range markedTokenizers {
		toks[name] = markedTokenizer(t, name)
	}
	word := func(tok *tokenize.Tokenizer, piece string) bool {
		id, _ := tok.ID(piece)
		return text.IsLetterOrDigit(text.FirstRune(text.Surface(tok, id)))
	}
	for name, tok := range toks {
		for _, text := range []string{"the [MASK] sat", "the big [MASK]", "(the [MASK] )", "([MASK])", "[MASK]."} {
			all := fillingsOf(t, tok, text, VocabAll)
			words := slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !word(tok, p) })
			if got := fillingsOf(t, tok, text, VocabWords); !slices.Equal(got, words) ||
				name == "default" && len(got) == len(all) {
				t.Errorf("%s: %q takes %d of %d tokens, want %d", name, text, len(got), len(all), len(words))
			}
			asked := strings.Replace(text, "[MASK]", "[MASK.]", 1)
			for _, v := range []Vocab{VocabWords, VocabAll, VocabWholeWords} {
				if got := fillingsOf(t, tok, asked, v); !slices.Equal(got, all) {
					t.Errorf("%s: %q takes %d tokens, want %d", name, asked, len(got), len(all))
				}
			}
		}
		all := fillingsOf(t, tok, "the dog[MASK]", VocabAll)
		if got := fillingsOf(t, tok, "the dog[MASK]", VocabWords); !slices.Equal(got, all) {
			t.Errorf("%s: after a letter %d of %d tokens", name, len(got), len(all))
		}
	}
}

// A number that directly follows a blank goes on with the word, so that a score
// of the finished text finds the same pieces. Every filling that may stand
// there is tried.
func TestNumberAfterBlank(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	tok, e := m.Tokenizer(), New(m)
	for _, line := range []string{
		"q=[MASK]&x=___1", "see room [MASK]12b.", "(___7)", "see page[MASK]1.", "walk___2",
	} {
		tm, err := Parse(tok, line)
		if err != nil {
			t.Fatal(err)
		}
		last := len(tm.in.Blanks) - 1
		b := tm.in.Blanks[last]
		s := newSupports(tok)
		cs := constraintsOf(s, &tm.in, []int{1, 1}[:last+1], &rules{})
		ids, err := s.slot(&tm.in, &tm.in.Groups[last], 0, 1, cs, VocabAll)
		if err != nil || len(ids) < 1000 {
			t.Fatalf("%s: %d tokens, %v", line, len(ids), err)
		}
		allowed := map[int32]bool{}
		for _, id := range ids {
			allowed[id] = true
		}
		form := tokenize.AfterSpace
		if tm.in.Places[last].Glued {
			form = tokenize.AfterLetter
		}
		for _, id := range s.lists.First[VocabAll][form] {
			word := text.Surface(tok, id)
			enc, err := tok.Encode(tm.in.Text[:b.Start] + word + tm.in.Text[b.End:])
			if err != nil {
				t.Fatal(err)
			}
			same := slices.Clone(tm.in.IDs)
			same[b.Pos] = id
			if last == 1 { // the other blank is still a blank
				enc.IDs[tm.in.Blanks[0].Pos] = tok.MaskID()
			}
			if slices.Equal(enc.IDs, same) != allowed[id] {
				t.Errorf("%s: %q is %q, allowed %v", line, word, enc.Tokens, allowed[id])
			}
		}
	}
	tm, err := Parse(tok, "q=[MASK]&x=___1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Fill(
		context.Background(), tm, Options{Steps: 4, Chains: 10, AllFillings: true, Seed: 1,
			Score: ScorePLL},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fillings {
		s, err := e.ScoreSpans(context.Background(), f.Text, f.Spans)
		if err != nil || math.Abs(s.Score-f.Score) > 1e-3 {
			t.Errorf("%q: filled with score %v, scored %+v (%v)", f.Text, f.Score, s, err)
		}
	}
}

// Several tokens before a number are cut off from it as well.
func TestNumberAfterSeveralTokens(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "page", "1", "11", "##s", "##1", "##11", ".",
	}
	tok, err := tokenize.New(pieces, tokenize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSupports(tok)
	for _, line := range []string{"a [MASK*2]1.", "a [MASK]1"} {
		tm, err := Parse(tok, line)
		if err != nil {
			t.Fatal(err)
		}
		n := tm.in.Blanks[0].Max
		sp, err := newSpace(s, &tm.in, [][]text.Phrase{nil}, []int{n}, &rules{})
		if err != nil {
			t.Fatal(err)
		}
		tgt := &target{space: sp}
		x, texts := tgt.states()
		found := map[string]bool{}
		for i, line := range texts {
			found[line] = true
			want := slices.Concat(
				tm.in.IDs[:tm.in.Blanks[0].Pos], tgt.tokens(nil, tgt.layoutOf(x[i], nil), x[i], -1, -1),
			)
			enc, err := tok.Encode(line)
			if err != nil || !slices.Equal(enc.IDs[:len(want)], want) || enc.Tokens[len(want)] != "##1" {
				t.Errorf("%q is a state and cut as %q (%v)", line, enc.Tokens, err)
			}
		}
		filling := "pages"
		if n == 1 {
			filling = "page"
		}
		if !found["a "+filling+line[len(line)-len(tm.in.Text)+tm.in.Blanks[0].End:]] || found["a 11"] {
			t.Errorf("%s: %q", line, texts)
		}
	}
}
