package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"infill/beam/pipeline"
	"infill/infill/batch"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/samplers"
)

// Exit codes, those of infill.
const (
	exitOK          = 0
	exitSomeFailed  = 1
	exitUsage       = 2
	exitTrouble     = 3
	exitInterrupted = 130
)

// errSomeFailed ends a run in which single lines failed.
var errSomeFailed = errors.New("some lines failed")

// A usageError is a command line that makes no sense.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// badInput are the errors that the user's files or flags are to blame for.
var badInput = []error{
	settings.ErrSetting, pipeline.ErrJob, pipeline.ErrShards,
	batch.ErrExists, batch.ErrIsInput, batch.ErrNoLines, table.ErrTable,
	samplers.ErrParam, samplers.ErrUnknown, samplers.ErrUnsupported,
}

func exitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errSomeFailed):
		return exitSomeFailed
	case errors.Is(err, context.Canceled):
		return exitInterrupted
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

// message is an error in the command's words: settings are flags.
func message(err error) string {
	text := err.Error()
	var s *settings.Error
	if errors.As(err, &s) {
		spelt := s.Spell(func(name string) string { return "--" + name })
		text = strings.Replace(text, s.Error(), spelt, 1)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, batch.ErrExists):
		return text + " (--force removes it)"
	}
	return text
}
