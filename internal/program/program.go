// Package program has what the programs of this project have in common as commands: exit codes, the
// error of a wrong command line, and the release they were built from.
package program

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Exit codes.
const (
	OK          = 0
	SomeFailed  = 1   // the run finished, but some lines failed
	Usage       = 2   // wrong usage or bad input
	Trouble     = 3   // anything else: files, network, models
	Stopped     = 4   // too many lines failed
	Interrupted = 130 // by a signal
)

// ErrSomeFailed ends a run in which single lines failed and were reported.
var ErrSomeFailed = errors.New("some lines failed")

// A UsageError is a command line that makes no sense.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

// Usagef makes a [UsageError].
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// ExitCode is the exit code of an error. badInput are those that the user's text or flags are to
// blame for, beside usage errors.
func ExitCode(err error, badInput []error) int {
	var usage *UsageError
	switch {
	case err == nil:
		return OK
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.Is(err, ErrSomeFailed):
		return SomeFailed
	case errors.As(err, &usage):
		return Usage
	}
	for _, b := range badInput {
		if errors.Is(err, b) {
			return Usage
		}
	}
	return Trouble
}

// Version is the release that a program was built from: the one that its build has set, "" for
// none, else what Go knows of the module.
func Version(set string) string {
	if set != "" {
		return set
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
