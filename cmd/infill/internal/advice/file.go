package advice

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"infill/cmd/infill/internal/console"
	"infill/infill/text"
	"infill/internal/textline"
)

// ReadsFile is the command that reads a file whose name was taken for a text.
func ReadsFile(path, command string) string {
	return "for the texts of the file of that name: " + command + " " +
		textline.Printable(console.Quoted([]string{path})[0])
}

// OrFile is the error of a text, with the command that reads a file of that name if there is one.
func OrFile(err error, line string) error {
	if IsFile(line) {
		return with(err, text.ErrNoBlank, "; "+ReadsFile(line, "infill batch"))
	}
	return err
}

// asText is what to do with a text where a file should be named, "" for other errors.
func asText(err error) string {
	var file *fs.PathError
	if !errors.As(err, &file) || !errors.Is(err, fs.ErrNotExist) || !LooksText(file.Path) {
		return ""
	}
	line := textline.Printable(console.Quoted([]string{file.Path})[0])
	if text.LooksBlank(file.Path) {
		return "; a file is expected here; to fill a text: infill fill " + line
	}
	return "; a file is expected here; to make variants of a text: infill augment " + line
}

// extensions are the endings of the names of text files.
var extensions = []string{".txt", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet",
	".gz", ".zst"}

// LooksText reports whether the name of a file that does not exist is a text.
func LooksText(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist) && (text.LooksBlank(name) ||
		strings.ContainsFunc(name, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		}) && !slices.Contains(extensions, strings.ToLower(filepath.Ext(name))))
}

// IsFile says whether a text is the name of a file.
func IsFile(text string) bool {
	if text == "" || text == "-" {
		return false
	}
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular()
}
