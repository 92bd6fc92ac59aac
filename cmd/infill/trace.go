package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/mlm"
	"infill/tokenize"
)

// A traceFile receives every step of every chain as JSON lines.
type traceFile struct {
	f *os.File
	b *bufio.Writer
}

func traceFlag(p *string) *option {
	return writeFlag("trace",
		"write energy, acceptance and state of every step to a `FILE`, as JSON lines", p)
}

// checkTrace is the error of openTrace for a file that cannot be made, before a model is opened for
// it. It makes none, which would be in the way of a second try.
func checkTrace(path string) error {
	if path == "" {
		return nil
	}
	if err := checkTargets([]target{{"--trace", path}}); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return traceExists(path)
	}
	return nil
}

func traceExists(path string) error {
	return usagef("--trace %s: the file exists; remove it or name another", path)
}

// openTrace creates the file; an empty path gives nil, which writes nothing.
func openTrace(path string) (*traceFile, error) {
	if path == "" {
		return nil, nil
	}
	if err := checkTargets([]target{{"--trace", path}}); err != nil {
		return nil, err
	}
	// O_EXCL: an output file that exists is never overwritten.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil, traceExists(path)
	}
	if err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	return &traceFile{f, bufio.NewWriter(f)}, nil
}

// write enters a step of the chains of a line.
func (t *traceFile) write(m *mlm.Model, line int, s infill.Step) error {
	return t.enter(m.Tokenizer(), jsonl.Step{Line: line}, s)
}

// enter completes a line and writes it.
func (t *traceFile) enter(tok *tokenize.Tokenizer, l jsonl.Step, s infill.Step) error {
	if t == nil {
		return nil
	}
	l.Fill(tok, s)
	return jsonl.WriteStep(t.b, &l)
}

func (t *traceFile) close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.b.Flush(), t.f.Close())
}
