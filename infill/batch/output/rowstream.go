package output

import (
	"fmt"
	"io"
	"slices"

	"infill/infill/batch/input"
	"infill/infill/settings"
	"infill/infill/table"
)

// A rowStream writes rows as soon as there is a record.
type rowStream struct {
	w     io.Writer
	rows  table.Writer // nil where each record has columns of its own
	maker *rowMaker

	renamed [][2]string // where each record has columns of its own, see Writer.Renamed
}

func newRowStream(w io.Writer, in *input.Reader, l Layout) (*stream, error) {
	s := &rowStream{w: w, maker: l.newRowMaker(in.Options())}
	out := &stream{rows: s, put: s.write, end: func() error { return nil }}
	switch {
	case l.Format == settings.FormatParquet, l.Format == settings.FormatJSON:
		return nil, fmt.Errorf("%w: Parquet and arrays of JSON are not written to a stream; name a "+
			"file", ErrLayout)
	case in.Format().JSON() && l.Format.Table():
		return nil, fmt.Errorf("%w: the columns of JSON are known at its end only; name an output file",
			ErrLayout)
	case in.Format().JSON():
		return out, nil
	}
	s.maker.addAll(in, false)
	var err error
	if s.rows, err = table.NewWriter(w, l.Format, l.comma(), s.maker.columns()); err == nil {
		out.end = s.rows.Close
	}
	return out, err
}

func (s *rowStream) write(record []byte) error {
	r, err := recordOf(0, record)
	if err != nil {
		return err
	}
	rows, maker := s.rows, s.maker
	if rows == nil {
		maker = maker.layout.newRowMaker(maker.input)
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
	if err := maker.write(rows, r, nil); err != nil {
		return err
	}
	return rows.Flush()
}
