package settings

import (
	"errors"
	"io"

	"infill/infill/text"
	"infill/internal/disk"
	"infill/internal/unpack"
)

// allowValue is the name of a file, in whose place JSON has the words.
func allowValue(v *Fill) *Value {
	value := TextValue(&v.Words.AllowFile)
	value.want, value.wantJSON = "a file of words, one a line", "a list of words"
	value.setJSON = fromJSON(func(words []string) error {
		v.Words.AllowFile, v.Words.Allow = "", words
		return nil
	})
	return value.after(func() { v.Options.Words.Allow, v.read.allowed = nil, wordFile{} })
}

// A wordFile is a file of words that was read.
type wordFile struct{ path, sum string }

// hashed is disk.Hashed for a file that a user names, which may be standard input.
func (v *Fill) hashed(path string, use func(io.Reader) error) (string, error) {
	if path == "-" && v.Stdin != nil {
		return disk.HashedStream("standard input", v.Stdin, use)
	}
	return disk.Hashed(path, use)
}

// readWords reads a list of words from a file. The hash is of the bytes that were read, whether or
// not they were compressed.
func readWords[T any](v *Fill, path string, list func(io.Reader) (T, error)) (words T,
	read wordFile, err error) {
	var none T
	sum, err := v.hashed(path, func(r io.Reader) error {
		u, err := unpack.New(r)
		if err != nil {
			return err
		}
		words, err = list(u)
		return errors.Join(err, u.Close())
	})
	if err != nil {
		return none, wordFile{}, err
	}
	return words, wordFile{path, sum}, nil
}

// LoadAllow reads the words of AllowFile into Allow, in place of Prepare. The settings can then be
// sent to where the file is not. The error is an [*Error].
func (v *Fill) LoadAllow() error {
	if v.Words.AllowFile == "" {
		return nil
	}
	var words []string
	_, err := v.hashed(v.Words.AllowFile, func(r io.Reader) error {
		u, err := unpack.New(r)
		if err != nil {
			return err
		}
		words, err = text.ReadWords(u)
		return errors.Join(err, u.Close())
	})
	if err != nil {
		return &Error{Name: "allow", Err: err}
	}
	v.Words.AllowFile, v.Words.Allow = "", words
	return nil
}

// recorded names the words of a file by its hash. read is what was read of it, if it was.
func recorded(path string, read wordFile) (string, error) {
	switch path {
	case "":
		return "", nil
	case read.path:
		return read.sum, nil
	}
	return disk.Hashed(path, func(io.Reader) error { return nil })
}

func (v *Fill) allowRecorded() (string,
	error) {
	return recorded(v.Words.AllowFile, v.read.allowed)
}
