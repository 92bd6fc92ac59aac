package jsonl

import (
	"slices"

	"infill/infill"
)

// Augmented is the record of a text and its variants, made with these options: as many as wanted or
// fewer, in a number of rounds. spans, if not nil, are labelled parts of the text, which
// move. The caller knows the rest: ID, Line, Model, Version, Fields.
func Augmented(text string, opt *infill.Options, found []infill.Variant, wanted, rounds int,
	spans *Spans) (*Record, error) {
	ran := opt.Complete()
	rec := &Record{Text: text, Rounds: rounds, Missing: max(0, wanted-len(found)),
		Scoring: ran.Results.Score.String(), Method: ran.Method.String(), Seed: pointer(ran.Seed)}
	if ran.Method != infill.MethodSearch {
		rec.Sampler, rec.Steps, rec.Chains = ran.Sampling.Sampler.Info().Name, ran.Sampling.Steps,
			ran.Sampling.Chains
	}
	for i := range found {
		v := &found[i]
		f := filling(&v.Filling, ran.Results.Score, nil)
		f.changes(&v.Filling)
		if v.Parts == (infill.Parts{}) { // the score is that of a whole sentence
			f.Parts = nil
		}
		f.Round, f.Blanked, f.Masked = v.Round, v.Blanked, slices.Clone(v.Masked)
		if v.OriginalScore != nil {
			f.OriginalScore = pointer(*v.OriginalScore)
		}
		if spans != nil {
			var edits []Edit
			for k, place := range v.Places {
				edits = append(edits, Edit{place, v.Became[k]})
			}
			var err error
			if f.Moved, err = spans.Moved(v.Text, edits); err != nil {
				return nil, err
			}
		}
		rec.Fillings = append(rec.Fillings, f)
	}
	return rec, nil
}
