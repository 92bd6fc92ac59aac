package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"infill/cmd/infill/internal/console"
	"infill/infill/batch"
	"infill/infill/settings"
	"infill/infill/text"
)

// Some commands take a text and others a file. Who takes one for the other is told.

// isFile says whether a text is the name of a file.
func isFile(text string) bool {
	if text == "" || text == "-" {
		return false
	}
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular()
}

// soleFile is the only argument of a command for texts if it is the name of a file, else "".
func soleFile(args []string) string {
	if len(args) == 1 && isFile(args[0]) {
		return args[0]
	}
	return ""
}

// sayFile says that a name was taken for a text, and the command that reads the file.
func sayFile(std console.IO, path, command string) {
	fmt.Fprintf(std.Err, "infill: %s is taken for a text; %s\n", console.Printable(path),
		readsFile(path, command))
}

// readsFile is the command that reads a file whose name was taken for a text.
func readsFile(path, command string) string {
	return "for the texts of the file of that name: " + command + " " +
		console.Printable(quoted([]string{path})[0])
}

// named is the error of a text without a blank that is the name of a file.
type named struct {
	error
	path string
}

func (n named) Unwrap() error { return n.error }

// orFile is the error of a text, with the command that reads a file of that name if there is one.
func orFile(err error, line string) error {
	if errors.Is(err, text.ErrNoBlank) && isFile(line) {
		return named{err, line}
	}
	return err
}

// asText is what to do with a text where a file should be named, "" for other errors.
func asText(err error) string {
	var file *fs.PathError
	if !errors.As(err, &file) || !errors.Is(err, fs.ErrNotExist) || !looksText(file.Path) {
		return ""
	}
	line := console.Printable(quoted([]string{file.Path})[0])
	if text.LooksBlank(file.Path) {
		return "; a file is expected here; to fill a text: infill fill " + line
	}
	return "; a file is expected here; to make variants of a text: infill augment " + line
}

// extensions are those of files of texts.
var extensions = []string{".txt", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet",
	".arrow", ".arrows", ".feather", ".gz", ".zst"}

// looksText reports whether the name of a file that does not exist is a text.
func looksText(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist) && (text.LooksBlank(name) ||
		strings.ContainsFunc(name, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		}) && !slices.Contains(extensions, strings.ToLower(filepath.Ext(name))))
}

// Lines of text may look like JSON lines, as in a file of records that is called .txt. They
// are texts all the same, and that is said.

// hasText says whether a line is a JSON object with a text in the given field.
func hasText(line []byte, field string) bool {
	if !isRecord(line) {
		return false
	}
	var members map[string]json.RawMessage
	var text *string
	return json.Unmarshal(line, &members) == nil && members[field] != nil &&
		json.Unmarshal(members[field], &text) == nil && text != nil
}

// sayJSON tells it of an input. reads is what reads such lines as records.
func sayJSON(std console.IO, name, reads string) {
	fmt.Fprintf(std.Err, "infill: %s: these look like JSON lines, and each is taken for a text as it "+
		"stands; to read them as JSON: %s\n", console.Printable(name), reads)
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
func (f *fileFlags) sayText(std console.IO, path string, in *batch.Input) {
	named := f.Format == settings.FormatAuto && in.Format() == settings.FormatText && path != "-"
	if !f.quiet && named && hasText(firstOf(path), f.TextField) {
		sayJSON(std, path, "--format jsonl")
	}
}

// quoted writes arguments as a shell would need them.
func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`*?[]|&;<>(){}~#!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out[i] = a
	}
	return out
}
