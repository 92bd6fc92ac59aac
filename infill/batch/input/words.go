package input

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"infill/infill/jsonl"
	"infill/infill/table"
)

// A wordSource makes texts of records that are words.
type wordSource struct {
	source
	column string
	ahead  *Item // the first word of the next text, nil if it was not read
	done   bool
}

func newWordSource(src source, o Options) (source, error) {
	columns := src.columns()
	if columns == nil && !o.Format.JSON() {
		return nil, errNoSentences
	}
	named := func(c table.Column) bool { return c.Name == o.Sentence }
	if columns != nil && !slices.ContainsFunc(columns, named) {
		var have []string
		for _, c := range columns {
			have = append(have, c.Name)
		}
		return nil, &ColumnError{o.Sentence, have}
	}
	if !o.Shard.Whole() {
		return nil, fmt.Errorf("%w: sentences of one word a line are not cut", ErrShard)
	}
	return &wordSource{source: src, column: o.Sentence}, nil
}

// errNoSentences is the error of words without a column that says where sentences end.
var errNoSentences = fmt.Errorf("%w: lines of text have no column that says which sentence a word "+
	"is of; give a table or JSON lines", table.ErrTable)

// next is a text whose fields are lists: of the values of its words.
func (s *wordSource) next() (Item, error) {
	var words []Item
	for {
		it, err := s.word()
		if err == io.EOF && words != nil {
			break
		}
		if err != nil {
			return Item{}, err
		}
		if words != nil && (it.Err != nil || !bytes.Equal(s.of(&it), s.of(&words[0]))) {
			s.ahead = &it
			break
		}
		words = append(words, it)
		if it.Err != nil {
			break
		}
	}
	return together(words), nil
}

// word is the next record.
func (s *wordSource) word() (Item, error) {
	if it := s.ahead; it != nil {
		s.ahead = nil
		return *it, nil
	}
	if s.done {
		return Item{}, io.EOF
	}
	it, err := s.source.next()
	if errors.Is(err, io.EOF) {
		s.done = true
	}
	it.Stored = nil // of one word only
	return it, err
}

// of is the value that names the sentence of a word, nil for none.
func (s *wordSource) of(it *Item) []byte {
	if s.column == "id" {
		return it.ID
	}
	for _, f := range it.Fields {
		if f.Name == s.column {
			return f.Value
		}
	}
	return nil
}

// together is the text of words.
func together(words []Item) Item {
	out := words[0]
	if out.Err != nil {
		return out
	}
	out.ID, out.Fields = nil, nil
	var texts, names []string
	cells := map[string][]json.RawMessage{} // null for a word without the field
	for n, w := range words {
		texts = append(texts, w.Text)
		if strings.TrimSpace(w.Text) == "" && out.Err == nil {
			out.Err = &jsonl.Error{Line: out.Line, Kind: jsonl.ErrRow, Reason: fmt.Sprintf(
				"word %d of the sentence, on line %d, is empty", n+1, w.Line)}
		}
		if w.ID != nil {
			w.Fields = slices.Insert(slices.Clone(w.Fields), 0, jsonl.Field{Name: "id", Value: w.ID})
		}
		for _, f := range w.Fields {
			if cells[f.Name] == nil {
				names = append(names, f.Name)
				cells[f.Name] = slices.Repeat([]json.RawMessage{json.RawMessage("null")}, len(words))
			}
			cells[f.Name][n] = f.Value
		}
	}
	out.Text, out.Words = jsonl.Joined(texts)
	for _, name := range names {
		list, err := json.Marshal(cells[name])
		out.Fields = append(out.Fields, jsonl.Field{Name: name, Value: list})
		out.Err = cmp.Or(out.Err, err)
	}
	return out
}
