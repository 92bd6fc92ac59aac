package records

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/variants"
)

// ofResult is the record of a text whose blanks were filled with these options, whose zero values
// stand for their defaults. The record shares no memory with them or with the result. The caller
// knows the rest: ID, Line, Gold, Model, Version, Fields.
func ofResult(text string, opt *infill.Options, r *infill.Result) *jsonl.Filled {
	ran := opt.Complete()
	rec := &jsonl.Filled{Item: jsonl.Item{Text: text}, Scoring: ran.Results.Score.String(),
		Masked: slices.Clone(ran.Words.Original), Lengths: r.Lengths, Method: r.Method.String(),
		Groups: slices.Clone(r.Groups), Shown: r.Shown, Exact: r.Exact, Distinct: r.Distinct,
		LookedAt: r.LookedAt, Marginals: r.Marginals, Ranks: slices.Clone(r.Ranks),
		Rows: r.Rows, Repeated: r.Repeated,
		MoveShare: jsonl.Finite(r.MoveShare), Acceptance: jsonl.Finite(r.Acceptance),
		StepSize: r.Tuned["step-size"], Tuned: maps.Clone(r.Tuned), Shortlist: r.Shortlist,
		Zero: r.Stats.Zero, NonFinite: r.Stats.NonFinite,
	}
	if r.OriginalScore != nil {
		rec.OriginalScore = new(*r.OriginalScore)
	}
	if r.Ended != infill.EndedItself {
		rec.Ended = r.Ended.String()
	}
	if r.Method == infill.MethodSample {
		rec.Sampler, rec.Steps, rec.Chains = ran.Sampling.Sampler.Info().Name, ran.Sampling.Steps,
			ran.Sampling.Chains
		rec.Collect = ran.Results.Collect.String()
		if begin := ran.Sampling.Begin(); begin != infill.StartMasked.String() {
			rec.Start = begin
		}
		if opt.Sampling.Budget != infill.BudgetSteps || opt.Watch.Stop != nil {
			rec.Steps = r.Steps // which the budget or the stop decided
		}
	}
	if r.Method == infill.MethodSample || ran.Words.Original != nil {
		rec.Seed = new(ran.Seed)
	}
	if r.Window != nil {
		rec.Window = new(jsonl.Span(*r.Window))
	}
	for i := range r.Fillings {
		var probability *float64
		if r.Exact {
			probability = new(r.Fillings[i].Probability)
		}
		f := filling(&r.Fillings[i], ran.Results.Score, probability)
		if ran.Words.Original != nil {
			changes(&f, &r.Fillings[i])
		}
		rec.Fillings = append(rec.Fillings, f)
		rec.Best = rec.Fillings[0].Text
	}
	return rec
}

// changes notes how a filling differs from the text before words were masked.
func changes(f *jsonl.Filling, of *infill.Filling) {
	f.Edits, f.Masks, f.Changed = new(of.Edits), new(len(of.Spans)), new(of.Changed)
}

// filling is a filling as records have it, by the score that ranks them.
func filling(f *infill.Filling, by infill.Scoring, probability *float64) jsonl.Filling {
	var parts *infill.Parts
	if by == infill.ScoreBlended {
		parts = new(f.Parts)
	}
	return jsonl.Filling{
		Text: f.Text, Tokens: slices.Clone(f.Tokens), Pieces: marked(f.Tokens, f.Pieces),
		Spans: spansOf(f.Spans), Score: new(f.Score), ScorePerToken: new(f.ScorePerToken),
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

// ofVariants is the record of a text and its variants, made with these options: as many as wanted
// or fewer, in a number of rounds. of are the labels of the text, which move, and plain is what its
// escapes became. The caller knows the rest: ID, Line, Model, Version, Fields.
func ofVariants(text string, opt *infill.Options, found []variants.Variant, wanted, rounds int,
	of *labels, plain change) (*jsonl.Filled, error) {
	ran := opt.Complete()
	rec := &jsonl.Filled{Item: jsonl.Item{Text: text}, Scoring: ran.Results.Score.String(),
		Rounds: rounds, Missing: max(0, wanted-len(found)), Method: ran.Method.String(),
		Seed: new(ran.Seed)}
	if ran.Method != infill.MethodSearch {
		rec.Sampler, rec.Steps, rec.Chains = ran.Sampling.Sampler.Info().Name, ran.Sampling.Steps,
			ran.Sampling.Chains
	}
	for i := range found {
		v := &found[i]
		f := filling(&v.Filling, ran.Results.Score, nil)
		changes(&f, &v.Filling)
		if v.Parts == (infill.Parts{}) { // the score belongs to a whole sentence
			f.Parts = nil
		}
		f.Round, f.Blanked, f.Masked = v.Round, v.Blanked, slices.Clone(v.Masked)
		f.Groups = slices.Clone(v.Groups)
		if v.OriginalScore != nil {
			f.OriginalScore = new(*v.OriginalScore)
		}
		var edits []edit
		for k, place := range v.Places {
			edits = append(edits, edit{place, v.Became[k]})
		}
		if err := of.put(&f, plain.then(edits)); err != nil {
			return nil, err
		}
		rec.Fillings = append(rec.Fillings, f)
		rec.Best = rec.Fillings[0].Text
	}
	return rec, nil
}

// ofScore is the record of a text that was scored.
func ofScore(s *infill.Score) *jsonl.Scored {
	rec := &jsonl.Scored{Item: jsonl.Item{Text: s.Text}, Score: new(s.Score),
		ScorePerToken: new(s.ScorePerToken), Energies: maps.Clone(s.Energies), Windows: s.Windows}
	for _, p := range s.Pieces {
		rec.Pieces = append(rec.Pieces, jsonl.Piece{Piece: p.Piece, ID: p.ID, Span: p.Span,
			LogProb: p.LogProb})
	}
	rec.Words, rec.Regions = wordsOf(s, s.Words), wordsOf(s, s.Regions)
	return rec
}

// wordsOf are the scores of words or regions of a text.
func wordsOf(s *infill.Score, list []infill.WordScore) []jsonl.Word {
	var out []jsonl.Word
	at, chars := 0, 0 // as far as characters are counted
	char := func(byte int) int {
		if byte < at {
			at, chars = 0, 0
		}
		chars += utf8.RuneCountInString(s.Text[at:byte])
		at = byte
		return chars
	}
	for _, w := range list {
		word := jsonl.Word{Word: s.Text[w.Span[0]:w.Span[1]], Start: w.Span[0], End: w.Span[1],
			StartChar: char(w.Span[0]), EndChar: char(w.Span[1])}
		var pieces []string
		for _, i := range w.Pieces {
			pieces = append(pieces, s.Pieces[i].Piece)
		}
		if word.Pieces = strings.Join(pieces, " "); pieces != nil {
			word.Score, word.Surprisal = new(w.Score), new(-w.Score/math.Ln2)
		}
		out = append(out, word)
	}
	return out
}

// ofCandidates is the record of a text with candidates for its blank.
func ofCandidates(text string, list []infill.Candidate) *jsonl.Ranked {
	rec := &jsonl.Ranked{Item: jsonl.Item{Text: text}}
	for _, c := range list {
		c.Pieces = marked(c.Tokens, c.Pieces)
		c.Tokens, c.Energies = slices.Clone(c.Tokens), maps.Clone(c.Energies)
		rec.Candidates = append(rec.Candidates, c)
	}
	return rec
}

// Failed is the record of a text that an error befell, nil if the error would
// befall every text (see [jsonl.Code]).
func Failed(text string, err error) *jsonl.Failed {
	code := jsonl.Code(err)
	if code == "" {
		return nil
	}
	return &jsonl.Failed{Item: jsonl.Item{Text: text},
		Origin: jsonl.Origin{Error: &jsonl.Failure{Code: code, Message: err.Error()}}}
}

func spansOf(list [][2]int) []jsonl.Span {
	if list == nil {
		return nil
	}
	out := make([]jsonl.Span, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
