package trigger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"infill/infill/jsonl"
	"infill/infill/table"
	"infill/internal/jsonwords"
	"infill/internal/textline"
)

// An Example is a text with its label.
type Example struct {
	Text, Label string
	Line        int // of its file, from 1
}

// ErrData marks a file that does not hold labelled texts. Such errors are a *DataError.
var ErrData = errors.New("bad labelled data")

// A DataError says what is wrong with a line of a file.
type DataError struct {
	File string
	Line int // 0: the file as a whole
	What string
	// Names says that there is no column or field of the given name, so the right name helps.
	Names bool
}

// Error says what is wrong and what helps.
func (e *DataError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.What)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.What)
}

// Is makes errors.Is(err, ErrData) true.
func (e *DataError) Is(target error) bool { return target == ErrData }

// Bounds of a file.
const (
	maxLine     = 1 << 20
	maxExamples = 1_000_000
)

// Read reads labelled texts: CSV or TSV with a line of names, by the file's name, else JSON
// lines. textField and labelField name the columns or fields. A label is a text, or the JSON of
// a number or truth value. A name that a table or a line has twice is an error, as nobody can say
// which of the two is meant. Errors are a *DataError or those of r.
func Read(r io.Reader, file, textField, labelField string) ([]Example, error) {
	var out []Example
	add := func(line int, text, label string) error {
		bad := ""
		switch {
		case !utf8.ValidString(text):
			bad = "the text is not UTF-8; save the file as UTF-8"
		case !utf8.ValidString(label):
			bad = "the label is not UTF-8; save the file as UTF-8"
		case strings.TrimSpace(text) == "":
			bad = "the text is empty"
		case strings.TrimSpace(label) == "":
			bad = "the label is empty"
		case len(out) == maxExamples:
			bad = fmt.Sprintf("more than %d texts", maxExamples)
		}
		if bad != "" {
			return &DataError{File: file, Line: line, What: bad}
		}
		out = append(out, Example{Text: text, Label: label, Line: line})
		return nil
	}
	if textField == labelField {
		return nil, &DataError{File: file, Names: true, What: fmt.Sprintf(
			"the texts and the labels cannot both be in %q; name two fields", textField)}
	}
	var err error
	switch strings.ToLower(filepath.Ext(file)) {
	case ".csv":
		err = readTable(r, file, ',', textField, labelField, add)
	case ".tsv":
		err = readTable(r, file, '\t', textField, labelField, add)
	default:
		err = readJSON(r, file, textField, labelField, add)
	}
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, &DataError{File: file, What: "no labelled text; give JSON lines or CSV"}
	}
	return out, nil
}

func readTable(r io.Reader, file string, comma byte, textField, labelField string,
	add func(line int, text, label string) error) error {
	c, err := table.NewCSV(r, comma, maxLine)
	if err != nil {
		return &DataError{File: file, What: err.Error()}
	}
	text, label, width := -1, -1, 0
	for {
		cells, err := c.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &DataError{File: file, Line: c.Line(), What: err.Error()}
		case width == 0:
			width = len(cells)
			at := map[string]int{}
			for i, name := range cells {
				if first, twice := at[name]; twice {
					return &DataError{File: file, Line: c.Line(), What: fmt.Sprintf(
						"columns %d and %d are both called %q; rename one of them", first+1, i+1, name)}
				}
				at[name] = i
				switch name {
				case textField:
					text = i
				case labelField:
					label = i
				}
			}
			var missing []string
			if text < 0 {
				missing = append(missing, fmt.Sprintf("no column %q of texts", textField))
			}
			if label < 0 {
				missing = append(missing, fmt.Sprintf("no column %q of labels", labelField))
			}
			if len(missing) > 0 {
				return &DataError{File: file, Line: c.Line(), Names: true, What: fmt.Sprintf(
					"%s, but %q; name the right one", strings.Join(missing, " and "), cells)}
			}
		case len(cells) != width:
			return &DataError{File: file, Line: c.Line(),
				What: fmt.Sprintf("%d cells, the first line has %d", len(cells), width)}
		default:
			if err := add(c.Line(), cells[text], cells[label]); err != nil {
				return err
			}
		}
	}
}

func readJSON(r io.Reader, file, textField, labelField string,
	add func(line int, text, label string) error) error {
	lines := textline.NewReader(r, maxLine)
	for n := 1; ; n++ {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &DataError{File: file, Line: n, What: err.Error()}
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		bad := func(what string) error { return &DataError{File: file, Line: n, What: what} }
		if bytes.TrimSpace(line)[0] != '{' {
			return bad(fmt.Sprintf(`not a JSON object; want one such as {%q: "…", %q: "…"}`, textField,
				labelField))
		}
		members, err := jsonl.Decoder{}.Object(n, line)
		if err != nil {
			return bad(err.Error())
		}
		fields := map[string]json.RawMessage{}
		for _, m := range members {
			fields[m.Name] = m.Value
		}
		text, err := field(fields, textField)
		if err == nil && fields[textField][0] != '"' {
			err = fmt.Errorf("the field %q is not a text", textField)
		}
		label, lerr := field(fields, labelField)
		if err := errors.Join(err, lerr); err != nil {
			missing := fields[textField] == nil || fields[labelField] == nil
			return &DataError{File: file, Line: n, Names: missing,
				What: strings.ReplaceAll(err.Error(), "\n", ", ")}
		}
		if err := add(n, text, label); err != nil {
			return err
		}
	}
}

// field is a text, or the JSON of another single value.
func field(fields map[string]json.RawMessage, name string) (string, error) {
	raw, ok := fields[name]
	if !ok {
		return "", fmt.Errorf("no field %q", name)
	}
	if jsonwords.HalfPair(raw) {
		return "", fmt.Errorf("the field %q has half of a surrogate pair, which is not a character",
			name)
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && string(raw) != "null" {
		return s, nil
	}
	if strings.ContainsAny(string(raw[:1]), "{[n") {
		return "", fmt.Errorf("the field %q is not a single value", name)
	}
	return string(raw), nil
}
