// Package read reads generated sentences, plain or from records and tables, references, and texts
// to fill.
package read

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"infill/infill/batch/input"
	"infill/infill/settings"
	"infill/internal/count"
	"infill/internal/textline"
)

// Sentences calls each for the sentences of an input that are kept, in order. Plain lines are
// sentences, blank ones included: an empty generation is a generation. In JSON lines every filling
// is a sentence, and every variant.
func Sentences(in Input, o Options, each func(Sentence) error) (File, error) {
	rd := &reader{file: File{Name: in.Name}, o: o, each: each,
		shown: newReservoir[Sentence](shownExamples, o.Seed)}
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
		rd.sample = newReservoir[Sentence](o.Sample, o.Seed)
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

// stream reads lines, or the elements of an array of JSON: records, or sentences.
func (rd *reader) stream(in Input) error {
	f, err := in.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	r := bufio.NewReaderSize(f, textline.PeekSize)
	head, _ := r.Peek(textline.PeekSize) // an error comes again when reading
	if rd.file.Format != "" || !input.LooksArray(head) {
		return eachLine(r, in.Name, rd.line)
	}
	o := input.Options{Format: settings.FormatJSON, Longest: maxLine}
	rd.file.Format = o.Format.String()
	array, err := input.OpenStream(in.Name, r, o)
	for err == nil {
		var l input.Line
		if l, err = array.NextLine(); err == nil {
			err = rd.element(o.Item(l), l)
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// element takes an element of an array.
func (rd *reader) element(it input.Item, l input.Line) error {
	switch {
	case !l.TooLong && (len(l.Text) == 0 || l.Text[0] != '"'):
		return rd.json(l.Number, string(l.Text))
	case it.Err != nil:
		return fmt.Errorf("%s:%d: %w: %w", rd.file.Name, l.Number, ErrFormat, it.Err)
	}
	return rd.plain(textline.OneLine(it.Text))
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
		for _, x := range rd.sample.items() {
			if err := rd.keep(x); err != nil {
				return err
			}
		}
	}
	f.Examples = rd.shown.items()
	return nil
}
