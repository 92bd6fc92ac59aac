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
	"infill/internal/textline"
)

// texts are the fillings of a record as lines: the best one, or each where a record has more. A
// record that failed is an empty line, so that lines keep their places.
func (l Layout) texts(r jsonl.Record) string {
	fillings := fillingsOf(r)
	if l.Per == settings.PerSentence {
		fillings = fillings[:min(len(fillings), 1)]
	}
	if l.Format.Labelled() {
		return l.sources(r.By().Source, fillings)
	}
	var b strings.Builder
	if l.Originals {
		b.WriteString(textline.OneLine(r.Of().Text) + "\n")
	}
	for _, f := range fillings {
		b.WriteString(textline.OneLine(f.Text) + "\n")
	}
	if b.Len() == 0 {
		return "\n"
	}
	return b.String()
}

// sources are the fillings of a record with their labels, where the source of its text stood. A
// text without fillings stays as it was.
func (l Layout) sources(s *jsonl.Source, fillings []jsonl.Filling) string {
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

// ofTexts is the sink of lines for a stream.
func (l Layout) ofTexts(name string, w io.WriteCloser) sink {
	return lineSink{name, w, func(record []byte) ([]byte, error) {
		r, err := recordOf(0, record)
		if err != nil {
			return nil, err
		}
		return []byte(l.texts(r)), nil
	}}
}

// makeLines makes lines of the records.
func (o *Writer) makeLines(ctx context.Context, _ *input.Reader) error {
	return o.written(func(w io.Writer) error {
		b := bufio.NewWriter(w)
		err := o.eachRecord(ctx, func(r jsonl.Record) error {
			_, err := b.WriteString(o.layout.texts(r))
			return err
		})
		return errors.Join(err, b.Flush())
	})
}
