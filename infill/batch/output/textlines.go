package output

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
)

// texts are the fillings of a record as lines: the best one, or each where a record has more. A
// record that failed is an empty line, so that lines keep their places.
func (l Layout) texts(r *jsonl.Record) string {
	fillings := r.Fillings
	if l.Per == settings.PerSentence {
		fillings = fillings[:min(len(fillings), 1)]
	}
	if l.Format.Labelled() {
		return l.sources(r, fillings)
	}
	var b strings.Builder
	if l.Originals {
		b.WriteString(oneLine.Replace(r.Text) + "\n")
	}
	for _, f := range fillings {
		b.WriteString(oneLine.Replace(f.Text) + "\n")
	}
	if b.Len() == 0 {
		return "\n"
	}
	return b.String()
}

// sources are the fillings of a record with their labels, where the source of its text stood. A
// text without fillings stays as it was.
func (l Layout) sources(r *jsonl.Record, fillings []jsonl.Filling) string {
	s := r.Source
	if s == nil {
		return ""
	}
	var bodies []string
	if l.Originals || len(fillings) == 0 {
		bodies = append(bodies, s.Body)
	}
	for _, f := range fillings {
		bodies = append(bodies, f.Labelled)
	}
	return s.Before + strings.Join(bodies, s.Between) + s.After
}

// oneLine makes one line of a text.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// makeLines makes lines of the records.
func (o *Writer) makeLines(ctx context.Context, _ *input.Reader) error {
	return o.written(func(w io.Writer) error {
		b := bufio.NewWriter(w)
		err := o.eachRecord(ctx, func(r *jsonl.Record) error {
			_, err := b.WriteString(o.layout.texts(r))
			return err
		})
		return errors.Join(err, b.Flush())
	})
}

// A lineSink writes lines as records come.
type lineSink struct {
	w io.Writer
	l Layout
}

func (s lineSink) write(record []byte) error {
	r, err := recordOf(0, record)
	if err == nil {
		_, err = io.WriteString(s.w, s.l.texts(r))
	}
	return err
}

func (lineSink) finish(bool) error { return nil }
