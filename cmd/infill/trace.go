package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"infill/cmd/infill/internal/cmdline"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/tokenize"
)

// A traceFile receives every step of every chain as JSON lines. The first step makes the file: a
// run that fails before would leave an empty one, which is in the way of the next try.
type traceFile struct {
	path string   // which checkTrace has seen; "" for none, and nothing is written
	f    *os.File // nil before the first step
	b    *bufio.Writer
}

func traceFlag(p *string) *cmdline.Option {
	return cmdline.Write("trace",
		"write energy, acceptance and state of every step to a `FILE`, as JSON lines", p)
}

// checkTrace finds, before a model is opened, a file that cannot be made. It makes none.
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

// open creates the file.
func (t *traceFile) open() error {
	// O_EXCL: an output file that exists is never overwritten.
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, os.ErrExist) {
		return traceExists(t.path)
	}
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	t.f, t.b = f, bufio.NewWriter(f)
	return nil
}

// enter completes a line and writes it.
func (t *traceFile) enter(tok *tokenize.Tokenizer, l jsonl.Step, s infill.Step) error {
	if t.path == "" {
		return nil
	}
	if t.f == nil {
		if err := t.open(); err != nil {
			return err
		}
	}
	l.Fill(tok, s)
	return jsonl.Encode(t.b, &l)
}

func (t *traceFile) close() error {
	if t.f == nil {
		return nil
	}
	return errors.Join(t.b.Flush(), t.f.Close())
}
