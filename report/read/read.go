// Package read reads generated sentences, plain or from records and tables, references, and texts
// to fill.
package read

import (
	"cmp"
	"fmt"

	"infill/internal/count"
	"infill/metrics/corpus"
)

// Sentences calls each for the sentences of an input that are kept, in order. Plain lines are
// sentences, blank ones included: an empty generation is a generation. In JSON lines every filling
// is a sentence, and every variant.
func Sentences(in Input, o Options, each func(Sentence) error) (File, error) {
	rd := &reader{file: File{Name: in.Name}, o: o, each: each}
	if o.Sample < 0 || o.Top < 0 {
		return rd.file, fmt.Errorf("%w: sample %d, top %d (want 0 or more)", ErrOption, o.Sample, o.Top)
	}
	if o.Paired {
		rd.pairs = &pairs{name: in.Name}
	}
	rd.o.TextField = cmp.Or(o.TextField, "text")
	switch o.Format {
	case "", "auto":
	case "lines", "jsonl":
		rd.file.Format = o.Format
	default:
		return rd.file, fmt.Errorf("%w: format %q (known: auto, lines, jsonl)", ErrOption, o.Format)
	}
	if o.Sample > 0 {
		rd.sample = corpus.NewReservoir[Sentence](o.Sample, o.Seed)
	}
	var err error
	if in.table != "" && rd.file.Format == "" {
		err = rd.table(in.table, o.TextField)
	} else {
		err = rd.stream(in)
	}
	if err == nil {
		err = rd.finish()
	}
	return rd.file, err
}

// finish hands out the sample and completes what is said of the file.
func (rd *reader) finish() error {
	if err := rd.pairs.end(); err != nil {
		return err
	}
	f := &rd.file
	if f.Format == "" {
		// Nothing but blank lines.
		f.Format, f.Records, f.Seen, f.Blank = "lines", rd.leading, rd.leading, rd.leading
	}
	if f.Seen == f.Blank {
		return fmt.Errorf("%s: %w: %s, %d failed, %s", f.Name, ErrNoSentences,
			count.Of(f.Records, "record"), f.Failed, count.Of(f.Blank, "blank line"))
	}
	if rd.sample != nil {
		for _, x := range rd.sample.Items() {
			if err := rd.keep(x); err != nil {
				return err
			}
		}
	}
	return nil
}
