package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/console"
)

// A serveLog is the log of a service on standard error.
type serveLog struct {
	*slog.Logger
	text io.Writer // of notes; nil: they are in the log
}

// logs makes the log that the flags ask for. In JSON it has the notes of the program, too, so that
// each line is an object.
func (f *serveFlags) logs(std *console.IO) *serveLog {
	if f.logFormat != "json" {
		return &serveLog{slog.New(slog.NewTextHandler(std.Err, nil)), std.Err}
	}
	l := &serveLog{Logger: slog.New(slog.NewJSONHandler(std.Err, nil))}
	std.Err = l
	return l
}

// Write takes notes, a line each.
func (l *serveLog) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l.Warn("note", "text", strings.TrimPrefix(strings.TrimSpace(line), "infill: "))
	}
	return len(p), nil
}

// failed says in JSON why the server ended, and returns an error that need not be said again.
func (l *serveLog) failed(err error) error {
	if err == nil || l.text != nil {
		return err
	}
	l.Error("failed", "error", advice.Message(err))
	return &saidError{err}
}

// A saidError is an error that the log has.
type saidError struct{ error }

func (e *saidError) Unwrap() error { return e.error }

// ready says that requests are taken, and for which models.
func (l *serveLog) ready(address string, models []namedModel) {
	if l.text == nil {
		names := make([]string, len(models))
		for i, m := range models {
			names[i] = m.name
		}
		l.Info("ready", "url", address, "models", names, "version", version())
		return
	}
	fmt.Fprintf(l.text, "infill: ready at %s\n", address)
}
