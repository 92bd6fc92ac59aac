package records

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
)

// pair is the record of an item with two texts.
func (s *Scorer) pair(ctx context.Context, it *input.Item, r *settings.Ranking) (*jsonl.Scored,
	error) {
	texts := [2]string{it.Text}
	if err := textOf(it, r.Pairs[1], &texts[1]); err != nil {
		return nil, err
	}
	score, shared := r.ScoredBy(false), 0
	var scores [2]*infill.Score
	var err error
	if r.Shared {
		scores, shared, err = s.Engine.ScoreShared(ctx, texts, score)
	}
	for i := range texts {
		if !r.Shared && err == nil {
			scores[i], err = s.Engine.Score(ctx, texts[i], infill.ScoreOptions{By: score,
				RefuseLong: r.Options.RefuseLong, Terms: r.Options.Terms})
		}
	}
	if err != nil {
		return nil, err
	}
	rec := ofScore(scores[0])
	rec.Text, rec.Scoring = it.Text, score.String()
	rec.Pair = &jsonl.Pair{Text: texts[1], Score: scores[1].Score, Shared: shared}
	rec.Difference = new(scores[0].Score - scores[1].Score)
	return rec, nil
}

// textOf reads a field of an item as a text.
func textOf(it *input.Item, name string, to *string) error {
	for _, f := range it.Fields {
		if f.Name != name {
			continue
		}
		if json.Unmarshal(f.Value, to) != nil || f.Value[0] != '"' {
			break
		}
		return nil
	}
	return &jsonl.Error{Line: it.Line, Field: name, Kind: jsonl.ErrNoText,
		Reason: fmt.Sprintf("no text %q to compare with", name)}
}

// differenceOf is the score of the first of the candidates that were listed less the best of the
// others, which of two is the other; nil for a single one.
func differenceOf(listed []string, ranked []infill.Candidate) *float64 {
	first := slices.IndexFunc(ranked, func(c infill.Candidate) bool {
		return c.Candidate == strings.TrimSpace(listed[0])
	})
	if first < 0 || len(ranked) < 2 {
		return nil
	}
	other := 0 // the best one
	if first == 0 {
		other = 1
	}
	return new(ranked[first].Score - ranked[other].Score)
}
