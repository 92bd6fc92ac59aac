package jsonl

import (
	"maps"
	"math"
	"slices"

	"infill/infill"
)

// Filled is the record of a text whose blanks were filled with these options,
// whose zero values stand for their defaults. The record shares no memory with
// them or with the result. The caller knows the rest: ID, Line, Gold, Model,
// Version, Fields.
func Filled(text string, opt *infill.Options, r *infill.Result) *Record {
	ran := opt.Complete()
	rec := &Record{
		Text: text, Masked: slices.Clone(ran.Words.Original),
		Scoring: ran.Results.Score.String(), Method: r.Method.String(),
		Exact: r.Exact, Distinct: r.Distinct, Marginals: marginals(r.Marginals),
		Normalizers: normalizers(r.Normalizers),
		MoveShare:   finite(r.MoveShare), Acceptance: finite(r.Acceptance),
		StepSize: r.Tuned["step-size"], Tuned: maps.Clone(r.Tuned), Shortlist: r.Shortlist,
		Zero: r.Stats.Zero, NonFinite: r.Stats.NonFinite,
		Rows: r.Rows, Repeated: r.Repeated,
	}
	if r.OriginalScore != nil {
		rec.OriginalScore = pointer(*r.OriginalScore)
	}
	if r.Ended != infill.EndedItself {
		rec.Ended = r.Ended.String()
	}
	if r.Method == infill.MethodSample {
		rec.Sampler, rec.Steps, rec.Chains = ran.Sampling.Sampler.Info().Name, ran.Sampling.Steps,
			ran.Sampling.Chains
		rec.Collect = ran.Results.Collect.String()
		if ran.Sampling.Start != infill.StartMasked {
			rec.Start = ran.Sampling.Start.String()
		}
		if opt.Sampling.Budget != infill.BudgetSteps || opt.Watch.Stop != nil {
			rec.Steps = r.Steps // which the budget or the stop decided
		}
	}
	if r.Method == infill.MethodSample || ran.Words.Original != nil {
		rec.Seed = pointer(ran.Seed)
	}
	if r.Window != nil {
		rec.Window = pointer(Span(*r.Window))
	}
	for i := range r.Fillings {
		var probability *float64
		if r.Exact {
			probability = pointer(r.Fillings[i].Probability)
		}
		f := filling(&r.Fillings[i], ran.Results.Score, probability)
		if ran.Words.Original != nil {
			f.changes(&r.Fillings[i])
		}
		if r.Normalizers != nil {
			f.LogProbability = finite(r.Fillings[i].LogProbability)
		}
		rec.Fillings = append(rec.Fillings, f)
	}
	return rec
}

// changes notes how a filling differs from the text before words were masked.
func (f *Filling) changes(of *infill.Filling) {
	f.Edits, f.Masks, f.Changed = pointer(of.Edits), pointer(len(of.Spans)), pointer(of.Changed)
}

// filling is a filling as records have it, by the score that ranks them.
func filling(f *infill.Filling, by infill.Scoring, probability *float64) Filling {
	var parts *Parts
	if by == infill.ScoreBlended {
		parts = pointer(Parts(f.Parts))
	}
	return Filling{
		Text: f.Text, Tokens: slices.Clone(f.Tokens), Pieces: marked(f.Tokens, f.Pieces),
		Spans: spans(f.Spans),
		Score: pointer(f.Score), ScorePerToken: pointer(f.ScorePerToken),
		Parts: parts, Energies: maps.Clone(f.Energies), Recut: f.Recut, Probability: probability,
		Chain: f.Chain, Step: f.Step, Count: f.Count, Similarity: f.Similarity,
	}
}

// marked are pieces that have marks, nil for words that are their pieces.
func marked(words, pieces []string) []string {
	if slices.Equal(words, pieces) {
		return nil
	}
	return slices.Clone(pieces)
}

// Scored is the record of a text that was scored.
func Scored(s *infill.Score) *Record {
	rec := &Record{
		Text: s.Text, Score: pointer(s.Score), ScorePerToken: pointer(s.ScorePerToken),
		Energies: maps.Clone(s.Energies), Windows: s.Windows,
	}
	for _, p := range s.Pieces {
		rec.Pieces = append(rec.Pieces, Piece{p.Piece, p.ID, p.Span, p.LogProb})
	}
	return rec
}

// Ranked is the record of a text with candidates for its blank.
func Ranked(text string, list []infill.Candidate) *Record {
	rec := &Record{Text: text}
	for _, c := range list {
		c.Pieces = marked(c.Tokens, c.Pieces)
		c.Tokens, c.Energies = slices.Clone(c.Tokens), maps.Clone(c.Energies)
		rec.Candidates = append(rec.Candidates, Candidate(c))
	}
	return rec
}

// Failed is the record of a text that an error befell, nil if the error would
// befall every text (see [Code]).
func Failed(text string, err error) *Record {
	code := Code(err)
	if code == "" {
		return nil
	}
	return &Record{Text: text, Error: &Failure{code, err.Error()}}
}

func spans(list [][2]int) []Span {
	if list == nil {
		return nil
	}
	out := make([]Span, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// pointer points to a copy of v.
func pointer[T any](v T) *T { return &v }

// finite is a number for JSON, nil if it is not finite.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
