package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"infill/cmd/infill/internal/cmdline"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/internal/disk"
	"infill/tokenize"
)

// A target is a file that a command is about to write.
type target struct{ what, path string } // what it is, such as --html

// checkTargets refuses, before any work is done, files that cannot be what was meant: a folder, a
// file called "-", one in a folder that is not there, two results in one file, and a file that the
// command reads ("-" is standard input). Whether a file that exists may be overwritten is the
// caller's business, but one that is read never may. Empty paths are flags not given.
func checkTargets(targets []target, inputs ...string) error {
	for i, t := range targets {
		if t.path == "" {
			continue
		}
		if t.path == "-" {
			return usagef("%s -: it is written to a file, not to standard output; name one (%s for a file "+
				"called -)", t.what, filepath.FromSlash("./-"))
		}
		info, err := os.Stat(t.path)
		switch {
		case err == nil && info.IsDir():
			// Trouble with a file, as a folder in an input's place is.
			return fmt.Errorf("%s %s: it is a folder; name a file in it", t.what, t.path)
		case errors.Is(err, fs.ErrNotExist):
			if _, err := os.Stat(filepath.Dir(t.path)); err != nil {
				return fmt.Errorf("%s %s: its folder: %w; make it first", t.what, t.path, err)
			}
		case err != nil:
			return fmt.Errorf("%s: %w", t.what, err)
		}
		for _, in := range inputs {
			if in != "" && info != nil && sameAsInput(info, in) {
				if in == "-" {
					in = "standard input"
				}
				return usagef("%s %s: the output is the input itself (%s); name another file", t.what,
					t.path, in)
			}
		}
		for _, o := range targets[:i] {
			if o.path != "" && sameFile(o.path, t.path) {
				return usagef("%s and %s are the same file, %s; name two", o.what, t.what, t.path)
			}
		}
	}
	return nil
}

// checkReplaced refuses files that exist, unless they may be overwritten. A file that is written
// whole takes the place of what is there, so a device may never.
func checkReplaced(targets []target, force bool) error {
	for _, t := range targets {
		if t.path == "" {
			continue
		}
		info, err := os.Lstat(t.path)
		switch {
		case err != nil:
		case !force:
			return usagef("%s %s: the file exists; remove it, name another, or give --force", t.what, t.path)
		case info.Mode()&os.ModeSymlink == 0 && !info.Mode().IsRegular():
			return usagef("%s %s: it is not a regular file; name another", t.what, t.path)
		}
	}
	return nil
}

// checkInputs refuses, before any work is done, files that a flag names and that are not there.
func checkInputs(flag string, paths []string) error {
	for _, path := range paths {
		if _, err := os.Stat(path); path != "-" && err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	return nil
}

// sameAsInput says that a file is one that a command reads. A device, such
// as a terminal, may well be both.
func sameAsInput(info os.FileInfo, input string) bool {
	var other os.FileInfo
	var err error
	if input == "-" {
		other, err = os.Stdin.Stat()
	} else {
		other, err = os.Stat(input)
	}
	return err == nil && info.Mode().IsRegular() && os.SameFile(info, other)
}

// sameFile says that two paths name one file, there or yet to be made.
func sameFile(a, b string) bool {
	if info, err := os.Stat(a); err == nil {
		return info.Mode().IsRegular() && disk.Same(a, b)
	}
	return filepath.Base(a) == filepath.Base(b) && disk.Same(filepath.Dir(a), filepath.Dir(b))
}

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
