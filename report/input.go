package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"infill/internal/unpack"
	"infill/metrics/corpus"
)

// Errors of reading; those of [corpus.Lines] come through as they are.
var (
	// ErrFormat reports a file that is neither lines of text nor JSON lines of
	// infill fill or batch.
	ErrFormat = errors.New("unknown format")
	// ErrNoSentences reports a file whose records hold no sentence.
	ErrNoSentences = errors.New("no sentences")
	// ErrOption reports a bad option.
	ErrOption = errors.New("bad report option")
)

// Input is a named stream. Open is called once.
type Input struct {
	// Name is shown in tables and messages.
	Name string
	Open func() (io.ReadCloser, error)
}

// Files makes inputs of paths, decompressed where
// they are gzip or zstd; "-" is stdin, which can be read once.
func Files(paths []string, stdin io.Reader) []Input {
	out := make([]Input, len(paths))
	for i, path := range paths {
		if path == "-" {
			out[i] = Input{Name: "stdin", Open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }}
			continue
		}
		out[i] = Input{Name: path, Open: func() (io.ReadCloser, error) { return unpack.Open(path) }}
	}
	return out
}

// Strings makes an input of lines in memory.
func Strings(name string, lines []string) Input {
	return Input{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(strings.Join(lines, "\n"))), nil
	}}
}

// ReadOptions says how sentences are read from a file.
type ReadOptions struct {
	// Format is "auto" (default), "lines" or "jsonl".
	Format string
	// Top keeps the first so many fillings of each JSON record, best first; 0 keeps all.
	Top int
	// Sample keeps a uniform sample of so many sentences, drawn with Seed; 0 keeps all.
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
}

// Summary says what a file held.
type Summary struct {
	// Format is "lines" or "jsonl".
	Format string
	// Records counts lines (lines) or JSON records (jsonl); Failed counts records
	// with an error in place of fillings, Blank empty lines.
	Records, Failed, Blank int
	// Sentences is how many there were, Kept how many remain after sampling.
	Sentences, Kept int
	// Acceptance is the mean of the records' acceptance rates, nil without any.
	Acceptance *float64
	// Sampler is the records' sampler, "various" when they differ, "" when unnamed.
	Sampler string
}

// record is a line of infill fill --json or infill batch.
type record struct {
	Text     *string    `json:"text"`
	Gold     string     `json:"gold"`
	Fillings *[]filling `json:"fillings"`
	Error    *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Sampler    string   `json:"sampler"`
	Acceptance *float64 `json:"acceptance"`
}

type filling struct {
	Text          *string  `json:"text"`
	Score         *float64 `json:"score"`
	ScorePerToken *float64 `json:"score_per_token"`
}

// ReadSentences reads the sentences of a stream and calls each for the ones kept,
// in order. Plain lines are sentences, blank ones included: an empty generation is
// a generation. In JSON lines every filling is a sentence.
func ReadSentences(r io.Reader, name string, o ReadOptions, each func(Sentence) error) (Summary, error) {
	if o.Sample < 0 || o.Top < 0 {
		return Summary{}, fmt.Errorf("%w: sample %d, top %d (want 0 or more)", ErrOption, o.Sample, o.Top)
	}
	rd := &reader{name: name, o: o, each: each}
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
	if err := corpus.Lines(r, name, rd.line); err != nil {
		return rd.sum, err
	}
	if rd.sum.Format == "" {
		// Nothing but blank lines.
		rd.sum.Format, rd.sum.Records, rd.sum.Sentences, rd.sum.Blank = "lines", rd.leading, rd.leading, rd.leading
	}
	if rd.sum.Sentences == rd.sum.Blank {
		return rd.sum, fmt.Errorf("%s: %w: %d records, %d failed, %d blank lines", name, ErrNoSentences, rd.sum.Records, rd.sum.Failed, rd.sum.Blank)
	}
	if rd.sample != nil {
		for _, s := range rd.sample.Items() {
			if err := rd.keep(s); err != nil {
				return rd.sum, err
			}
		}
	}
	if rd.accepted > 0 {
		mean := rd.acceptance / float64(rd.accepted)
		rd.sum.Acceptance = &mean
	}
	return rd.sum, nil
}

type reader struct {
	name       string
	o          ReadOptions
	each       func(Sentence) error
	sum        Summary
	sample     *corpus.Reservoir[Sentence]
	acceptance float64
	accepted   int
	leading    int // blank lines before the format is known
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
	fail := func(what string) error {
		return fmt.Errorf(`%s:%d: %w: %s; want the output of infill fill --json or infill batch, or {"text": …}`, rd.name, n, ErrFormat, what)
	}
	var rec record
	if err := json.Unmarshal([]byte(line), &rec); err != nil {
		return fail(fmt.Sprintf("not a JSON record (%v)", err))
	}
	group := rd.sum.Records
	rd.sum.Records++
	switch {
	case rec.Error != nil:
		rd.sum.Failed++
		return nil
	case rec.Fillings == nil && rec.Text == nil:
		return fail("a JSON object without text or fillings")
	case rec.Fillings == nil && strings.Contains(*rec.Text, "[MASK"):
		return fail("the text has blanks and no fillings; it looks like the input of infill batch")
	case rec.Fillings == nil:
		rec.Fillings = &[]filling{{Text: rec.Text}}
	}
	switch {
	case rec.Sampler == "" || rec.Sampler == rd.sum.Sampler:
	case rd.sum.Sampler == "":
		rd.sum.Sampler = rec.Sampler
	default:
		rd.sum.Sampler = "various"
	}
	if rec.Acceptance != nil {
		rd.acceptance += *rec.Acceptance
		rd.accepted++
	}
	for i, f := range *rec.Fillings {
		if rd.o.Top > 0 && i == rd.o.Top {
			break
		}
		if f.Text == nil {
			return fail(fmt.Sprintf("filling %d has no text", i+1))
		}
		// A newline inside a text is legal JSON; in a set of sentences it is space.
		text := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(*f.Text)
		if strings.TrimSpace(text) == "" {
			rd.sum.Blank++
		}
		if err := rd.offer(Sentence{Text: text, Group: group, Score: f.Score, PerToken: f.ScorePerToken, Gold: rec.Gold}); err != nil {
			return err
		}
	}
	return nil
}

// detect tells the format from the first line that is not blank.
func detect(line string) (string, error) {
	s := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(s, "{"):
		rest := strings.TrimSpace(s[1:])
		if json.Valid([]byte(s)) {
			return "jsonl", nil
		}
		if rest == "" || rest[0] == '"' {
			return "", fmt.Errorf("%w: it looks like JSON spread over several lines; put one record on each line", ErrFormat)
		}
	case strings.HasPrefix(s, "["):
		rest := strings.TrimSpace(s[1:])
		if rest == "" || rest[0] == '{' || rest[0] == '"' || rest[0] == '[' && json.Valid([]byte(s)) {
			return "", fmt.Errorf("%w: it looks like a JSON array; put one record or one sentence on each line", ErrFormat)
		}
	}
	return "lines", nil
}
