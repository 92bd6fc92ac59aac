package report

import (
	"cmp"
	"fmt"

	"infill/internal/count"
	"infill/metrics/corpus"
)

// readSentences calls each for the sentences of an input that are kept, in order. Plain lines are
// sentences, blank ones included: an empty generation is a generation. In JSON lines every filling
// is a sentence, and every variant. Unless one is nil, a record without exactly one sentence is
// refused.
func readSentences(in Input, o ReadOptions, one *pairs, each func(sentence) error) (
	summary, error) {
	if o.Sample < 0 || o.Top < 0 {
		return summary{}, fmt.Errorf("%w: sample %d, top %d (want 0 or more)", ErrOption, o.Sample, o.Top)
	}
	rd := &reader{name: in.Name, o: o, each: each, pairs: one}
	rd.o.TextField = cmp.Or(o.TextField, "text")
	switch o.Format {
	case "", "auto":
	case "lines", "jsonl":
		rd.sum.Format = o.Format
	default:
		return summary{}, fmt.Errorf("%w: format %q (known: auto, lines, jsonl)", ErrOption, o.Format)
	}
	if o.Sample > 0 {
		rd.sample = corpus.NewReservoir[sentence](o.Sample, o.Seed)
	}
	var err error
	if in.table != "" {
		err = rd.table(in.table, o.TextField)
	} else {
		err = rd.stream(in)
	}
	if err != nil {
		return rd.sum, err
	}
	return rd.finish()
}

// finish hands out the sample and completes the summary.
func (rd *reader) finish() (summary, error) {
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
