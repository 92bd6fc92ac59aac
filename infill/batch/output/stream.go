package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
)

// A sink takes the records of an output.
type sink interface {
	// write takes a record, which ends in a newline.
	write(record []byte) error
	// finish ends the output. If it is complete, what waits is written too. Otherwise it is left for
	// the run that goes on.
	finish(complete bool) error
}

// A stream makes of each record what its form has.
type stream struct {
	put  func(record []byte) error
	end  func() error // of a complete output
	file io.Closer    // nil for one that stays open
}

func (s *stream) write(record []byte) error { return s.put(record) }

func (s *stream) finish(complete bool) (err error) {
	if complete {
		err = s.end()
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// streamTo makes the form of the output. rows come from a file whose records are there. With nil
// each record is written as it comes.
func (o *Writer) streamTo(w io.Writer, in *input.Reader, rows *rowStream) (*stream, error) {
	form, end := o.layout.form(), func() error { return nil }
	if o.records == nil {
		if err := o.layout.flows(in); err != nil {
			return nil, err
		}
	}
	switch form {
	case asRows:
		if rows == nil {
			rows = o.liveRows(in)
		}
		return rows.begin(w)
	case asArray:
		array := table.NewArrayWriter(w)
		w, end = array, array.Close
	}
	put := func(b []byte) error {
		_, err := w.Write(b)
		if err != nil {
			err = fmt.Errorf("writing %s: %w", o.File(), err)
		}
		return err
	}
	if form != asLines {
		return &stream{put: put, end: end}, nil
	}
	m := &lineMaker{Layout: o.layout}
	return &stream{put: func(record []byte) error {
		r, err := recordOf(0, record)
		if err != nil {
			return err
		}
		return put([]byte(m.add(r)))
	}, end: func() error { return put([]byte(m.rest())) }}, nil
}

// flows is an error for a form that needs a file.
func (l Layout) flows(in *input.Reader) error {
	switch {
	case l.form() == asRecords:
	case !in.Options().Shard.Whole():
		return errRowsOfShard
	case l.form() == asLines:
	case l.Format == settings.FormatParquet, l.Format == settings.FormatJSON:
		return fmt.Errorf("%w: Parquet and arrays of JSON are not written to a stream; name a file",
			ErrLayout)
	case in.Format().JSON() && l.Format.Table():
		return fmt.Errorf("%w: the columns of JSON are known at its end only; name an output file",
			ErrLayout)
	}
	return nil
}

// A rowStream makes rows of records.
type rowStream struct {
	*Writer
	w      io.Writer
	rows   table.Writer // nil where each record has columns of its own
	maker  *rowMaker
	stored *input.Reader // the input, read again for cells as they are stored; nil for none
	own    bool          // each record has columns of its own
}

// liveRows makes rows as soon as there is a record.
func (o *Writer) liveRows(in *input.Reader) *rowStream {
	s := &rowStream{Writer: o, maker: o.layout.newRowMaker(in.Options()), own: in.Format().JSON()}
	if !s.own {
		s.maker.addAll(in, false)
	}
	return s
}

// wholeRows makes rows of records that are all there. The caller closes what is stored.
func (o *Writer) wholeRows(ctx context.Context, in *input.Reader) (s *rowStream, err error) {
	s = &rowStream{Writer: o, maker: o.layout.newRowMaker(in.Options())}
	if o.layout.Format == settings.FormatParquet && in.Format() == settings.FormatParquet {
		if s.stored, err = input.Open(in.Name, nil, in.Options()); err != nil {
			return s, err
		}
	}
	switch {
	case in.Format().JSON():
		err = o.inferColumns(ctx, s.maker)
		o.renamed = s.maker.renamed()
	case s.stored == nil:
		s.maker.addAll(in, false)
	case !in.Unchanged(s.stored):
		err = s.inputChanged()
	default:
		err = o.movedColumns(ctx, s.maker)
		s.maker.addAll(s.stored, true)
	}
	return s, err
}

// inputChanged is the error of an input that was replaced while its records were made.
func (s *rowStream) inputChanged() error {
	return fmt.Errorf("%w: %s changed while it was read; restore it, or begin again", ErrMismatch,
		s.stored.Name)
}

func (s *rowStream) begin(w io.Writer) (_ *stream, err error) {
	if s.w = w; s.own {
		return &stream{put: s.put, end: func() error { return nil }}, nil
	}
	s.rows, err = table.NewWriter(w, s.layout.Format, s.layout.comma(), s.maker.columns())
	if err != nil {
		return nil, err
	}
	return &stream{put: s.put, end: s.rows.Close}, nil
}

// put writes the rows of a record.
func (s *rowStream) put(record []byte) error {
	r, err := recordOf(0, record)
	if err != nil {
		return err
	}
	rows, maker := s.rows, s.maker
	if s.own {
		maker = s.layout.newRowMaker(maker.input)
		for _, f := range maker.inputFields(r) {
			maker.add(f.Name, table.Type{Kind: table.JSON})
		}
		for _, pair := range maker.renamed() {
			if !slices.Contains(s.renamed, pair) {
				s.renamed = append(s.renamed, pair)
			}
		}
		if rows, err = table.NewWriter(s.w, settings.FormatJSONL, 0, maker.columns()); err != nil {
			return err
		}
	}
	item, err := s.itemOf(r)
	if err != nil {
		return err
	}
	list, err := maker.rows(r, item)
	for i := 0; err == nil && i < len(list); i++ {
		err = rows.Write(list[i])
	}
	if err == nil && s.records == nil {
		err = rows.Flush()
	}
	return err
}

// itemOf is the row that a record is of, with its cells as they are stored; nil where nobody needs
// them.
func (s *rowStream) itemOf(r jsonl.Record) (*input.Item, error) {
	if s.stored == nil {
		return nil, nil
	}
	it, err := s.stored.Next()
	if err != nil {
		return nil, err
	}
	of := r.Of()
	if h := (head{text: of.Text, gold: of.Gold}); it.Line != of.Line || !h.of(&it) {
		return nil, s.inputChanged()
	}
	return &it, nil
}
