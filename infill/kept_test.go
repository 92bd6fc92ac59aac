package infill

import (
	"context"
	"testing"

	"infill/infill/text"
	"infill/samplers"
)

// A memo with room for two rows of the vocabulary holds all that chains over a list can ask, and of
// candidates as well: only their values are remembered.
func TestListsFitSmallMemos(t *testing.T) {
	t.Parallel()
	m := openSmall(t)
	ctx := context.Background()
	for _, c := range []struct {
		name, text string
		opt        Options
	}{
		{"rows of a list", "the [MASK|dog|cat|red] and the [MASK|dog|cat|old|red] .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.GibbsMH{}}}},
		{"gradients of a list", "the [MASK|dog|cat|red] and the [MASK|dog|cat|old|red] .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.DMALA{}}}},
		{"candidates", "the [MASK] and the [MASK] .",
			Options{Sampling: SamplingOptions{Sampler: &samplers.GibbsMH{}, Shortlist: 3}}},
	} {
		tm, err := text.Parse(m.Tokenizer(), c.text)
		if err != nil {
			t.Fatal(err)
		}
		c.opt.Sampling.Steps, c.opt.Sampling.Chains, c.opt.Results.Score = 30, 4, ScorePLL
		// Candidates are chosen by whole rows, which fall out of the memo.
		bytes := int64(2*4*m.VocabSize() + 20*360 + 20*200) // with what entries take besides
		e, small := New(m), New(m).WithMemo(bytes)
		want, err := e.Fill(ctx, tm, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := small.Fill(ctx, tm, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if got.Evaluated != want.Evaluated || want.Repeated == 0 {
			t.Errorf("%s: %d rows evaluated with room for two, %d with room for all; %d repeated", c.name,
				got.Evaluated, want.Evaluated, want.Repeated)
		}
	}
}
