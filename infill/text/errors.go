package text

import (
	"errors"
	"fmt"
)

// Sentinels for what callers branch on; test with errors.Is.
var (
	// ErrEmpty is returned for a text without any character but white space.
	ErrEmpty = errors.New("the text is empty")
	// ErrNoBlank is returned for a text without a blank.
	ErrNoBlank = errors.New("the text has no blank")
	// ErrBlank is returned for a blank that cannot be understood.
	ErrBlank = errors.New("bad blank")
	// ErrManyWords is returned for a blank with more alternatives than a text may hold. It wraps
	// ErrBlank. A list of allowed words has room for them.
	ErrManyWords = fmt.Errorf("%w: too many alternatives", ErrBlank)
	// ErrFewWords is returned for a text with fewer words than are to be masked.
	ErrFewWords = errors.New("too few words")
	// ErrEmptySupport is returned when nothing may stand in a blank.
	ErrEmptySupport = errors.New("no token may fill the blank")
	// ErrOption is returned for an option out of its range.
	ErrOption = errors.New("bad option")
)

// ErrNoTokenizer is the error of what is made for a tokenizer.
var ErrNoTokenizer = fmt.Errorf("%w: the tokenizer is nil; pass that of the model, Model.Tokenizer",
	ErrOption)

// An Error is bad input at a place in a text.
type Error struct {
	Offset int    // byte offset into the text, −1 where no single place is to blame
	Msg    string // what is wrong there and what to do about it
	Err    error  // a sentinel
}

// Error says what is wrong, where, and what helps.
func (e *Error) Error() string {
	s := "bad text"
	if e.Err != nil {
		s = e.Err.Error()
	}
	if e.Msg != "" {
		s += ": " + e.Msg
	}
	if e.Offset >= 0 {
		s = fmt.Sprintf("byte %d: %s", e.Offset, s)
	}
	return s
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }
