package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/report"
)

// References, and what is left out of them, are plain lines. The lines of any other file would be
// taken for sentences, and the numbers would be wrong without a word.

// plainName refuses a file of sentences whose name says that it has records.
func plainName(flag, path string) error {
	switch format := settings.FormatOf(path); {
	case format.Table():
		return usagef("%s %s: a table is not read here; write the texts of its column alone to a file, "+
			"one sentence a line", flag, path)
	case format == settings.FormatJSONL:
		return notPlain(flag, path)
	}
	return nil
}

// notPlain is the error of a file with JSON lines.
func notPlain(flag, name string) error {
	return usagef("%s %s: JSON lines are not read here; write their texts alone to a file, one "+
		"sentence a line (jq -r .text)", flag, name)
}

// isRecord says whether a line is a JSON object. A sentence can begin with a brace too.
func isRecord(line []byte) bool {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	return len(line) > 0 && line[0] == '{' && json.Valid(line)
}

// plainFiles are inputs of sentences. Records in files are refused at once, those of pipes when
// they are read.
func plainFiles(flag string, paths []string, stdin io.Reader) ([]report.Input, error) {
	for _, path := range paths {
		if err := plainName(flag, path); err != nil {
			return nil, err
		}
	}
	inputs := report.Files(paths, stdin)
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
func plainInput(flag string, in report.Input) report.Input {
	open := in.Open
	in.Open = func() (io.ReadCloser, error) {
		file, err := open()
		if err != nil {
			return nil, err
		}
		r := bufio.NewReaderSize(file, jsonl.MaxInput)
		head, _ := r.Peek(jsonl.MaxInput) // an error will come again when reading
		if isRecord(firstLine(head)) {
			_ = file.Close() // only read
			return nil, notPlain(flag, in.Name)
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
