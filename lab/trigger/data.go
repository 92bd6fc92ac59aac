package trigger

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Example is a text with its label.
type Example struct {
	Text, Label string
	Line        int // of its file, from 1
}

// ErrData marks a file that does not hold labelled texts. Messages name file and line.
var ErrData = errors.New("bad labelled data")

const maxLine = 1 << 20

// Read reads labelled texts: CSV or TSV with a line of names, by the file's name, else JSON lines.
// textField and labelField name the columns or fields. A label is a text, or the JSON of a number
// or truth value. Errors wrap ErrData or come from r.
func Read(r io.Reader, file, textField, labelField string) ([]Example, error) {
	var out []Example
	var err error
	add := func(line int, text, label string) error {
		switch {
		case !utf8.ValidString(text) || !utf8.ValidString(label):
			return fmt.Errorf("%w: %s:%d: it is not UTF-8; save the file as UTF-8", ErrData, file, line)
		case strings.TrimSpace(text) == "" || strings.TrimSpace(label) == "":
			return fmt.Errorf("%w: %s:%d: the text or the label is empty", ErrData, file, line)
		}
		out = append(out, Example{Text: text, Label: label, Line: line})
		return nil
	}
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
		return nil, fmt.Errorf("%w: %s: no labelled text; give JSON lines or CSV", ErrData, file)
	}
	return out, nil
}

func readTable(r io.Reader, file string, comma rune, textField, labelField string,
	add func(line int, text, label string) error) error {
	in := csv.NewReader(r)
	in.Comma = comma
	names, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrData, file, err)
	}
	names[0] = strings.TrimPrefix(names[0], "\ufeff")
	text, label := slices.Index(names, textField), slices.Index(names, labelField)
	if text < 0 || label < 0 {
		return fmt.Errorf("%w: %s: no column %q and %q, but %q; name the right ones", ErrData, file,
			textField, labelField, names)
	}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrData, file, err)
		}
		line, _ := in.FieldPos(0)
		if err := add(line, cells[text], cells[label]); err != nil {
			return err
		}
	}
}

func readJSON(r io.Reader, file, textField, labelField string,
	add func(line int, text, label string) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(in.Text(), "\ufeff"))
		if line == "" {
			continue
		}
		fields := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			return fmt.Errorf("%w: %s:%d: %w", ErrData, file, n, err)
		}
		text, err := field(fields, textField)
		label, lerr := field(fields, labelField)
		if err := errors.Join(err, lerr); err != nil {
			return fmt.Errorf("%w: %s:%d: %w", ErrData, file, n, err)
		}
		if err := add(n, text, label); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrData, file, err)
	}
	return nil
}

// field is a text, or the JSON of another single value.
func field(fields map[string]json.RawMessage, name string) (string, error) {
	raw, ok := fields[name]
	var s string
	switch {
	case !ok:
		return "", fmt.Errorf("no field %q", name)
	case json.Unmarshal(raw, &s) == nil && string(raw) != "null":
		return s, nil
	case strings.ContainsAny(string(raw[:1]), "{[n"):
		return "", fmt.Errorf("the field %q is not a single value", name)
	}
	return string(raw), nil
}
