package jsonl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"infill/internal/jsonwords"
)

// An Input is a line that asks for work.
type Input struct {
	// ID is a JSON string or number; nil if the line has none.
	ID json.RawMessage
	// Text is the member "text", or the Decoder's TextField.
	Text string
	// Null says that the text is null.
	Null bool
	// Words are the bytes of the words of a text that is a list of them, nil for others.
	Words [][2]int
	// Fields are the other members, in order.
	Fields []Field
}

// Input reads line n as a line of input: an object with a string "text", or what
// TextField calls it, and maybe an "id", a string or a number; null stands for none.
// Errors are of type [*Error]. What was read before the error is returned with it.
func (d Decoder) Input(n int, line []byte) (Input, error) {
	if d.Depth == 0 {
		d.Depth = 64
	}
	fields, err := d.Object(n, line)
	var in Input
	text := false
	name := cmp.Or(d.TextField, "text")
	for _, f := range fields {
		bad := func(reason string) error { return &Error{n, f.Name, ErrJSON, reason} }
		switch f.Name {
		case name:
			if words := []string(nil); d.Lists && json.Unmarshal(f.Value, &words) == nil && words != nil {
				in.Text, in.Words = Joined(words)
				text = true
				continue
			}
			if string(f.Value) == "null" {
				in.Null, text = true, true
				continue
			}
			if f.Value[0] != '"' || json.Unmarshal(f.Value, &in.Text) != nil {
				return in, bad(name + " is not a string")
			}
			if jsonwords.HalfPair(f.Value) {
				return in, bad(name + " has half of a surrogate pair, which is not a character")
			}
			text = true
		case "id":
			if string(f.Value) == "null" {
				continue // an id that is not there
			}
			if !isID(f.Value) {
				return in, bad("id is neither a string nor a number")
			}
			in.ID = f.Value
		default:
			in.Fields = append(in.Fields, f)
		}
	}
	if err == nil && !text {
		reason := fmt.Sprintf("no field %q", name)
		if len(fields) > 0 {
			var have []string
			for _, f := range fields {
				have = append(have, f.Name)
			}
			reason += "; its fields are " + Names(have)
		}
		err = &Error{n, name, ErrNoText, reason}
	}
	return in, err
}

// Names lists names of fields or columns for a message, twenty at most.
func Names(names []string) string {
	const most = 20
	list, more := names, ""
	if len(list) > most {
		list, more = list[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	var quoted []string
	for _, n := range list {
		quoted = append(quoted, fmt.Sprintf("%.60q", n))
	}
	return strings.Join(quoted, ", ") + more
}

// Joined is a text of words with spaces between, and the bytes of each.
func Joined(words []string) (text string, spans [][2]int) {
	at := 0
	for _, w := range words {
		spans = append(spans, [2]int{at, at + len(w)})
		at += len(w) + 1
	}
	return strings.Join(words, " "), spans
}

// isID says whether a JSON value is a string or a number.
func isID(v json.RawMessage) bool {
	return v[0] == '"' || v[0] == '-' || v[0] >= '0' && v[0] <= '9'
}
