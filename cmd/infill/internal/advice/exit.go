package advice

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

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
