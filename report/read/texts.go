package read

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
)

// Source is one sentence that is to be infilled.
type Source struct {
	ID string
	// Text is the sentence with its blanks as the user wrote it.
	Text string
	// Gold is the sentence before it was masked, "" when unknown. Gold sentences
	// are left out of the references and give the plane's reference line.
	Gold string
}

// Sources reads the sentences to infill, of a file or, for "-", of stdin: one text per line, JSON
// lines, an array of JSON or a table with text and, if known, gold and id. Blank lines are skipped.
// Gzip and zstd data are decompressed. A number as an id keeps its spelling. An array may be a
// DISCS task, with sentence and gt_sentence in place of text and gold; the number of blanks must
// then agree with its infill_pos. Errors come from [input.Open], or are [ErrFormat] or
// [ErrNoSentences].
func Sources(path string, stdin io.Reader) ([]Source, error) {
	in, err := input.Open(path, stdin, input.Options{})
	var lines *input.NotLinesError
	if errors.As(err, &lines) && lines.Text { // no format can be named here
		return nil, fmt.Errorf("%s: %w: %s", path, ErrFormat, lines.What)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read
	var out []Source
	for {
		it, err := in.Next()
		switch {
		case err == io.EOF && len(out) == 0:
			return nil, fmt.Errorf("%s: %w", in.Name, ErrNoSentences)
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, err
		}
		s, err := sourceOf(&it, in.Format() == settings.FormatJSON)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", in.Name, it.Line, err)
		}
		out = append(out, s)
	}
}

// sourceOf is the source of a line, a row or an element. array says that it may be a task.
func sourceOf(it *input.Item, array bool) (Source, error) {
	s := Source{ID: fmt.Sprint(it.Line), Text: it.Text}
	positions := -1
	for _, f := range it.Fields {
		var err error
		switch f.Name {
		case "sentence":
			if array && errors.Is(it.Err, jsonl.ErrNoText) {
				it.Err, err = nil, json.Unmarshal(f.Value, &s.Text)
			}
		case "gold", "gt_sentence":
			err = json.Unmarshal(f.Value, &s.Gold)
		case "infill_pos":
			var list []int
			err = json.Unmarshal(f.Value, &list)
			if list != nil {
				positions = len(list)
			}
		}
		if err != nil {
			return s, fmt.Errorf("%w: %s: %w", ErrFormat, f.Name, err)
		}
	}
	switch blanks := strings.Count(s.Text, "[MASK]"); {
	case it.Err != nil:
		return s, fmt.Errorf("%w: %w", ErrFormat, it.Err)
	case positions >= 0 && blanks != positions:
		return s, fmt.Errorf("%w: %d blanks in the sentence, %d in infill_pos",
			ErrFormat, blanks, positions)
	case strings.TrimSpace(s.Text) == "":
		return s, fmt.Errorf("%w: the text is empty", ErrFormat)
	case it.ID != nil && json.Unmarshal(it.ID, &s.ID) != nil:
		s.ID = string(it.ID) // a number
	}
	return s, nil
}
