package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"infill/internal/disk"
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
