package records

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
)

// A Hypothesis is a line of an n-best list. Marian and Moses write "id ||| text ||| features |||
// total", where the total may be missing, and Kaldi "id-n text".
type Hypothesis struct {
	Line     int
	ID, Text string
	// Score is the text's, and Sum the total of the line and the weighted score.
	Score, Sum float64
	Err        error // of this line alone

	line  string
	cells []string // nil for Kaldi's
	total float64
}

const bars = "|||"

// ReadHypothesis reads line n. One that cannot be read has an Err, a [*jsonl.Error].
func ReadHypothesis(n int, line string) Hypothesis {
	h := Hypothesis{Line: n, line: line, cells: strings.Split(line, bars)}
	for i, c := range h.cells {
		h.cells[i] = strings.TrimSpace(c)
	}
	h.Text = line
	bad := func(reason string) Hypothesis {
		h.Err = &jsonl.Error{Line: n, Kind: jsonl.ErrRow, Reason: reason}
		return h
	}
	if len(h.cells) == 1 {
		name, text, _ := strings.Cut(strings.Replace(h.cells[0], "\t", " ", 1), " ")
		at := strings.LastIndexByte(name, '-')
		if _, err := strconv.ParseUint(name[at+1:], 10, 31); at < 1 || err != nil {
			return bad("it is neither id ||| text ||| scores, as of Marian, nor id-n text, as of Kaldi")
		}
		h.ID, h.Text, h.cells = name[:at], strings.TrimSpace(text), nil
		return h
	}
	if h.ID, h.Text = h.cells[0], h.cells[1]; len(h.cells) < 3 || h.ID == "" {
		return bad("it has no id or no scores: id ||| text ||| scores")
	}
	scores := strings.Fields(h.cells[2])
	if len(h.cells) > 3 {
		scores = strings.Fields(h.cells[3])
		scores = scores[:min(1, len(scores))]
	}
	numbers := 0
	for _, s := range scores {
		if x, err := strconv.ParseFloat(s, 64); err == nil {
			h.total += x
			numbers++
		}
	}
	if numbers == 0 {
		return bad(fmt.Sprintf("%q has no number", strings.Join(scores, " ")))
	}
	return h
}

// InPlace is the line with its score: as the feature MLM= and the sum as its total, before which
// the feature Total= keeps the line's own. Kaldi's is the score behind the name. A line with an
// error is as it was.
func (h *Hypothesis) InPlace() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
	switch {
	case h.Err != nil:
		return h.line
	case h.cells == nil:
		name, _, _ := strings.Cut(strings.Replace(strings.TrimSpace(h.line), "\t", " ", 1), " ")
		return name + " " + number(h.Score)
	}
	cells := slices.Clone(h.cells)
	if len(cells) > 3 {
		cells[2] += " Total= " + cells[3]
	} else {
		cells = append(cells, "")
	}
	cells[2] += " MLM= " + number(h.Score)
	cells[3] = number(h.Sum)
	return strings.Join(cells, " "+bars+" ")
}

// Best is the line as the best one of its id: Marian's with its scores, Kaldi's without its number.
func (h *Hypothesis) Best() string {
	if h.cells == nil {
		return h.ID + " " + h.Text
	}
	return h.InPlace()
}

// NBest scores the lines of an n-best list and hands on the lines of each id together, in order.
// best is the place of the greatest Sum: the total of a line and the weighted score. It is −1 where
// no line has a score. Lines of an id that was there before fail.
//
// Errors: any of each, and one that would befall every line.
func (s *Scorer) NBest(ctx context.Context, lines iter.Seq[Hypothesis], weight float64,
	each func(list []Hypothesis, best int) error) error {
	if s.Model == nil || s.Engine == nil || s.Ranking == nil {
		return fmt.Errorf("%w: an n-best list needs a Model, an Engine on it, and a Ranking", errParts)
	}
	var list []Hypothesis
	id, again, seen := "", false, map[string]bool{}
	scored := func() error {
		best, err := s.rescore(ctx, list, weight)
		if err == nil && len(list) > 0 {
			err = each(list, best)
		}
		list = nil
		return err
	}
	for h := range lines {
		if h.ID != "" && h.ID != id { // a line that cannot be read ends nothing
			if id != "" {
				if err := scored(); err != nil {
					return err
				}
			}
			id, again = h.ID, seen[h.ID]
			seen[id] = true
		}
		if again && h.Err == nil {
			h.Err = &jsonl.Error{Line: h.Line, Kind: jsonl.ErrRow,
				Reason: "other ids stand between this line and the first of " + id}
		}
		list = append(list, h)
	}
	return scored()
}

// rescore scores the lines of one id, and finds the best.
func (s *Scorer) rescore(ctx context.Context, list []Hypothesis, weight float64) (int, error) {
	var all sync.WaitGroup
	places := make(chan struct{}, InFlight(s.Model.Streams(), 0))
	for i := range list {
		h := &list[i]
		if h.Err != nil {
			continue
		}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			rec, err := guarded(func() (*jsonl.Scored, error) {
				return s.text(ctx, &input.Item{Text: h.Text}, s.Ranking)
			})
			if h.Err = err; err == nil {
				h.Score, h.Sum = *rec.Score, h.total+weight**rec.Score
			}
		})
	}
	all.Wait()
	best := -1
	for i := range list {
		switch h := &list[i]; {
		case h.Err != nil && jsonl.Code(h.Err) == "":
			return 0, h.Err
		case h.Err == nil && (best < 0 || h.Sum > list[best].Sum):
			best = i
		}
	}
	return best, nil
}
