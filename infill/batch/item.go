package batch

import (
	"encoding/json"
	"fmt"

	"infill/infill/jsonl"
)

// An Item is a record of the input.
type Item struct {
	Line int             // number of its line, from 1
	ID   json.RawMessage // a JSON string or number; nil if the record has none
	// Text is the text of the line; of a JSON line without one, the line itself.
	Text   string
	Fields []jsonl.Field // members other than id and text, in order
	// Err is of type *jsonl.Error: this line cannot be read, the others can.
	Err error
}

// Key names a record among others of the same input: its id, or else the
// number of its line. Random streams are derived from it.
func (it *Item) Key() string {
	if it.ID == nil {
		return fmt.Sprint(it.Line)
	}
	return "id\x00" + string(it.ID)
}

// parse reads a JSON line.
func (it *Item) parse(b []byte) (err error) {
	var in jsonl.Input
	in, err = jsonl.Decoder{}.Input(it.Line, b)
	it.ID, it.Text, it.Fields = in.ID, in.Text, in.Fields
	if err != nil && it.Text == "" {
		it.Text = string(b)
	}
	return err
}
