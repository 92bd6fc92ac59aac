package main

import (
	"context"
	"errors"
	"math"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/text"
)

// exampleBlank is a blank as the guide writes it. Every model knows it.
const exampleBlank = "[MASK]"

// withExample is the error of a text without a blank. On a terminal it has the text with its
// likeliest word masked, ready to be copied.
func (w *filler) withExample(ctx context.Context, err error, given string) error {
	if !w.single || !console.IsTerminal(w.std.Err) || !errors.Is(err, text.ErrNoBlank) {
		return advice.OrMask(err)
	}
	masked, none := likeliestMasked(ctx, w.engine, given)
	if none != nil { // it has no word to mask, or the model cannot judge it
		return advice.OrMask(err)
	}
	return advice.WithExample(err, masked)
}

// likeliestMasked is a text with a blank in place of the word that the model finds likeliest, among
// those that are not function words if there are such.
func likeliestMasked(ctx context.Context, engine *infill.Engine, given string) (string, error) {
	var plain string
	var spans [][2]int
	err := text.ErrFewWords
	for _, class := range []text.WordClass{text.ClassContent, text.ClassAll} {
		all := text.Masking{Rate: 1, Class: class}
		if plain, spans, err = all.Choose(given, exampleBlank, 1, ""); err == nil {
			break
		}
	}
	if err != nil {
		return "", err
	}
	score, err := engine.Score(ctx, given)
	if err != nil {
		return "", err
	}
	best, most := spans[0], math.Inf(-1)
	for _, s := range spans {
		sum := 0.0
		for _, p := range score.Pieces {
			if p.Span[0] < s[1] && s[0] < p.Span[1] {
				sum += p.LogProb
			}
		}
		if sum > most {
			best, most = s, sum
		}
	}
	return plain[:best[0]] + exampleBlank + plain[best[1]:], nil
}
