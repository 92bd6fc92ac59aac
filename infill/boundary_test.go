package infill

import (
	"context"
	"math"
	"slices"
	"testing"

	"infill/infill/internal/space"
	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/tokenize"
	"infill/tokenize/tokenizetest"
)

// A number that directly follows a blank goes on with the word, so that a score
// of the finished text finds the same pieces. Every filling that may stand
// there is tried.
func TestNumberAfterBlank(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	tok, e := m.Tokenizer(), New(m)
	for _, line := range []string{
		"q=[MASK]&x=___1", "see room [MASK]12b.", "(___7)", "see page[MASK]1.", "walk[MASK]2",
	} {
		tm, err := text.Parse(tok, line)
		if err != nil {
			t.Fatal(err)
		}
		last := len(tm.Blanks) - 1
		b := tm.Blanks[last]
		counts := []int{1, 1}[:last+1]
		r, err := space.NewSupports(tok).Rules(tm, &WordOptions{Vocab: text.VocabAll})
		if err != nil {
			t.Fatal(err)
		}
		sp, err := r.Space(tm, counts)
		if err != nil {
			t.Fatal(err)
		}
		ids := sp.Coords[last].IDs
		if len(ids) < 1000 {
			t.Fatalf("%s: %d tokens", line, len(ids))
		}
		allowed := map[int32]bool{}
		for _, id := range ids {
			allowed[id] = true
		}
		form := tokenize.AfterSpace
		if tm.Places[last].Glued {
			form = tokenize.AfterLetter
		}
		for _, id := range text.BoundaryOf(tok).Sort().First[text.VocabAll][form] {
			word, _ := tok.Surface(id)
			enc, err := tok.Encode(tm.Text[:b.Start] + word + tm.Text[b.End:])
			if err != nil {
				t.Fatal(err)
			}
			same := slices.Clone(tm.IDs)
			same[b.Pos] = id
			if last == 1 { // the other blank is still a blank
				enc.IDs[tm.Blanks[0].Pos] = tok.MaskID()
			}
			if (slices.Equal(enc.IDs, same) || text.LettersBefore(word) == "") != allowed[id] {
				t.Errorf("%s: %q is %q, allowed %v", line, word, enc.Tokens, allowed[id])
			}
		}
	}
	tm, err := text.Parse(tok, "q=[MASK]&x=___1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Fill(
		context.Background(), tm,
		Options{Sampling: SamplingOptions{Steps: 4, Chains: 10}, Results: ResultOptions{All: true,
			Score: ScorePLL}, Seed: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fillings {
		s, err := e.ScoreSpans(context.Background(), f.Text, f.Spans, ScorePLL)
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
	tok := tokenizetest.Of(t, false, pieces...)
	s := space.NewSupports(tok)
	for _, line := range []string{"a [MASK*2]1.", "a [MASK]1"} {
		tm, err := text.Parse(tok, line)
		if err != nil {
			t.Fatal(err)
		}
		n := tm.Blanks[0].Max
		r, err := s.Rules(tm, &WordOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sp, err := r.Space(tm, []int{n})
		if err != nil {
			t.Fatal(err)
		}
		tgt := &target.Target{Space: sp}
		x, texts := allStates(tgt)
		found := map[string]bool{}
		for i, line := range texts {
			found[line] = true
			want := slices.Concat(
				tm.IDs[:tm.Blanks[0].Pos], tgt.Tokens(nil, tgt.LayoutOf(x[i], nil), x[i], -1, -1),
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
		if !found["a "+filling+line[len(line)-len(tm.Text)+tm.Blanks[0].End:]] || found["a 11"] {
			t.Errorf("%s: %q", line, texts)
		}
	}
}
