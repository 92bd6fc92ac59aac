package infill

import (
	"math"
	"slices"
	"strings"
	"testing"

	"infill/infill/internal/space"
	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/tokenize/tokenizetest"
)

// A filling has the score that its finished text has, or says that the text is cut otherwise.
func TestRecut(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	e, tok := New(m), m.Tokenizer()
	for _, c := range []struct {
		text       string
		some, none bool // of its fillings are cut otherwise
	}{
		{"The [MASK] sat on the mat.", false, true}, {"([MASK]), he said.", false, true},
		{"the [MASK|dog|big dog]'s hat", false, true}, {"see room [MASK]12b.", false, true},
		{"He was [MASK]ing.", true, false}, {"The [MASK]s sleep.", true, false},
		{"He was walk[MASK].", true, false}, {"He was un[MASK]ed.", true, false},
		{"page[MASK]1 is here", false, true}, {"q=[MASK]abc", true, false},
		{"The [MASK|walk]ing man.", false, true}, {"5[MASK|:|h|.]30 pm", false, true},
	} {
		tm, err := text.Parse(tok, c.text)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i, f := range exactFill(t, e, c.text, Options{Results: ResultOptions{Top: 400,
			Score: ScorePLL}, Words: WordOptions{Vocab: text.VocabAll}}).Fillings {
			enc, err := tok.Encode(f.Text)
			if err != nil {
				t.Fatal(err)
			}
			at := tm.Blanks[0].Pos
			same := slices.Equal(enc.IDs, slices.Concat(tm.IDs[:at], f.IDs, tm.IDs[at+1:]))
			if f.Recut && same || !f.Recut && !same && !f.Parts.Finished {
				t.Errorf("%q: %q, filled in as %q: recut is %v", f.Text, enc.Tokens, f.Pieces, f.Recut)
			}
			if f.Recut {
				n++
			} else if i < 8 || f.Parts.Finished && i < 100 {
				u, err := e.ScoreSpans(t.Context(), f.Text, f.Spans, ScorePLL)
				if err != nil || math.Abs(u.Score-f.Score) > 1e-3 {
					t.Errorf("%q has %v when filled, %v when scored (%v)", f.Text, f.Score, u.Score, err)
				}
			}
		}
		if n > 0 != c.some || c.some == c.none {
			t.Errorf("%q: %d fillings are cut otherwise", c.text, n)
		}
	}
}

// Before a number no filling is cut otherwise, in vocabularies that mark spaces too. Elsewhere a
// piece may be one that the tokenizer never makes.
func TestRecutMarked(t *testing.T) {
	t.Parallel()
	for _, name := range tokenizetest.MarkedNames {
		tok := tokenizetest.Marked(t, name)
		s := space.NewSupports(tok)
		for _, line := range []string{"the [MASK] sat", "[MASK] sat", "the [MASK]at", "room [MASK]1.",
			"cat[MASK]1."} {
			tm, err := text.Parse(tok, line)
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Rules(tm, &WordOptions{Vocab: text.VocabAll})
			if err != nil {
				t.Fatal(err)
			}
			sp, err := r.Space(tm, []int{1})
			if err != nil {
				t.Errorf("%s: %q: %v", name, line, err)
				continue
			}
			tgt, n := &target.Target{Space: sp}, 0
			for v := range sp.Coords[0].IDs {
				f := tgt.Spell([]int32{int32(v)}, false)
				enc, err := tok.Encode(f.Text)
				if err != nil {
					t.Fatal(err)
				}
				at := tm.Blanks[0].Pos
				same := slices.Equal(enc.IDs, slices.Concat(tm.IDs[:at], f.IDs, tm.IDs[at+1:]))
				cut := target.Recut(tm, tok, &f)
				if cut == same || cut && strings.Contains(line, "]1") {
					t.Errorf("%s: %q is %q, filled in as %q: recut is %v", name, f.Text, enc.Tokens, f.Pieces, cut)
				}
				if cut {
					n++
				}
			}
			t.Logf("%s: %q: %d of %d are cut otherwise", name, line, n, len(sp.Coords[0].IDs))
		}
	}
}

// The whole of a long text is looked at, and not the part that the model sees.
func TestRecutWindow(t *testing.T) {
	t.Parallel()
	e := New(openSmall(t))
	long := strings.Repeat("The dog sleeps. ", 400)
	for text, want := range map[string]bool{
		"The [MASK|cat|big cat] sleeps.": false, "A [MASK:a|walk]ing, [MASK:a]ing man.": false,
		"The [MASK/^dogs$/]s sleep.":                   true,
		"The [MASK|cat] and the [MASK|big cat] sleep.": false,
	} {
		r := exactFill(t, e, long+text+" "+long,
			Options{Sampling: SamplingOptions{Steps: 1, Chains: 1}, Results: ResultOptions{Score: ScorePLL}})
		if r.Window == nil || r.Fillings[0].Recut != want {
			t.Errorf("%s: window %v, recut %v", text, r.Window, r.Fillings[0].Recut)
		}
	}
}
