package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"infill/infill"
)

// Some commands take a text and others a file. Who takes one for the other is told.

// isFile says whether a text is the name of a file.
func isFile(text string) bool {
	if text == "" || text == "-" {
		return false
	}
	info, err := os.Stat(text)
	return err == nil && info.Mode().IsRegular()
}

// soleFile is the only argument of a command for texts if it is the name of a file, else "".
func soleFile(args []string) string {
	if len(args) == 1 && isFile(args[0]) {
		return args[0]
	}
	return ""
}

// sayFile says that a name was taken for a text, and the command that reads the file.
func sayFile(std stdio, path, command string) {
	fmt.Fprintf(std.err, "infill: %s is taken for a text; for the texts of the file of that name: "+
		"%s %s\n", printable(path), command, printable(quoted([]string{path})[0]))
}

// named is the error of a text without a blank that is the name of a file.
type named struct {
	error
	path string
}

func (n named) Unwrap() error { return n.error }

// orFile is the error of a text, with the command that reads a file of that name if there is one.
func orFile(err error, text string) error {
	if errors.Is(err, infill.ErrNoBlank) && isFile(text) {
		return named{err, text}
	}
	return err
}

// unopened is the error of a text where a file should be named.
type unopened struct {
	error
	text string
}

func (u unopened) Unwrap() error { return u.error }

// orText is the error of opening a file, with the command for a text if its name has a blank.
func orText(err error, path string) error {
	if _, missing := os.Stat(path); errors.Is(err, fs.ErrNotExist) && infill.LooksBlank(path) &&
		errors.Is(missing, fs.ErrNotExist) { // and not the folder of the output alone
		return unopened{err, path}
	}
	return err
}
