package input

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"

	"infill/infill/jsonl"
	"infill/infill/table"
)

// parquetSource reads Parquet, whose cells have types.
type parquetSource struct {
	r        *table.Parquet
	text, id int
	row      int
}

// looksParquet reports whether a file begins as Parquet does.
func looksParquet(f *os.File, info os.FileInfo) bool {
	if info == nil || !info.Mode().IsRegular() {
		return false
	}
	magic := make([]byte, 4)
	_, err := f.ReadAt(magic, 0)
	return err == nil && string(magic) == "PAR1"
}

// newParquetSource reads a file; info is nil for a stream.
func newParquetSource(f *os.File, info os.FileInfo, o Options) (*parquetSource, error) {
	if info == nil || !info.Mode().IsRegular() {
		return nil, &table.Error{Reason: "a Parquet file is read from its end, which a stream does not " +
			"allow; name a file"}
	}
	r, err := table.NewParquet(f, info.Size())
	if err != nil {
		return nil, err
	}
	if r.Rows() > math.MaxInt32 {
		return nil, &table.Error{Reason: fmt.Sprintf("it has %d rows, at most %d are read; split it",
			r.Rows(), math.MaxInt32)}
	}
	s := &parquetSource{r: r}
	var names []string
	for _, c := range r.Columns() {
		names = append(names, c.Name)
	}
	if o.TextField == "text" && !slices.Contains(names, "text") && slices.Contains(names, "tokens") {
		o.TextField = "tokens" // as Hugging Face's data sets have it
	}
	s.text, s.id, err = place(names, o.TextField)
	return s, err
}

// skip passes over n records, before the first one is read.
func (s *parquetSource) skip(n int) error {
	s.row += n
	return s.r.Skip(n)
}

func (s *parquetSource) next() (Item, error) {
	cells, err := s.r.Next()
	if err != nil {
		return Item{}, err
	}
	s.row++
	columns := s.r.Columns()
	it := Item{Line: s.row, TextField: columns[s.text].Name, Columns: true, Stored: cells}
	for i, c := range columns {
		v, err := s.r.JSON(i, cells[i])
		if err != nil {
			return Item{}, err
		}
		switch {
		case i == s.text && string(v) == "null":
			it.Left = "null"
		case i == s.text:
			var words []string
			if json.Unmarshal(v, &words) == nil {
				it.Text, it.Words = jsonl.Joined(words)
			} else if json.Unmarshal(v, &it.Text) != nil {
				it.Text = string(v)
				it.Err = &jsonl.Error{Line: it.Line, Kind: jsonl.ErrRow,
					Reason: fmt.Sprintf("column %q has something else than texts", c.Name)}
			}
		case i == s.id && (v[0] == '"' || v[0] == '-' || v[0] >= '0' && v[0] <= '9'):
			it.ID = v
		case i == s.id && string(v) == "null":
		default:
			it.Fields = append(it.Fields, jsonl.Field{Name: c.Name, Value: v})
		}
	}
	return it, nil
}
