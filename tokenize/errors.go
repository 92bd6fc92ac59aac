package tokenize

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels for what a caller may want to branch on; use errors.Is.
var (
	// errNoVocabulary: the folder is missing, or has no vocabulary. That is a tokenizer.json, a
	// vocab.txt, or a vocab.json with merges.txt.
	errNoVocabulary = errors.New("no vocabulary")
	// ErrFormat: a file is not what its name promises.
	ErrFormat = errors.New("malformed")
	// errUnsupported: a file is well formed but asks for a tokenizer that this package does not have.
	errUnsupported = errors.New("unsupported")
	// ErrTooLarge: a file, a vocabulary, a piece or a text is larger than this package accepts.
	ErrTooLarge = errors.New("too large")
	// errMissingToken: the vocabulary lacks a special token that the tokenizer needs.
	errMissingToken = errors.New("missing token")
	// ErrInvalidUTF8: a text or a file is not UTF-8.
	ErrInvalidUTF8 = errors.New("invalid UTF-8")
)

// A FileError is an error in a file of a tokenizer's folder.
type FileError struct {
	File string // name inside the folder
	Line int    // from 1; 0 if the error is not on one line
	Path string // JSON path such as model.vocab; empty if none applies
	Err  error  // wraps one of the sentinels or an error of package fs
}

// Error says where and what: "vocab.txt:7: …" or "tokenizer.json: model.vocab: …".
func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Path != "" {
		b.WriteString(": " + e.Path)
	}
	return b.String() + ": " + strings.TrimPrefix(e.Err.Error(), e.File+": ") // named once
}

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// A TextError is an error at one place of the text given to [Tokenizer.Encode].
type TextError struct {
	Offset int   // byte offset in the text, from 0
	Err    error // ErrInvalidUTF8 or ErrTooLarge
}

// Error says what is wrong and at which byte.
func (e *TextError) Error() string {
	return fmt.Sprintf("text: byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns the sentinel.
func (e *TextError) Unwrap() error { return e.Err }

// problem makes an error that wraps a sentinel and says what to do.
func problem(sentinel error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", sentinel, fmt.Sprintf(format, args...))
}
