package report

import (
	"cmp"
	"fmt"
	"strings"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/metrics/corpus"
)

// ReadOptions says how sentences are read from a file.
type ReadOptions struct {
	// Format is "auto" (default), "lines" or "jsonl".
	Format string
	// Top keeps the first fillings of each JSON record, best first; 0 keeps all.
	Top int
	// TextField is the member of a JSON line that has its sentence, where it has no fillings; "" is
	// "text".
	TextField string
	// Sample keeps a uniform sample of this many sentences, drawn with Seed; 0
	// keeps all.
	Sample int
	Seed   uint64
}

// A sentence is one generated sentence.
type sentence struct {
	Text string
	// Group is the record it came from, 0 upwards; of plain lines each is its own.
	Group int
	// Score is the pseudo-log-likelihood in nats and PerToken its mean over the
	// blanks; nil where the file has none.
	Score, PerToken *float64
	// Gold is the sentence that was infilled, "" where the file does not have it.
	Gold string
	// Blanked is the text with its blanks that the sentence was made from, "" where the file does not
	// have it.
	Blanked string
}

// various stands for what differs from record to record.
const various = "various"

// A summary says what a file held.
type summary struct {
	// Format is "lines", "jsonl", "json" for an array, or that of a table.
	Format string
	// Records counts lines (lines) or JSON records (jsonl). Failed counts records
	// with an error in place of fillings, Blank empty lines.
	Records, Failed, Blank int
	// Sentences is how many there were, Kept how many remain after sampling.
	Sentences, Kept int
	// Acceptance is the mean of the records' acceptance rates, nil without any.
	Acceptance *float64
	// Probabilities are those of the first records that have any.
	Probabilities []probabilities
	// Sampler is the records' sampler, "various" when they differ, "" when unnamed.
	Sampler string
	// Scoring is what the scores of the records are, see jsonl.Record, "various" when they differ, ""
	// without scores.
	Scoring string
}

// drawnRecords is how many records have their probabilities drawn: the first of a file.
const drawnRecords = 3

// probabilities are those of the words of a text's blanks and of its fillings, as its record has
// them.
type probabilities struct {
	Text      string           `json:"text"`
	Marginals *jsonl.Marginals `json:"marginals"`
}

// reader reads one file.
type reader struct {
	name       string
	o          ReadOptions
	each       func(sentence) error
	sum        summary
	sample     *corpus.Reservoir[sentence]
	acceptance mean
	leading    int          // blank lines before the format is known
	row        *sentenceRow // the line before, if it was the row of a sentence
	rank       int          // of its sentence among those of its record
	pairs      *pairs       // paired mode only
}

func (rd *reader) keep(s sentence) error {
	rd.sum.Kept++
	return rd.each(s)
}

func (rd *reader) offer(s sentence) error {
	rd.sum.Sentences++
	if rd.sample != nil {
		rd.sample.Add(s)
		return nil
	}
	return rd.keep(s)
}

func (rd *reader) line(n int, line string) error {
	blank := strings.TrimSpace(line) == ""
	if rd.sum.Format == "" {
		if blank {
			rd.leading++
			return nil
		}
		format, err := detect(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", rd.name, n, err)
		}
		rd.sum.Format = format
		if format == "lines" {
			for range rd.leading {
				if err := rd.plain(""); err != nil {
					return err
				}
			}
		}
	}
	if rd.sum.Format == "lines" {
		return rd.plain(line)
	}
	if blank {
		return nil
	}
	return rd.json(n, line)
}

func (rd *reader) plain(line string) error {
	group := rd.sum.Records
	rd.sum.Records++
	if strings.TrimSpace(line) == "" {
		rd.sum.Blank++
	}
	return rd.offer(sentence{Text: line, Group: group})
}

func (rd *reader) json(n int, line string) error {
	if isRow(line) {
		fields, err := jsonl.Decoder{}.Object(n, []byte(line))
		if err == nil {
			row, _ := rowOf(fields, rd.o.TextField, false) // of other members it is none
			if row != nil {
				return rd.sentence(row)
			}
		}
	}
	rec, err := parse(n, line, rd.o.TextField)
	if err != nil {
		return fmt.Errorf(`%s:%d: %w: %w`, rd.name, n, ErrFormat, err)
	}
	return rd.alone(rec)
}

// alone takes a record that is not of rows.
func (rd *reader) alone(rec *jsonl.Record) error {
	rd.row = nil
	if err := rd.pairs.begin(nil); err != nil {
		return err
	}
	return rd.record(rec)
}

// record takes the sentences of a new record.
func (rd *reader) record(rec *jsonl.Record) error {
	rd.sum.Records++
	if rec.Error != nil {
		rd.sum.Failed++
		return rd.pairs.failed(rec.Error)
	}
	switch {
	case rec.Sampler == "" || rec.Sampler == rd.sum.Sampler:
	case rd.sum.Sampler == "":
		rd.sum.Sampler = rec.Sampler
	default:
		rd.sum.Sampler = various
	}
	if len(rec.Fillings) > 0 && rec.Fillings[0].Score != nil {
		switch by := cmp.Or(rec.Scoring, infill.ScorePLL.String()); rd.sum.Scoring {
		case "", by:
			rd.sum.Scoring = by
		default:
			rd.sum.Scoring = various
		}
	}
	rd.acceptance.add(rec.Acceptance)
	if rec.Marginals != nil && len(rd.sum.Probabilities) < drawnRecords {
		rd.sum.Probabilities = append(rd.sum.Probabilities, probabilities{rec.Text, rec.Marginals})
	}
	for i, f := range rec.Fillings {
		if err := rd.generated(f, i, rec); err != nil {
			return err
		}
	}
	return nil
}

// generated takes a filling of the last record, whose place among them is i.
func (rd *reader) generated(f jsonl.Filling, i int, of *jsonl.Record) error {
	if rd.o.Top > 0 && i >= rd.o.Top {
		return nil
	}
	rd.pairs.sentence()
	text := oneLine.Replace(f.Text)
	if strings.TrimSpace(text) == "" {
		rd.sum.Blank++
	}
	return rd.offer(sentence{Text: text, Group: rd.sum.Records - 1, Score: f.Score,
		PerToken: f.ScorePerToken, Gold: of.Gold, Blanked: of.Text})
}

// sentence takes a row. Rows one after the other that have the same line are of one record.
func (rd *reader) sentence(r *sentenceRow) error {
	if err := rd.pairs.begin(&r.line); err != nil {
		return err
	}
	if r.original {
		return nil
	}
	rec := &jsonl.Record{Line: r.line, Text: r.text, Scoring: r.scoring}
	rec.Acceptance, rec.Gold = r.acceptance, r.gold
	rec.Fillings = []jsonl.Filling{{Text: r.sentence, Score: r.score, ScorePerToken: r.perToken}}
	if before := rd.row; before != nil && before.line == r.line && r.failed.Code == "" {
		rd.rank++
		return rd.generated(rec.Fillings[0], rd.rank, rec)
	}
	rd.row, rd.rank = r, 0
	switch {
	case r.failed.Code != "":
		rec.Error, rec.Fillings = &r.failed, nil
	case r.all != nil:
		rec.Fillings = nil
		for _, f := range r.all {
			rec.Fillings = append(rec.Fillings,
				jsonl.Filling{Text: f.Filled, Score: f.Score, ScorePerToken: f.ScorePerToken})
		}
	}
	return rd.record(rec)
}

// oneLine makes a line of a text. A line end inside of one is legal JSON, and in a set of sentences
// it is space.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
