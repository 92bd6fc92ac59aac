package read

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/internal/count"
	"infill/internal/textline"
)

// Options say how sentences are read from a file.
type Options struct {
	// Format is "auto" (default), "lines" or "jsonl".
	Format string
	// Top keeps the first fillings of each JSON record, best first; 0 keeps all.
	Top int
	// TextField is the member of a JSON line that has its sentence, where it has no fillings; "" is
	// "text".
	TextField string
	// Sample keeps a uniform sample of this many sentences, drawn with Seed; 0 keeps all.
	Sample int
	Seed   uint64
	// Paired refuses a record without exactly one sentence, by a [PairedError].
	Paired bool
}

// A Sentence is one generated sentence.
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
	// Spans are the bytes of the filled words, nil where unknown, and Label is the text's label by
	// [jsonl.LabelNames], "" for none.
	Spans [][2]int
	Label string
}

// various stands for what differs from record to record.
const various = "various"

// A File says what a file of sentences held.
type File struct {
	Name string `json:"name"`
	// Format is "lines", "jsonl", "json" for an array, or that of a table.
	Format string `json:"format"`
	// Records counts lines, or records. Failed are those with an error in place of fillings, Blank
	// the sentences without a word.
	Records int `json:"-"`
	// Seen is how many sentences there were, N how many of them are in the sample, or all.
	Seen   int `json:"sentences_seen"`
	N      int `json:"n"`
	Blank  int `json:"blank"`
	Failed int `json:"failed"`
	// Sampler is the records' sampler, "various" when they differ, "" when unnamed.
	Sampler string `json:"sampler,omitempty"`
	// Scoring is what the scores of the records are, see jsonl.Filled, "various" when they differ, ""
	// without scores.
	Scoring string `json:"-"`
	// Models are the sums of those that filled the records, as far as these say it.
	Models []string `json:"-"`
	// Warnings are added by whoever measures the sentences.
	Warnings []string `json:"warnings,omitempty"`
	// Probabilities come from the first records of the file that have any, three at most.
	Probabilities []Probabilities `json:"probabilities,omitempty"`
	// Examples are some of the sentences, drawn with the seed.
	Examples []Sentence `json:"-"`
}

// String is how many sentences count, and the format.
func (f File) String() string {
	return fmt.Sprintf("%s sentences (%s)", count.Thousands(f.N), f.Format)
}

// drawnRecords is how many records have their probabilities drawn: the first of a file.
const drawnRecords = 3

// shownExamples is how many sentences are the examples of a file.
const shownExamples = 10

// Probabilities are the probabilities of a text's fillings and of the words in its blanks, as its
// record has them.
type Probabilities struct {
	Text      string            `json:"text"`
	Marginals *infill.Marginals `json:"marginals"`
}

// reader reads one file.
type reader struct {
	o       Options
	each    func(Sentence) error
	file    File
	sample  *reservoir[Sentence]
	shown   *reservoir[Sentence]
	label   string // of the last record
	leading int    // blank lines before the format is known
	row     *row   // the line before, if it was the row of a sentence
	rank    int    // of its sentence among those of its record
	pairs   *pairs // paired mode only
}

func (rd *reader) keep(s Sentence) error {
	rd.file.N++
	rd.shown.add(s)
	return rd.each(s)
}

func (rd *reader) offer(s Sentence) error {
	rd.file.Seen++
	if rd.sample != nil {
		rd.sample.add(s)
		return nil
	}
	return rd.keep(s)
}

func (rd *reader) line(n int, line string) error {
	blank := strings.TrimSpace(line) == ""
	if rd.file.Format == "" {
		if blank {
			rd.leading++
			return nil
		}
		format, err := detect(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", rd.file.Name, n, err)
		}
		rd.file.Format = format
		if format == "lines" {
			for range rd.leading {
				if err := rd.plain(""); err != nil {
					return err
				}
			}
		}
	}
	if rd.file.Format == "lines" {
		return rd.plain(line)
	}
	if blank {
		return nil
	}
	return rd.json(n, line)
}

func (rd *reader) plain(line string) error {
	group := rd.file.Records
	rd.file.Records++
	if strings.TrimSpace(line) == "" {
		rd.file.Blank++
	}
	return rd.offer(Sentence{Text: line, Group: group})
}

func (rd *reader) json(n int, line string) error {
	fields, err := jsonl.Decoder{}.Object(n, []byte(line))
	if err != nil {
		return fmt.Errorf("%s:%d: %w: %w", rd.file.Name, n, ErrFormat, err)
	}
	_, rd.label = jsonl.Label(fields, jsonl.LabelNames()...)
	if mayBeRow(fields) {
		if r, _ := rowOf(fields, rd.o.TextField, false); r != nil { // of other members it is none
			return rd.take(&r.Filled, r)
		}
	}
	rec, err := recordOf(n, fields, rd.o.TextField)
	switch {
	case errors.Is(err, jsonl.ErrNoText):
		return fmt.Errorf("%s:%d: %w", rd.file.Name, n, err)
	case err != nil:
		return fmt.Errorf("%s:%d: %w: %w", rd.file.Name, n, ErrFormat, err)
	}
	return rd.take(rec, nil)
}

// take takes a record. Its row is nil if it is not made of rows: those one after the other that
// have the same line are of one record.
func (rd *reader) take(rec *jsonl.Filled, of *row) error {
	var line *int
	if of != nil {
		line = &rec.Line
	}
	if err := rd.pairs.begin(line); err != nil || of != nil && of.original {
		return err
	}
	if of != nil && rd.row != nil && rd.row.Line == rec.Line && len(rec.Fillings) > 0 {
		rd.rank++
		return rd.generated(&rec.Fillings[0], rd.rank, rec)
	}
	rd.row, rd.rank = of, 0
	return rd.record(rec)
}

// record takes the sentences of a new record.
func (rd *reader) record(rec *jsonl.Filled) error {
	f := &rd.file
	f.Records++
	if rec.Error != nil {
		f.Failed++
		return rd.pairs.failed(rec.Error)
	}
	f.Sampler = same(f.Sampler, rec.Sampler)
	if rec.Model != "" && !slices.Contains(f.Models, rec.Model) {
		f.Models = append(f.Models, rec.Model)
	}
	if len(rec.Fillings) > 0 && rec.Fillings[0].Score != nil {
		f.Scoring = same(f.Scoring, cmp.Or(rec.Scoring, infill.ScorePLL.String()))
	}
	if rec.Marginals != nil && len(f.Probabilities) < drawnRecords {
		f.Probabilities = append(f.Probabilities, Probabilities{rec.Text, rec.Marginals})
	}
	for i := range rec.Fillings {
		if err := rd.generated(&rec.Fillings[i], i, rec); err != nil {
			return err
		}
	}
	return nil
}

// same is what all records say that say something: "various" if one differs from those before.
func same(before, now string) string {
	if now == "" || before == "" || before == now {
		return cmp.Or(before, now)
	}
	return various
}

// generated takes a filling of the last record, whose place among them is i.
func (rd *reader) generated(f *jsonl.Filling, i int, of *jsonl.Filled) error {
	if rd.o.Top > 0 && i >= rd.o.Top {
		return nil
	}
	rd.pairs.sentence()
	text := textline.OneLine(f.Text)
	if strings.TrimSpace(text) == "" {
		rd.file.Blank++
	}
	return rd.offer(Sentence{Text: text, Group: rd.file.Records - 1, Score: f.Score, Label: rd.label,
		PerToken: f.ScorePerToken, Gold: of.Gold, Blanked: of.Text, Spans: spansIn(text, f.Spans)})
}

// spansIn are the spans of a text, nil unless each follows the one before and ends in the text.
func spansIn(text string, spans []jsonl.Span) (out [][2]int) {
	at := 0
	for _, s := range spans {
		if s[0] < at || s[1] < s[0] || s[1] > len(text) {
			return nil
		}
		at = s[1]
		out = append(out, [2]int(s))
	}
	return out
}

// reservoir draws a uniform sample without replacement from a stream of unknown
// length in one pass (Vitter's algorithm R) and returns it in stream order. The
// same size, seed and stream give the same sample.
type reservoir[T any] struct {
	size int // at least 1
	rng  *rand.Rand
	seen int
	kept []reserved[T]
}

type reserved[T any] struct {
	at   int
	item T
}

func newReservoir[T any](size int, seed uint64) *reservoir[T] {
	return &reservoir[T]{size: size, rng: rand.New(rand.NewPCG(seed, 0x5a3c1e0f96d2b487))}
}

// add offers the next item of the stream.
func (r *reservoir[T]) add(item T) {
	at := r.seen
	r.seen++
	if len(r.kept) < r.size {
		r.kept = append(r.kept, reserved[T]{at, item})
	} else if k := r.rng.IntN(r.seen); k < r.size {
		r.kept[k] = reserved[T]{at, item}
	}
}

// items are the sample in the order of the stream.
func (r *reservoir[T]) items() []T {
	slices.SortFunc(r.kept, func(a, b reserved[T]) int { return a.at - b.at })
	out := make([]T, len(r.kept))
	for i, k := range r.kept {
		out[i] = k.item
	}
	return out
}
