package records

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/text"
)

// An NBest scores the lines of an n-best list, as a batch of lines of text. Marian and Moses write
// "id ||| text ||| features ||| total", where the total may be missing, and Kaldi "id-n text". A
// record has the line, and as its filling the line with its score, by the sum of the total and the
// weighted score.
type NBest struct {
	Scorer
	Weight float64 // of the score beside the total
	// Best gets the best line of each id once the next id begins, in order. See Last.
	Best func(line string) error

	id    string
	again bool // other ids stand between its first line and this one
	seen  map[string]bool
	best  *string // of the id, nil for none
	sum   float64 // of the best
}

// Record makes the record of a line, as [batch.Job.Do]. A line that cannot be read, or whose id was
// there before others, fails.
func (s *NBest) Record(ctx context.Context, it *input.Item) (batch.Record, error) {
	if s.Model == nil || s.Engine == nil || s.Ranking == nil || s.Best == nil {
		return batch.Record{}, fmt.Errorf("%w: an NBest needs a Model, an Engine on it, a Ranking and "+
			"Best", errParts)
	}
	if !utf8.ValidString(it.Text) { // which no record gives back as it was
		return batch.Record{}, text.CheckText(it.Text, "")
	}
	var scored *jsonl.Scored
	h, err := readHypothesis(it.Line, it.Text)
	if err = cmp.Or(it.Err, err); err == nil {
		scored, err = guarded(func() (*jsonl.Scored, error) {
			return s.text(ctx, &input.Item{Text: h.text}, s.Ranking)
		})
	}
	return batch.Record{Finish: func(context.Context) (batch.Record, error) {
		if err := s.begin(h.id); err != nil {
			return batch.Record{}, err
		}
		if s.again && err == nil {
			err = &jsonl.Error{Line: it.Line, Kind: jsonl.ErrRow,
				Reason: "other ids stand between this line and the first of " + s.id}
		}
		var rec jsonl.Record
		if err == nil {
			sum := h.total + s.Weight**scored.Score
			line := h.inPlace(*scored.Score, sum)
			s.take(&h, line, sum)
			rec = &jsonl.Filled{Item: jsonl.Item{Text: it.Text}, Best: line,
				Fillings: []jsonl.Filling{{Text: line, Score: &sum}},
				Origin:   jsonl.Origin{Model: hash(s.Model)}}
		}
		return Encoded(it, rec, err, settings.RankTable().Has)
	}}, nil
}

// Known takes a record of an earlier run, as [batch.Job.Known].
func (s *NBest) Known(it *input.Item, rec jsonl.Record) error {
	h, _ := readHypothesis(it.Line, it.Text)
	err := s.begin(h.id)
	if f, ok := rec.(*jsonl.Filled); ok && len(f.Fillings) > 0 && f.Fillings[0].Score != nil {
		s.take(&h, f.Best, *f.Fillings[0].Score)
	}
	return err
}

// Last hands on the best line of the last id.
func (s *NBest) Last() error {
	if s.best == nil {
		return nil
	}
	line := *s.best
	s.best = nil
	return s.Best(line)
}

// begin goes to an id. A line that cannot be read has none, and ends nothing.
func (s *NBest) begin(id string) error {
	if id == "" || id == s.id {
		return nil
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.id, s.again = id, s.seen[id]
	s.seen[id] = true
	return s.Last()
}

// take compares a line with the best one of its id.
func (s *NBest) take(h *hypothesis, inPlace string, sum float64) {
	if s.best != nil && sum <= s.sum {
		return
	}
	if h.cells == nil {
		inPlace = h.id + " " + h.text
	}
	s.best, s.sum = &inPlace, sum
}

// A hypothesis is a line of an n-best list.
type hypothesis struct {
	id, text string
	line     string
	cells    []string // nil for Kaldi's
	total    float64
}

const bars = "|||"

// readHypothesis reads line n. The error is a [*jsonl.Error], beside which there may be an id.
func readHypothesis(n int, line string) (h hypothesis, err error) {
	h = hypothesis{line: line, text: line, cells: strings.Split(line, bars)}
	for i, c := range h.cells {
		h.cells[i] = strings.TrimSpace(c)
	}
	bad := func(reason string) (hypothesis, error) {
		return h, &jsonl.Error{Line: n, Kind: jsonl.ErrRow, Reason: reason}
	}
	if len(h.cells) == 1 {
		name, text, _ := strings.Cut(strings.Replace(h.cells[0], "\t", " ", 1), " ")
		at := strings.LastIndexByte(name, '-')
		if _, err := strconv.ParseUint(name[at+1:], 10, 31); at < 1 || err != nil {
			return bad("it is neither id ||| text ||| scores, as of Marian, nor id-n text, as of Kaldi")
		}
		h.id, h.text, h.cells = name[:at], strings.TrimSpace(text), nil
		return h, nil
	}
	if h.id, h.text = h.cells[0], h.cells[1]; len(h.cells) < 3 || h.id == "" {
		return bad("it has no id or no scores: id ||| text ||| scores")
	}
	scores := strings.Fields(h.cells[2])
	if len(h.cells) > 3 {
		scores = strings.Fields(h.cells[3])
		scores = scores[:min(1, len(scores))]
	}
	numbers := 0
	for _, s := range scores {
		if x, err := strconv.ParseFloat(s, 64); err == nil && jsonl.Finite(x) != nil {
			h.total += x
			numbers++
		}
	}
	if numbers == 0 {
		return bad(fmt.Sprintf("%q has no number", strings.Join(scores, " ")))
	}
	return h, nil
}

// inPlace is the line with its score: as the feature MLM= and the sum as its total, before which
// the feature Total= keeps the line's own. Kaldi's is the score behind the name.
func (h *hypothesis) inPlace(score, sum float64) string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
	if h.cells == nil {
		name, _, _ := strings.Cut(strings.Replace(strings.TrimSpace(h.line), "\t", " ", 1), " ")
		return name + " " + number(score)
	}
	cells := slices.Clone(h.cells)
	if len(cells) > 3 {
		cells[2] += " Total= " + cells[3]
	} else {
		cells = append(cells, "")
	}
	cells[2] += " MLM= " + number(score)
	cells[3] = number(sum)
	return strings.Join(cells, " "+bars+" ")
}
