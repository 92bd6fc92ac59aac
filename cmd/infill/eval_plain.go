package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/unpack"
	"infill/report/read"
)

// References, and what is left out of them, are plain lines. The lines of any other file would be
// taken for sentences, and the numbers would be wrong without a word.

// plainName refuses a file of sentences whose name says that it has records.
func plainName(flag, path string) error {
	switch format := settings.FormatOf(path); {
	case format.Table():
		return usagef("%s %s: a table is not read here; write the texts of its column alone to a file, "+
			"one sentence a line", flag, path)
	case format == settings.FormatJSONL, format == settings.FormatJSON && isRecord(firstOf(path)):
		return notPlain(flag, path, firstOf(path))
	case format == settings.FormatJSON:
		return usagef("%s %s: JSON is not read here; write its texts alone to a file, one sentence a "+
			"line", flag, path)
	}
	return nil
}

// firstOf is the first line of a file, empty where it cannot be read, or is a pipe, which can be
// read only once.
func firstOf(path string) []byte {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := unpack.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // only read
	head, _ := bufio.NewReaderSize(file, jsonl.MaxInput).Peek(jsonl.MaxInput)
	return firstLine(head)
}

// notPlain is the error of a file with JSON lines. first is one of them.
func notPlain(flag, name string, first []byte) error {
	return usagef("%s %s: JSON lines are not read here; write their texts alone to a file, one "+
		"sentence a line (%s)", flag, name, plainTexts(flag == "--exclude", first))
}

// plainTexts says how to get sentences from records like this one: what was generated, or for
// originals what was infilled. The text of infill's own records is neither of them.
func plainTexts(originals bool, record []byte) string {
	var has map[string]json.RawMessage
	_ = json.Unmarshal(record, &has) // what is not a record has nothing
	is := func(name string, with byte) bool { return len(has[name]) > 0 && has[name][0] == with }
	failed := is("error", '{') // a record with an error alone; the next ones may have fillings
	own := has["line"] != nil
	switch {
	case own && !originals && (is("fillings", '[') || failed):
		return "jq -r '.fillings[]?.text'"
	case own && originals && (is("gold", '"') || failed):
		return "jq -r '.gold // empty'"
	case own && originals && is("original", '"'): // a variant
		return "jq -r '.original // empty'"
	case own && !originals && is("filled", '"'): // a row for each filling
		return "jq -r '.filled // empty'"
	case own && originals && (is("fillings", '[') || is("filled", '"') && !is("blanked", '"')):
		return "these have the texts with their blanks alone; give those from which words were taken"
	}
	return "jq -r .text"
}

// isRecord says whether a line is a JSON object. A sentence can begin with a brace too.
func isRecord(line []byte) bool {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	return len(line) > 0 && line[0] == '{' && json.Valid(line)
}

// plainFiles are inputs of sentences. Records in files are refused at once, those of pipes when
// they are read.
func plainFiles(flag string, paths []string, stdin io.Reader) ([]read.Input, error) {
	for _, path := range paths {
		if err := plainName(flag, path); err != nil {
			return nil, err
		}
	}
	inputs := read.Files(paths, stdin)
	for i, in := range inputs {
		inputs[i] = plainInput(flag, in)
		info, err := os.Stat(paths[i])
		if paths[i] == "-" || err != nil || !info.Mode().IsRegular() {
			continue // a pipe can be read once only
		}
		file, err := inputs[i].Open()
		if err != nil {
			return nil, err
		}
		_ = file.Close() // only read
	}
	return inputs, nil
}

// plainInput is an input whose first line that is not empty must not be a record.
func plainInput(flag string, in read.Input) read.Input {
	open := in.Open
	in.Open = func() (io.ReadCloser, error) {
		file, err := open()
		if err != nil {
			return nil, err
		}
		r := bufio.NewReaderSize(file, jsonl.MaxInput)
		head, _ := r.Peek(jsonl.MaxInput) // an error will come again when reading
		if first := firstLine(head); isRecord(first) {
			_ = file.Close() // only read
			return nil, notPlain(flag, in.Name, first)
		}
		return &peeked{r, file}, nil
	}
	return in
}

// firstLine is the first line that is not empty.
func firstLine(b []byte) []byte {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\ufeff")), " \t\r\n")
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return line
}

// peeked is a file whose beginning was looked at.
type peeked struct {
	io.Reader
	io.Closer
}
