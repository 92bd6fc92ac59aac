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

// A wordFile is a file of words that was read.
type wordFile struct{ path, sum string }

// readFile reads a file that a user names, which may be standard input, and compressed. The hash is
// of its bytes as they are there.
func (v *Fill) readFile(path string, use func(io.Reader) error) (wordFile, error) {
	unpacked := func(r io.Reader) error {
		u, err := unpack.New(r)
		if err != nil {
			return err
		}
		return errors.Join(use(u), u.Close())
	}
	var sum string
	var err error
	if path == "-" && v.Stdin != nil {
		sum, err = disk.HashedStream("standard input", v.Stdin, unpacked)
	} else {
		sum, err = disk.Hashed(path, unpacked)
	}
	if err != nil {
		return wordFile{}, err
	}
	return wordFile{path, sum}, nil
}

// readWords reads a list of words from a file.
func readWords[T any](v *Fill, path string, list func(io.Reader) (T, error)) (words T,
	read wordFile, err error) {
	read, err = v.readFile(path, func(r io.Reader) (err error) {
		words, err = list(r)
		return err
	})
	if err != nil {
		var none T
		return none, read, err
	}
	return words, read, nil
}

// LoadAllow reads the words of AllowFile into Allow, in place of Prepare. The settings can then be
// sent to where the file is not. The error is an [*Error].
func (v *Fill) LoadAllow() error {
	if v.Words.AllowFile == "" {
		return nil
	}
	words, _, err := readWords(v, v.Words.AllowFile, text.ReadWords)
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
