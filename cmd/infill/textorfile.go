package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// Some commands take a text and others a file. Who takes one for the other is told.

// soleFile is the only argument of a command for texts if it is the name of a file, else "".
func soleFile(args []string) string {
	if len(args) == 1 && advice.IsFile(args[0]) {
		return args[0]
	}
	return ""
}

// sayFile says that a name was taken for a text, and the command that reads the file.
func sayFile(std console.IO, path, command string) {
	fmt.Fprintf(std.Err, "infill: %s is taken for a text; %s\n", textline.Printable(path),
		advice.ReadsFile(path, command))
}

// Lines of text may look like JSON lines, as in a file of records that is called .txt. They
// are texts all the same, and that is said.

// hasText says whether a line is a JSON object with a text in the given field.
func hasText(line []byte, field string) bool {
	var members map[string]json.RawMessage
	var text *string
	return json.Unmarshal(line, &members) == nil && members[field] != nil &&
		json.Unmarshal(members[field], &text) == nil && text != nil
}

// sayJSON tells it of an input. reads is what reads such lines as records.
func sayJSON(std console.IO, name, reads string) {
	fmt.Fprintf(std.Err, "infill: %s: these look like JSON lines, and each is taken for a text as it "+
		"stands; to read them as JSON: %s\n", textline.Printable(name), reads)
}

// notingJSON are the lines of standard input, with a word on the first one if it looks like JSON.
func notingJSON(std console.IO, texts iter.Seq2[line, error], reads string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		first := true
		for l, err := range texts {
			if first && err == nil && hasText([]byte(l.text), "text") {
				sayJSON(std, "standard input", reads)
			}
			first = false
			if !yield(l, err) {
				return
			}
		}
	}
}

// sayText tells it of a file whose name decided that it is text. Who said so knows it.
func (f *fileFlags) sayText(std console.IO, path string, in *input.Reader) {
	named := f.Format == settings.FormatAuto && in.Format() == settings.FormatText && path != "-"
	if !f.quiet && named && hasText(firstOf(path), f.TextField) {
		sayJSON(std, path, "--format jsonl")
	}
}

// firstOf is the first line of a file that is not empty, or nothing where it cannot be read, or is
// a pipe, which can be read only once.
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
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return line
}
