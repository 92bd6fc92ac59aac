package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// Hashed lets use read a file and returns the hash of all of it, "sha256:…". Errors name the file.
func Hashed(path string, use func(io.Reader) error) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	sum, err := HashedStream(path, file, use)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	return sum, nil
}

// HashedStream is Hashed for a stream, which errors call by the name.
func HashedStream(name string, in io.Reader, use func(io.Reader) error) (string, error) {
	sum := sha256.New()
	r := io.TeeReader(in, sum)
	err := use(r)
	if err == nil {
		_, err = io.Copy(io.Discard, r) // what use left
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
