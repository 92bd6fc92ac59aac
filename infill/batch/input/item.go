package input

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"infill/infill/jsonl"
	"infill/infill/text"
	"infill/internal/jsonwords"
)

// An Item is a record of the input.
type Item struct {
	// Line is the number of its line, or of its row in a Parquet file, or of its element in an array
	// of JSON, from 1.
	Line int
	ID   json.RawMessage // a JSON string or number; nil if the record has none
	// Text is the text of the line; of a JSON line without one, the line itself. TextField is the
	// member or column that has it, "" for lines of text.
	Text      string
	TextField string
	// Left says why there is nothing to do: the text is "null" or "empty". It is "" for others.
	Left string
	// Words are the bytes of the words of a text that came cut into words, nil for others.
	Words  [][2]int
	Doubts []text.Doubt  // about words that were made a sentence
	Fields []jsonl.Field // members or columns other than id and text, in order
	// Columns says that the record is a row of a table. Its fields are then data,
	// and none of them is a setting.
	Columns bool
	// Whole says that the record keeps all fields. It otherwise leaves out the settings
	// that it repeats.
	Whole bool
	// Source is the part of the file that the text is put into again, and At where in its JSON the
	// text lies. They are nil for others, and At in columns.
	Source *jsonl.Source
	At     *jsonl.Place
	// Rows are the lines of a source that has a token and its tag a line, nil for others. WordTags
	// says that these are tags of words, not of names.
	Rows     []Row
	WordTags bool
	// Err is of type *jsonl.Error: this line cannot be read, the others can.
	Err error

	// Stored are the cells of a typed row as they are stored, valid until the next item; nil for
	// others.
	Stored []any
}

// Key names a record among others of the same input: its id, or else the
// number of its line. Random streams are derived from it.
func (it *Item) Key() string {
	key := fmt.Sprint(it.Line)
	if it.ID != nil {
		key = "id\x00" + string(it.ID)
	}
	if it.At != nil && strings.Contains(it.At.Path, "[") { // there may be others
		key += "\x00" + it.At.Path
	}
	return key
}

// WordList is a list of JSON with the words of a text that came cut into words.
func (it *Item) WordList() json.RawMessage {
	var words []string
	for _, w := range it.Words {
		words = append(words, it.Text[w[0]:w[1]])
	}
	list, _ := json.Marshal(words) // texts have JSON
	return list
}

// Choices are the fields of a JSON line, which may be settings, by name. The columns of a table are
// data, so there are none.
func (it *Item) Choices() iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for _, f := range it.Fields {
			if it.Columns || !yield(f.Name, f.Value) {
				return
			}
		}
	}
}

// parseText reads a text of JSON.
func (it *Item) parseText(b []byte) error {
	switch err := json.Unmarshal(b, &it.Text); {
	case err != nil:
		it.Text = string(b)
		return &jsonl.Error{Line: it.Line, Kind: jsonl.ErrJSON, Reason: err.Error()}
	case jsonwords.HalfPair(b):
		return &jsonl.Error{Line: it.Line, Kind: jsonl.ErrJSON,
			Reason: "it has half of a surrogate pair, which is not a character"}
	}
	return nil
}

// parse reads a JSON line.
func (it *Item) parse(o Options, b []byte) error {
	it.TextField = cmp.Or(o.TextField, "text")
	in, err := jsonl.Decoder{TextField: it.TextField, Lists: o.Lists}.Input(it.Line, b)
	it.ID, it.Text, it.Words, it.Fields = in.ID, in.Text, in.Words, in.Fields
	if in.Null {
		it.Left = "null"
	} else if err != nil && it.Text == "" {
		it.Text = string(b)
	}
	return err
}

// leave marks a text that is null or empty as one to leave. Where onNull is "error", a null is an
// error here, and an empty text gets its error later.
func (it *Item) leave(onNull string) {
	switch {
	case it.Err != nil:
	case onNull == "error" && it.Left == "null":
		it.Left, it.Err = "", &jsonl.Error{Line: it.Line, Kind: jsonl.ErrNoText,
			Reason: "the text is null"}
	case onNull == "error":
		it.Left = ""
	case it.Left == "" && strings.TrimSpace(it.Text) == "":
		it.Left = "empty"
	}
}
