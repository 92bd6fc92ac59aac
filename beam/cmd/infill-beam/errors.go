package main

import (
	"context"
	"errors"
	"strings"

	"infill/beam/pipeline"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/samplers"
)

// badInput are the errors that the user's files or flags are to blame for.
var badInput = []error{
	settings.ErrSetting, pipeline.ErrJob, pipeline.ErrShards,
	output.ErrExists, output.ErrIsInput, input.ErrNoLines, table.ErrTable,
	samplers.ErrParam, samplers.ErrUnknown, samplers.ErrUnsupported,
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
	case errors.Is(err, output.ErrExists):
		return text + " (--force removes it)"
	}
	return text
}
