package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"infill/infill"
	"infill/internal/unpack"
	"infill/tokenize"
)

// allowValue is the name of a file, in whose place JSON has the words.
func allowValue(v *Filling) *Value {
	value := TextValue(&v.AllowFile)
	value.want, value.wantJSON = "a file of words, one a line", "a list of words"
	value.setJSON = fromJSON(func(words []string) error {
		v.AllowFile, v.Allow = "", words
		return nil
	})
	return value.after(func() { v.Options.Allow, v.allowed = nil, wordFile{} })
}

// A wordFile is a file of words that was read.
type wordFile struct{ path, sum string }

// readWords reads a list of words from a file. The hash is of the bytes that were read, whether or
// not they were compressed.
func readWords(tok *tokenize.Tokenizer, path string) (words *infill.WordList, read wordFile,
	err error) {
	sum, err := hashed(path, func(r io.Reader) error {
		u, err := unpack.New(r)
		if err != nil {
			return err
		}
		words, err = infill.ReadWordList(tok, u)
		return errors.Join(err, u.Close())
	})
	if err != nil {
		return nil, wordFile{}, err
	}
	return words, wordFile{path, sum}, nil
}

// LoadAllow reads the words of AllowFile into Allow, in place of Prepare. The settings can then be
// sent to where the file is not. The error is an [*Error].
func (v *Filling) LoadAllow() error {
	if v.AllowFile == "" {
		return nil
	}
	var words []string
	_, err := hashed(v.AllowFile, func(r io.Reader) error {
		u, err := unpack.New(r)
		if err != nil {
			return err
		}
		words, err = infill.ReadWords(u)
		return errors.Join(err, u.Close())
	})
	if err != nil {
		return &Error{Name: "allow", Err: err}
	}
	v.AllowFile, v.Allow = "", words
	return nil
}

// hashed lets use read a file and returns the hash of all of it. Errors name the file.
func hashed(path string, use func(io.Reader) error) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	r := io.TeeReader(file, sum)
	err = use(r)
	if err == nil {
		_, err = io.Copy(io.Discard, r) // what use left
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

// allowRecorded names the words by the hash of their file.
func (v *Filling) allowRecorded() (string, error) {
	switch v.AllowFile {
	case "":
		return "", nil
	case v.allowed.path:
		return v.allowed.sum, nil
	}
	return hashed(v.AllowFile, func(io.Reader) error { return nil })
}
