package settings

import (
	"errors"
	"io"

	"infill/infill/text"
	"infill/internal/disk"
	"infill/internal/unpack"
)

// wordsFileValue is the name of a file of words, in whose place JSON has the words.
func wordsFileValue(file *string, words *[]string) *Value {
	value := fileValue(file, "a file of words, one a line")
	value.wantJSON = "a list of words"
	value.setJSON = fromJSON(func(list []string) error { *file, *words = "", list; return nil })
	return value
}

// fileValue is the name of a file, or of a folder.
func fileValue(p *string, want string) *Value {
	v := textValue(p)
	v.want, v.wantJSON = want, want
	return v
}

// readFile reads a file that a user names, which may be standard input, and compressed. The hash is
// of its bytes as they are there.
func (v *Fill) readFile(path string, use func(io.Reader) error) (sum string, err error) {
	unpacked := func(r io.Reader) error {
		u, err := unpack.New(r)
		if err != nil {
			return err
		}
		return errors.Join(use(u), u.Close())
	}
	if path == "-" && v.Stdin != nil {
		return disk.HashedStream("standard input", v.Stdin, unpacked)
	}
	return disk.Hashed(path, unpacked)
}

// LoadAllow reads the words of AllowFile into Allow, in place of Prepare. The settings can then be
// sent to where the file is not. The error is an [*Error].
func (v *Fill) LoadAllow() error {
	if v.Words.AllowFile == "" {
		return nil
	}
	var words []string
	_, err := v.readFile(v.Words.AllowFile, func(r io.Reader) (err error) {
		words, err = text.ReadWords(r)
		return err
	})
	if err != nil {
		return &Error{Name: "allow", Err: err}
	}
	v.Words.AllowFile, v.Words.Allow = "", words
	return nil
}

// recorded names the words of a file by its hash, that of what was read of it if it was.
func (v *Fill) recorded(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	if v.read != nil && v.read.sums[path] != "" {
		return v.read.sums[path], nil
	}
	return disk.Hashed(path, func(io.Reader) error { return nil })
}
