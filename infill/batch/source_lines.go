package batch

import (
	"errors"
	"fmt"
	"io"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
)

// lineSource reads lines of text and JSON lines.
type lineSource struct {
	r       *textline.Reader
	options InputOptions
}

func (s *lineSource) columns() []table.Column { return nil }

func (s *lineSource) next() (Item, error) {
	for {
		b, err := s.r.Next()
		it := Item{Line: s.r.Number()}
		switch {
		case errors.Is(err, textline.ErrTooLong):
			it.Err = &jsonl.Error{Line: it.Line, Kind: jsonl.ErrLineTooLong,
				Reason: fmt.Sprintf("more than %d bytes", jsonl.MaxInput)}
		case err == io.EOF:
			return Item{}, err
		case err != nil:
			return Item{}, fmt.Errorf("after line %d: %w", it.Line, err)
		case isEmpty(b):
			continue
		case s.options.Format == settings.FormatJSONL:
			it.Err = it.parse(s.options.TextField, b)
		default:
			it.Text = string(b)
		}
		return it, nil
	}
}
