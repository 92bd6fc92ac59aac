package infill

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
	// ErrEmptySupport is returned when nothing may stand in a blank.
	ErrEmptySupport = errors.New("no token may fill the blank")
	// ErrFewWords is returned for a text with fewer words than are to be masked.
	ErrFewWords = errors.New("too few words")
	// ErrOption is returned for an option out of its range.
	ErrOption = errors.New("bad option")
)

// A TextError is bad input at a place in a text.
type TextError struct {
	Offset int    // byte offset into the text, −1 where no single place is to blame
	Msg    string // what is wrong there and what to do about it
	Err    error  // a sentinel
}

func (e *TextError) Error() string {
	s := e.Err.Error()
	if e.Msg != "" {
		s += ": " + e.Msg
	}
	if e.Offset >= 0 {
		s = fmt.Sprintf("byte %d: %s", e.Offset, s)
	}
	return s
}

func (e *TextError) Unwrap() error { return e.Err }
