package main

import "infill/internal/program"

// Exit codes of the command.
const (
	exitOK          = program.OK
	exitSomeFailed  = program.SomeFailed
	exitUsage       = program.Usage
	exitTrouble     = program.Trouble
	exitStopped     = program.Stopped
	exitInterrupted = program.Interrupted
)

// errSomeFailed ends a run in which single lines failed and were reported.
var errSomeFailed = program.ErrSomeFailed

// buildVersion is set by the Makefile.
var buildVersion string

func version() string { return program.Version(buildVersion) }

func usagef(format string, args ...any) error { return program.Usagef(format, args...) }
