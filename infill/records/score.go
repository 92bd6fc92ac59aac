package records

import (
	"context"
	"fmt"

	"infill/infill"
	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/mlm"
)

// A Scorer scores texts, and ranks candidates for the blanks of those that have one. It is safe for
// concurrent use.
type Scorer struct {
	Model   *mlm.Model
	Engine  *infill.Engine    // on Model
	Ranking *settings.Ranking // of lines that choose nothing else
	// Doubted, if not nil, is told of the doubts about the texts of items that have a record.
	Doubted func(line int, doubts []text.Doubt)
	// Scored, if not nil, sees the records of items that did not fail, in any order. Its error is the
	// item's.
	Scored func(*input.Item, jsonl.Record) error
}

// Score is the record of a text: the ranked candidates of a text with a blank, the score of any
// other. ID, Line and fields are left to the caller. Errors are errParts and those of [text.Parse],
// [settings.Ranking.Prepare], [infill.Engine.Candidates] and [infill.Engine.Score].
func (s *Scorer) Score(ctx context.Context, line string, r settings.Ranking) (jsonl.Record, error) {
	return s.score(ctx, &input.Item{Text: line}, r)
}

// score is Score of an item, which may be cut into words, and have labelled spans.
func (s *Scorer) score(ctx context.Context, it *input.Item, r settings.Ranking) (
	jsonl.Record, error) {
	line := it.Text
	if s.Model == nil || s.Engine == nil {
		return nil, fmt.Errorf("%w: a Scorer needs a Model and an Engine on it", errParts)
	}
	if err := r.Prepare(); err != nil {
		return nil, err
	}
	tok := s.Model.Tokenizer()
	t, err := text.Parse(tok, line)
	if r.Pairs == nil && (err == nil && t.Blanks[0].Words != nil || r.Candidates != nil) {
		if err != nil {
			return nil, err
		}
		return s.rank(ctx, it, t, &r)
	}
	var rec *jsonl.Scored
	if r.Pairs != nil {
		rec, err = s.pair(ctx, it, &r)
	} else {
		rec, err = s.text(ctx, it, &r)
	}
	if err != nil {
		return nil, err
	}
	rec.Scoring, rec.Model = r.ScoredBy(false).String(), hash(s.Model)
	rec.Machine = machine(s.Model, false)
	rec.Doubts = append(it.Doubts, text.Doubts(tok, line)...)
	return rec, nil
}

// rank is the record of a template whose candidates are ranked.
func (s *Scorer) rank(ctx context.Context, it *input.Item, t *text.Template,
	r *settings.Ranking) (*jsonl.Ranked, error) {
	r.Options.Score = r.ScoredBy(true)
	list, err := s.Engine.Candidates(ctx, t, r.Candidates, r.Options)
	if err != nil {
		return nil, err
	}
	rec := ofCandidates(it.Text, list)
	rec.Scoring, rec.Model = r.Options.Score.String(), hash(s.Model)
	rec.Machine = machine(s.Model, false)
	rec.Doubts = append(it.Doubts, text.Doubts(s.Model.Tokenizer(), it.Text)...)
	listed := r.Candidates
	if listed == nil {
		listed = t.Blanks[0].Words
	}
	rec.Difference = differenceOf(listed, rec.Candidates)
	return rec, nil
}

// text is the record of the text of an item, with its words and its labelled spans.
func (s *Scorer) text(ctx context.Context, it *input.Item, r *settings.Ranking) (*jsonl.Scored,
	error) {
	o := infill.ScoreOptions{By: r.ScoredBy(false), RefuseLong: r.Options.RefuseLong,
		Terms: r.Options.Terms, Words: r.Words, Parts: r.WordParts, Cut: it.Words}
	regions, err := regionsOf(it, r)
	if err != nil {
		return nil, err
	}
	for _, l := range regions {
		o.Regions = append(o.Regions, [2]int{l.Start, l.End})
	}
	score, err := s.Engine.Score(ctx, it.Text, o)
	if err != nil {
		return nil, err
	}
	rec := ofScore(score)
	for i := range rec.Regions {
		rec.Regions[i].Label = regions[i].Label
	}
	return rec, nil
}

// Item is Score for an item with the settings among its fields.
func (s *Scorer) Item(ctx context.Context, it *input.Item) (jsonl.Record, error) {
	if it.Err != nil {
		return nil, it.Err
	}
	if s.Ranking == nil {
		return nil, fmt.Errorf("%w: a Scorer needs a Ranking, for items that choose nothing else",
			errParts)
	}
	if it.Left != "" {
		return &jsonl.Filled{Item: jsonl.Item{Text: it.Text},
			Origin: jsonl.Origin{Model: hash(s.Model), Left: it.Left}}, nil
	}
	ranking, err := s.Ranking.ForLine(it.Choices())
	if err != nil {
		return nil, err
	}
	return s.score(ctx, it, ranking)
}

// regionsOf are the labelled spans of an item whose words are scored.
func regionsOf(it *input.Item, r *settings.Ranking) ([]text.LabelledSpan, error) {
	if !r.Words {
		return nil, nil
	}
	of, err := labelsOf(it, r.Offsets)
	if err != nil {
		return nil, err
	}
	return of.kept, nil
}

// Record is the record of an item as a batch file has it. The error is one that would befall every
// item.
func (s *Scorer) Record(ctx context.Context, it *input.Item) (batch.Record, error) {
	rec, err := guarded(func() (jsonl.Record, error) { return s.Item(ctx, it) })
	if err == nil {
		tell(s.Doubted, it, jsonl.DoubtsOf(rec))
	}
	if err == nil && s.Scored != nil {
		err = s.Scored(it, rec)
	}
	return Encoded(it, rec, err, settings.RankTable().Has)
}
