package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"infill/infill/jsonl"
)

// recordOf makes a record of the members of a line. A text alone can come from any program and have
// members of any type beside it. It becomes the one filling of its record.
func recordOf(n int, fields []jsonl.Field, textField string) (*jsonl.Filled, error) {
	rec, err := jsonl.Decoder{}.RecordOf(n, fields)
	made := slices.ContainsFunc(fields, func(f jsonl.Field) bool {
		return (f.Name == "fillings" || f.Name == "error") && string(f.Value) != "null"
	})
	if err != nil && made {
		return nil, err
	}
	out, ok := rec.(*jsonl.Filled)
	if !ok { // a text, or a record without fillings
		out = &jsonl.Filled{}
	}
	if err == nil && !ok {
		out.Item, out.Origin = *rec.Of(), *rec.By()
	}
	if made {
		return out, nil
	}
	return plainRecord(fields, textField, out)
}

// plainRecord makes the text among the fields the one filling of the record.
func plainRecord(fields []jsonl.Field, textField string, rec *jsonl.Filled) (*jsonl.Filled, error) {
	var text jsonl.Field
	for _, f := range fields {
		switch {
		case string(f.Value) == "null":
		case f.Name == textField:
			text = f
		case f.Name == "gold" && json.Unmarshal(f.Value, &rec.Gold) != nil:
			return nil, errors.New("gold is not a string")
		}
	}
	rec.Fillings = make([]jsonl.Filling, 1)
	rec.Text = "" // whatever it is there, it is not known to be what the sentence was made from
	switch {
	case text.Value == nil:
		return nil, noText(textField, fields)
	case json.Unmarshal(text.Value, &rec.Fillings[0].Text) != nil:
		return nil, fmt.Errorf("%s is not a string", textField)
	case strings.Contains(rec.Fillings[0].Text, "[MASK"):
		return nil, errors.New("the text has blanks and no fillings; it looks like a text to be filled")
	}
	return rec, nil
}

// noText is the error of an object that has neither fillings nor the field of the text.
func noText(textField string, fields []jsonl.Field) error {
	var names []string
	for _, f := range fields {
		names = append(names, fmt.Sprintf("%q", f.Name))
	}
	has := "it has no fields"
	if len(names) > 0 {
		has = "its fields are " + strings.Join(names[:min(len(names), 12)], ", ")
	}
	return fmt.Errorf("%w: a JSON object without fillings and without the field %q; %s; "+
		"name the one with the sentences", jsonl.ErrNoText, textField, has)
}

// detect finds the format from the first line that is not blank.
func detect(line string) (string, error) {
	s := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(s, "{"):
		rest := strings.TrimSpace(s[1:])
		if json.Valid([]byte(s)) {
			return "jsonl", nil
		}
		if rest == "" || rest[0] == '"' {
			return "", fmt.Errorf("%w: it looks like JSON spread over several lines; "+
				"put one record on each line", ErrFormat)
		}
	case strings.HasPrefix(s, "["):
		rest := strings.TrimSpace(s[1:])
		if rest == "" || rest[0] == '{' || rest[0] == '"' || rest[0] == '[' && json.Valid([]byte(s)) {
			return "", fmt.Errorf("%w: it looks like a JSON array; "+
				"put one record or one sentence on each line", ErrFormat)
		}
	}
	return "lines", nil
}
