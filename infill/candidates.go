package infill

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"infill/infill/internal/target"
	"infill/infill/text"
	"infill/mlm"
)

// ErrNoCandidates is returned where nothing is to be ranked. It wraps ErrBlank.
var ErrNoCandidates = fmt.Errorf("%w: no candidates", text.ErrBlank)

// A Candidate is a word or phrase for a blank, with its score.
type Candidate struct {
	Candidate string `json:"candidate"`
	Text      string `json:"text"` // the sentence with it
	// Tokens are the model's pieces as a reader sees them, Pieces are these with the vocabulary's
	// marks.
	Tokens []string `json:"tokens"`
	Pieces []string `json:"pieces,omitempty"`
	// Score is the score of the pieces, tied blanks included, in nats, computed as
	// CandidateOptions.Score says, plus CandidateOptions.Terms.
	Score         float64 `json:"score"`
	ScorePerToken float64 `json:"score_per_token"` // Score over the number of pieces
	// Length is the part of Score for the number of pieces, see Parts.Length. It is 0 where all
	// candidates have the same, and with ScorePLL or PerToken.
	Length float64 `json:"length,omitempty"`
	// Energies are the parts of Score by name, weights included, nil without terms.
	Energies map[string]float64 `json:"energies,omitempty"`
	Share    float64            `json:"share"` // exp of its score over the sum for all; in [0,1]
}

// CandidateOptions say how candidates are ranked.
type CandidateOptions struct {
	Score      Scoring // ScoreBlended or ScorePLL
	PerToken   bool    // by score per piece, so that long candidates are not at a disadvantage
	AsModel    bool    // capitals are as given, see ResultOptions.AsModel
	RefuseLong bool    // see Options.RefuseLong
	// Terms are further parts of the energy, see Options.Words.Terms. A blank of candidates has no
	// words from before.
	Terms []Weighted
}

// Candidates ranks the words or phrases for the one blank of a template (or several that are tied),
// best first; without words, the blank's own list. Other options of the blank hold: a count or an
// expression leaves out candidates that do not meet it. Candidates may have different numbers of
// pieces. Then a blended score has a part for the length, and PerToken divides others by the
// number.
//
// Errors: ErrBlank for more than one blank or a word that cannot be spelt, ErrNoCandidates,
// ErrEmptySupport, ErrOption, mlm.ErrTooLong, mlm.ErrNotFinite, or a term's.
func (e *Engine) Candidates(ctx context.Context, t *text.Template, words []string,
	o CandidateOptions) ([]Candidate, error) {
	if err := e.usable(ctx, t, nil); err != nil {
		return nil, err
	}
	one, err := listing(t, words)
	if err != nil {
		return nil, err
	}
	if o.Score == ScoreWithinWord {
		return nil, fmt.Errorf("%w: %v is the score of whole texts; rank candidates by another",
			text.ErrOption, o.Score)
	}
	opt := Options{Results: ResultOptions{AsModel: o.AsModel, Score: o.Score},
		RefuseLong: o.RefuseLong, Words: WordOptions{Terms: o.Terms}}
	if err := opt.Prepare(); err != nil {
		return nil, err
	}
	p, err := e.resolve(ctx, one, &opt)
	if err != nil {
		return nil, err
	}
	out, err := candidates(ctx, p, o.PerToken)
	if err == nil {
		err = share(p, out, o.PerToken)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// listing is a template whose one group of blanks has these words, or else its own list.
func listing(t *text.Template, words []string) (*text.Template, error) {
	if len(t.Groups) != 1 {
		return nil, &text.Error{Offset: t.Blanks[t.Groups[1].Blanks[0]].Start,
			Msg: "candidates are for one blank; fill the others, or tie them: [MASK:a]", Err: text.ErrBlank}
	}
	one := *t
	one.Groups = slices.Clone(t.Groups)
	if len(words) > 0 {
		one.Groups[0].Words = words
	}
	if len(one.Groups[0].Words) == 0 {
		msg := "give some, or list them in the blank: [MASK|red|green]"
		return nil, &text.Error{Offset: t.Blanks[0].Start, Msg: msg, Err: ErrNoCandidates}
	}
	return &one, nil
}

// candidates are the phrases of the one coordinate with their scores, in its order. Scores that are
// divided by the number of tokens have no part for the length.
func candidates(ctx context.Context, p *target.Task, perToken bool) ([]Candidate, error) {
	tgt, err := p.Unrounded(ctx, p.Choices[0].Target)
	if err != nil {
		return nil, err
	}
	u, parts, _, err := tgt.Scores(ctx, tgt.Model, p.Opt.Results.Score)
	if err != nil {
		return nil, err
	}
	fillings := make([]Filling, tgt.Coords[0].K())
	for v := range fillings {
		fillings[v] = tgt.Spell([]int32{int32(v)}, p.Opt.Results.AsModel)
		if perToken {
			u[v], parts[v].Length = u[v]-parts[v].Length, 0
		}
		fillings[v].Score = u[v]
	}
	if err := p.Energies(ctx, fillings); err != nil {
		return nil, err
	}
	out := make([]Candidate, len(fillings))
	for v, f := range fillings {
		out[v] = Candidate{
			Candidate: tgt.Coords[0].Phrases[v].Text, Text: f.Text, Pieces: strings.Fields(f.Pieces[0]),
			Score: u[v], ScorePerToken: u[v] / float64(len(f.IDs)), Length: parts[v].Length,
			Energies: f.Energies,
		}
		for _, id := range tgt.Filling(0, []int32{int32(v)}, nil) {
			out[v].Tokens = append(out[v].Tokens, text.Word(tgt.Tokenizer(), []int32{id}))
		}
	}
	return out, nil
}

// share ranks candidates and says how large a part of all each is.
func share(p *target.Task, list []Candidate, perToken bool) error {
	by := func(c *Candidate) float64 {
		if perToken {
			return c.ScorePerToken
		}
		return c.Score
	}
	sort.SliceStable(list, func(a, b int) bool { return by(&list[a]) > by(&list[b]) })
	best, sum := by(&list[0]), 0.0
	for v := range list {
		list[v].Share = math.Exp(by(&list[v]) - best)
		sum += list[v].Share
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return p.Choices[0].Target.Extra.Blame(fmt.Errorf("%w: the scores of candidates sum to %v",
			mlm.ErrNotFinite, sum))
	}
	for v := range list {
		list[v].Share /= sum
	}
	return nil
}
