package input

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
	"infill/tokenize"
)

// csvSource reads CSV and TSV, whose first row has the names of the columns, or is data.
type csvSource struct {
	r        *table.CSV
	names    []string
	text, id int
	first    []string // the first row if it is data that were not read yet, else nil
}

func newCSVSource(r io.Reader, o Options) (out source, err error) {
	c, err := table.NewCSV(r)
	if err != nil {
		return out, err
	}
	c.Limit = jsonl.MaxInput
	if o.Delimiter != "" {
		c.Comma = o.Delimiter[0]
	}
	if o.Format == settings.FormatTSV {
		c.Comma, c.Quotes = '\t', o.Quote
	}
	names, err := c.Next()
	var bad *table.RowError
	switch {
	case err == io.EOF:
		return out, &table.Error{Reason: "it is empty; its first row has to name the columns"}
	case errors.As(err, &bad):
		return out, &table.Error{Row: c.Line(), Reason: "the row that names the columns: " + bad.Reason}
	case err != nil:
		return out, err
	}
	for i, n := range names {
		if !utf8.ValidString(n) {
			return out, &table.Error{Row: c.Line(), Reason: fmt.Sprintf(
				"the name of column %d is not UTF-8; %s", i+1, textline.NotUTF8(n))}
		}
	}
	s := &csvSource{r: c, names: names}
	if o.NoHeader {
		s.first, s.names = names, nil
		for i := range names {
			s.names = append(s.names, strconv.Itoa(i+1))
		}
	}
	s.text, s.id, err = place(s.names, o.TextField)
	var missing *ColumnError
	if errors.As(err, &missing) {
		missing.Texts = 1 + slices.IndexFunc(s.names, func(n string) bool {
			return len(strings.Fields(n)) > mostNameWords || utf8.RuneCountInString(n) > mostName
		})
	}
	for _, n := range s.names {
		out.columns = append(out.columns, table.Column{Name: n})
	}
	out.next = s.next
	return out, err
}

// The words and the characters of the longest names of columns that are taken for names.
const mostNameWords, mostName = 3, 40

func (s *csvSource) next() (Item, error) {
	cells, err := s.first, error(nil)
	if s.first = nil; cells == nil {
		cells, err = s.r.Next()
	}
	it := Item{Line: s.r.Line(), TextField: s.names[s.text], Columns: true}
	bad := func(kind error, format string, args ...any) error {
		return &jsonl.Error{Line: it.Line, Kind: kind, Reason: fmt.Sprintf(format, args...)}
	}
	var row *table.RowError
	switch {
	case errors.As(err, &row) && row.TooLong:
		it.Err = bad(jsonl.ErrLineTooLong, "%s", row.Reason)
	case errors.As(err, &row):
		it.Text, it.Err = row.Raw, bad(jsonl.ErrRow, "%s", row.Reason)
	case err != nil:
		return Item{}, err
	case len(cells) != len(s.names):
		it.Text = s.r.Raw()
		remedy := "quote cells that contain the separator"
		if !s.r.Quotes {
			remedy = "a cell of this form holds no tab; say that cells are quoted, or save it as .csv"
		}
		it.Err = bad(jsonl.ErrRow, "it has %d cells, the first row has %d; %s", len(cells),
			len(s.names), remedy)
	default:
		for i, cell := range cells {
			if !utf8.ValidString(cell) {
				it.Err = bad(tokenize.ErrInvalidUTF8, "column %q; %s", s.names[i], textline.NotUTF8(cell))
			}
			v := jsonl.Quote(cell)
			switch {
			case i == s.text:
				it.Text = cell
			case i == s.id && cell != "":
				it.ID = v
			default:
				it.Fields = append(it.Fields, jsonl.Field{Name: s.names[i], Value: v})
			}
		}
	}
	return it, nil
}
