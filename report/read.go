package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/internal/count"
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

// Sentence is one generated sentence.
type Sentence struct {
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

// Summary says what a file held.
type Summary struct {
	// Format is "lines" or "jsonl".
	Format string
	// Records counts lines (lines) or JSON records (jsonl). Failed counts records
	// with an error in place of fillings, Blank empty lines.
	Records, Failed, Blank int
	// Sentences is how many there were, Kept how many remain after sampling.
	Sentences, Kept int
	// Acceptance is the mean of the records' acceptance rates, nil without any.
	Acceptance *float64
	// Probabilities are those of the first records that have any.
	Probabilities []Probabilities
	// Sampler is the records' sampler, "various" when they differ, "" when unnamed.
	Sampler string
	// Scoring is what the scores of the records are, see jsonl.Record, "various" when they differ, ""
	// without scores.
	Scoring string
}

// ReadSentences reads the sentences of a stream and calls each for the ones kept,
// in order. Plain lines are sentences, blank ones included: an empty generation is
// a generation. In JSON lines every filling is a sentence, and every variant. It is how a program
// reads the outputs of batches for measures of its own.
func ReadSentences(r io.Reader, name string, o ReadOptions, each func(Sentence) error) (
	Summary, error) {
	lines := func(rd *reader) error { return corpus.Lines(r, name, rd.line) }
	return readSentences(lines, name, o, nil, each)
}

// readSentences has from read the file. It refuses one in which a record has not one sentence,
// unless one is nil.
func readSentences(from func(*reader) error, name string, o ReadOptions, one *pairs,
	each func(Sentence) error) (Summary, error) {
	if o.Sample < 0 || o.Top < 0 {
		return Summary{}, fmt.Errorf("%w: sample %d, top %d (want 0 or more)", ErrOption, o.Sample, o.Top)
	}
	rd := &reader{name: name, o: o, each: each, pairs: one, given: o.TextField}
	rd.o.TextField = cmp.Or(o.TextField, "text")
	switch o.Format {
	case "", "auto":
	case "lines", "jsonl":
		rd.sum.Format = o.Format
	default:
		return Summary{}, fmt.Errorf("%w: format %q (known: auto, lines, jsonl)", ErrOption, o.Format)
	}
	if o.Sample > 0 {
		rd.sample = corpus.NewReservoir[Sentence](o.Sample, o.Seed)
	}
	if err := from(rd); err != nil {
		return rd.sum, err
	}
	return rd.finish()
}

// reader reads one file.
type reader struct {
	name       string
	o          ReadOptions
	each       func(Sentence) error
	sum        Summary
	sample     *corpus.Reservoir[Sentence]
	acceptance mean
	leading    int          // blank lines before the format is known
	row        *sentenceRow // the line before, if it was the row of a sentence
	rank       int          // of its sentence among those of its record
	pairs      *pairs       // paired mode only
	given      string       // the text field that was asked for
}

// file reads an input.
func (rd *reader) file(in Input) error {
	if in.table != "" {
		t, column, err := openTable(in.table, rd.given)
		if err != nil {
			return err
		}
		defer func() { _ = t.Close() }() // only read
		return rd.table(t, column)
	}
	f, err := in.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	return corpus.Lines(f, in.Name, rd.line)
}

// finish hands out the sample and completes the summary.
func (rd *reader) finish() (Summary, error) {
	s := &rd.sum
	if err := rd.pairs.end(); err != nil {
		return *s, err
	}
	if s.Format == "" {
		// Nothing but blank lines.
		s.Format, s.Records, s.Sentences, s.Blank = "lines", rd.leading, rd.leading, rd.leading
	}
	if s.Sentences == s.Blank {
		return *s, fmt.Errorf("%s: %w: %d record%s, %d failed, %d blank line%s",
			rd.name, ErrNoSentences, s.Records, count.S(s.Records), s.Failed, s.Blank, count.S(s.Blank))
	}
	if rd.sample != nil {
		for _, x := range rd.sample.Items() {
			if err := rd.keep(x); err != nil {
				return *s, err
			}
		}
	}
	if rd.acceptance.n > 0 {
		v := rd.acceptance.sum / float64(rd.acceptance.n)
		s.Acceptance = &v
	}
	return *s, nil
}

func (rd *reader) keep(s Sentence) error {
	rd.sum.Kept++
	return rd.each(s)
}

func (rd *reader) offer(s Sentence) error {
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
	return rd.offer(Sentence{Text: line, Group: group})
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
		rd.sum.Probabilities = append(rd.sum.Probabilities, Probabilities{rec.Text, rec.Marginals})
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
	// A newline inside a text is legal JSON; in a set of sentences it is space.
	text := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(f.Text)
	if strings.TrimSpace(text) == "" {
		rd.sum.Blank++
	}
	return rd.offer(Sentence{Text: text, Group: rd.sum.Records - 1, Score: f.Score,
		PerToken: f.ScorePerToken, Gold: of.Gold, Blanked: of.Text})
}

// parse reads a record. A text alone can come from any program and have members
// of any type beside it. It becomes the one filling of its record.
func parse(n int, line, textField string) (*jsonl.Record, error) {
	rec, bad := jsonl.Decoder{}.Record(n, []byte(line))
	if bad == nil && (rec.Fillings != nil || rec.Error != nil) {
		return rec, nil
	}
	fields, err := jsonl.Decoder{}.Object(n, []byte(line))
	if err != nil {
		return nil, err
	}
	if bad != nil {
		rec = &jsonl.Record{}
	}
	return plainRecord(fields, textField, rec, bad)
}

// plainRecord makes the text among the fields the one filling of the record. bad is why they are
// not those of a record.
func plainRecord(fields []jsonl.Field, textField string, rec *jsonl.Record, bad error) (
	*jsonl.Record, error) {
	var text jsonl.Field
	for _, f := range fields {
		switch {
		case string(f.Value) == "null":
		case f.Name == "fillings" || f.Name == "error":
			return nil, bad
		case f.Name == textField:
			text = f
		case f.Name == "gold" && json.Unmarshal(f.Value, &rec.Gold) != nil:
			return nil, errors.New("gold is not a string")
		}
	}
	rec.Fillings = make([]jsonl.Filling, 1)
	rec.Text = "" // whatever it is there, it is not known to be what the sentence was made from
	switch {
	case text.Value == nil:
		return nil, noText(textField, fields)
	case json.Unmarshal(text.Value, &rec.Fillings[0].Text) != nil:
		return nil, fmt.Errorf("%s is not a string", textField)
	case strings.Contains(rec.Fillings[0].Text, "[MASK"):
		return nil, errors.New("the text has blanks and no fillings; it looks like a text to be filled")
	}
	return rec, nil
}

// noText is the error of an object that has neither fillings nor the field of the text.
func noText(textField string, fields []jsonl.Field) error {
	var names []string
	for _, f := range fields {
		names = append(names, fmt.Sprintf("%q", f.Name))
	}
	has := "it has no fields"
	if len(names) > 0 {
		has = "its fields are " + strings.Join(names[:min(len(names), 12)], ", ")
	}
	return fmt.Errorf("%w: a JSON object without fillings and without the field %q; %s; "+
		"name the one with the sentences", ErrNoText, textField, has)
}

// detect finds the format from the first line that is not blank.
func detect(line string) (string, error) {
	s := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(s, "{"):
		rest := strings.TrimSpace(s[1:])
		if json.Valid([]byte(s)) {
			return "jsonl", nil
		}
		if rest == "" || rest[0] == '"' {
			return "", fmt.Errorf("%w: it looks like JSON spread over several lines; "+
				"put one record on each line", ErrFormat)
		}
	case strings.HasPrefix(s, "["):
		rest := strings.TrimSpace(s[1:])
		if rest == "" || rest[0] == '{' || rest[0] == '"' || rest[0] == '[' && json.Valid([]byte(s)) {
			return "", fmt.Errorf("%w: it looks like a JSON array; "+
				"put one record or one sentence on each line", ErrFormat)
		}
	}
	return "lines", nil
}
