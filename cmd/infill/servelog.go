package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// A serveLog is the log of a service on standard error.
type serveLog struct {
	*slog.Logger
	text io.Writer // of notes; nil: they are in the log
}

// logs makes the log that the flags ask for. In JSON it has the notes of the program, too, so that
// each line is an object.
func (f *serveFlags) logs(std *stdio) *serveLog {
	if f.logFormat != "json" {
		return &serveLog{slog.New(slog.NewTextHandler(std.err, nil)), std.err}
	}
	l := &serveLog{Logger: slog.New(slog.NewJSONHandler(std.err, nil))}
	std.err = l
	return l
}

// Write takes notes, a line each.
func (l *serveLog) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l.Warn("note", "text", strings.TrimPrefix(strings.TrimSpace(line), "infill: "))
	}
	return len(p), nil
}

// ready says that requests are taken.
func (l *serveLog) ready(address string) {
	if l.text == nil {
		l.Info("ready", "url", address)
		return
	}
	fmt.Fprintf(l.text, "infill: ready at %s\n", address)
}
