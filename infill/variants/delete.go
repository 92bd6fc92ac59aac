package variants

import (
	"context"
	"fmt"

	"infill/infill"
	"infill/infill/internal/choosing"
	"infill/infill/text"
)

// without makes the variant of a round in which words are taken out.
func (r *Rounds) without(ctx context.Context, opt *infill.Options) ([]Variant, error) {
	t, chosen, plain, err := r.blanked(r.masking.ChooseRemovable, opt)
	if err != nil {
		return nil, err
	}
	masked := t.Masked
	left, from, to := text.Delete(plain, chosen)
	if text.CountWords(left) == 0 {
		return nil, fmt.Errorf("%w: nothing is left of the text", infill.ErrFiltered)
	}
	if r.tried[left] {
		return nil, nil
	}
	if r.whole == nil {
		r.tried = map[string]bool{}
		if r.whole, err = r.score(ctx, plain, opt); err != nil {
			return nil, err
		}
	}
	r.tried[left] = true
	s, err := r.score(ctx, left, opt)
	if err != nil {
		return nil, err
	}
	drop := 0.0
	if opt.Words.Filter.MaxDrop != nil {
		drop = *opt.Words.Filter.MaxDrop
	}
	if s.ScorePerToken < r.whole.ScorePerToken-drop {
		return nil, fmt.Errorf("%w: without %q the sentence scores %.2f nats per token, and %.2f with it",
			infill.ErrFiltered, masked, s.ScorePerToken, r.whole.ScorePerToken)
	}
	f := infill.Filling{Text: left, Tokens: make([]string, len(to)), Spans: to, Score: s.Score,
		ScorePerToken: s.ScorePerToken, Energies: s.Energies}
	var gone []string
	for _, g := range from {
		gone = append(gone, plain[g[0]:g[1]])
	}
	if err := choosing.Judge(ctx, &opt.Words.Filter, &f, plain, gone); err != nil {
		return nil, err
	}
	return []Variant{{Filling: f, Blanked: t.Text, Masked: masked, Places: from, Became: to,
		OriginalScore: &r.whole.Score}}, nil
}

// score scores a sentence without its escapes, with all parts of the energy.
func (r *Rounds) score(ctx context.Context, plain string, opt *infill.Options) (*infill.Score,
	error) {
	s, err := r.e.Score(ctx, plain, infill.ScoreOptions{By: opt.Results.Score,
		RefuseLong: opt.RefuseLong, Terms: opt.Words.Terms})
	if err != nil {
		return nil, fmt.Errorf("the score of %q: %w", plain, err)
	}
	return s, nil
}
