package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	samplerbench "infill/bench/samplers"
	"infill/infill"
	"infill/infill/batch"
	"infill/metrics/bleu"
	"infill/metrics/corpus"
	"infill/mlm"
	"infill/report"
	"infill/samplers"
	"infill/tokenize"
)

// Exit codes of the command.
const (
	exitOK          = 0
	exitSomeFailed  = 1
	exitUsage       = 2
	exitTrouble     = 3
	exitStopped     = 4
	exitInterrupted = 130
)

// errSomeFailed ends a run in which single lines failed and were reported.
var errSomeFailed = errors.New("some lines failed")

// errOverride is a per-line setting that makes no sense.
var errOverride = errors.New("bad setting")

// A usageError is a command line that makes no sense.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// badInput are the errors that the user's text or flags are to blame for.
var badInput = []error{
	infill.ErrEmpty, infill.ErrNoBlank, infill.ErrBlank, infill.ErrEmptySupport, infill.ErrFewWords, infill.ErrOption,
	batch.ErrExists, batch.ErrIsInput, batch.ErrMismatch, batch.ErrManifest, batch.ErrLineTooLong,
	samplers.ErrParam, samplers.ErrUnknown, samplers.ErrUnsupported, samplerbench.ErrSpec,
	tokenize.ErrInvalidUTF8, tokenize.ErrTooLarge, mlm.ErrTooLong, mlm.ErrNoPieces,
	corpus.ErrOption, corpus.ErrBinary, corpus.ErrEmpty, corpus.ErrLineTooLong, corpus.ErrTooLarge,
	bleu.ErrOption, bleu.ErrUnequal, report.ErrFormat, report.ErrNoSentences, report.ErrOption,
}

func exitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, batch.ErrTooMany):
		return exitStopped
	case errors.Is(err, errSomeFailed):
		return exitSomeFailed
	case errors.As(err, &usage):
		return exitUsage
	}
	for _, b := range badInput {
		if errors.Is(err, b) {
			return exitUsage
		}
	}
	return exitTrouble
}

// lineCodes names the errors of a single line in JSON output.
var lineCodes = []struct {
	err  error
	code string
}{
	{infill.ErrEmpty, "empty"},
	{infill.ErrNoBlank, "no_blank"},
	{infill.ErrBlank, "bad_blank"},
	{infill.ErrEmptySupport, "empty_support"},
	{infill.ErrFewWords, "too_few_words"},
	{batch.ErrLineTooLong, "too_long"},
	{batch.ErrJSON, "bad_json"},
	{errOverride, "bad_option"},
	{tokenize.ErrInvalidUTF8, "invalid_utf8"},
	{mlm.ErrTooLong, "too_long"},
	{tokenize.ErrTooLarge, "too_long"},
}

// lineCode returns the code of an error that concerns one line only, "" for
// errors that would befall every line.
func lineCode(err error) string {
	var many *samplers.TooManyError
	if errors.As(err, &many) {
		return "unsupported" // this line has too many states for the sampler; others may not
	}
	var param *samplers.ParamError
	if errors.As(err, &param) && param.Param == "precondition" {
		return "unsupported" // there is a factor for each coordinate of other lines
	}
	for _, c := range lineCodes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return ""
}

func message(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return err.Error()
}
