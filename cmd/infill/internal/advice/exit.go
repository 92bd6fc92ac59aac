package advice

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/batch"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/jsonl"
	"infill/infill/lengths"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/infill/text"
	"infill/internal/program"
	"infill/internal/textline"
	"infill/internal/unpack"
	"infill/metrics/bleu"
	"infill/metrics/corpus"
	"infill/mlm"
	"infill/mlm/device"
	"infill/report/read"
	"infill/samplers"
	"infill/tokenize"
)

// badInput are the errors that the user's text or flags are to blame for.
var badInput = []error{
	settings.ErrSetting, text.ErrEmpty, text.ErrNoBlank, text.ErrBlank,
	text.ErrEmptySupport, text.ErrFewWords, infill.ErrStart, infill.ErrFiltered, text.ErrSpan,
	text.ErrOption,
	output.ErrExists, output.ErrIsInput, output.ErrMismatch, output.ErrManifest, output.ErrLayout,
	input.ErrShard, output.ErrJoin, input.ErrNotLines,
	jsonl.ErrLineTooLong, jsonl.ErrJSON, jsonl.ErrRow, table.ErrTable,
	samplers.ErrParam, samplers.ErrUnknown, samplers.ErrUnsupported,
	tokenize.ErrInvalidUTF8, tokenize.ErrTooLarge, mlm.ErrTooLong, lengths.ErrFewGaps,
	corpus.ErrOption, corpus.ErrTooLarge,
	bleu.ErrOption, bleu.ErrUnequal, read.ErrFormat, read.ErrNoSentences, read.ErrOption,
	unpack.ErrDamaged, device.ErrDevice,
}

// ExitCode is what the command exits with.
func ExitCode(err error) int {
	var file *fs.PathError
	var vocabulary *tokenize.FileError
	switch {
	case errors.Is(err, syscall.EPIPE):
		return program.OK
	case errors.Is(err, context.Canceled):
		return program.Interrupted
	case errors.Is(err, batch.ErrTooMany):
		return program.Stopped
	case errors.Is(err, settings.ErrSetting) && errors.As(err, &file):
		return program.Trouble // a file that a setting names cannot be read
	case errors.As(err, &vocabulary):
		return program.Trouble // of a model: one too large is like a damaged one
	}
	return program.ExitCode(err, badInput)
}

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

// IsFile reports whether a file has this name.
func IsFile(text string) bool {
	if text == "" || text == "-" {
		return false
	}
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular()
}
