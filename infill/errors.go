package infill

import (
	"errors"
	"fmt"

	"infill/mlm"
)

// Sentinels for what callers branch on; test with errors.Is.
var (
	// ErrEmpty is returned for a text without any character but white space.
	ErrEmpty = errors.New("the text is empty")
	// ErrNoBlank is returned for a text without a blank.
	ErrNoBlank = errors.New("the text has no blank")
	// ErrBlank is returned for a blank that cannot be understood.
	ErrBlank = errors.New("bad blank")
	// ErrUnfilled is returned for a blank in a text that is to be complete. It
	// wraps ErrBlank.
	ErrUnfilled = fmt.Errorf("%w: it is not filled in", ErrBlank)
	// ErrManyWords is returned for a blank with more alternatives than a text may hold. It wraps
	// ErrBlank. A list of allowed words has room for them.
	ErrManyWords = fmt.Errorf("%w: too many alternatives", ErrBlank)
	// ErrNoCandidates is returned where nothing is to be ranked. It wraps ErrBlank.
	ErrNoCandidates = fmt.Errorf("%w: no candidates", ErrBlank)
	// ErrEmptySupport is returned when nothing may stand in a blank.
	ErrEmptySupport = errors.New("no token may fill the blank")
	// ErrFewWords is returned for a text with fewer words than are to be masked.
	ErrFewWords = errors.New("too few words")
	// ErrStart is returned for a filling that chains cannot begin with.
	ErrStart = errors.New("bad start")
	// ErrOption is returned for an option out of its range.
	ErrOption = errors.New("bad option")
)

// A LengthError is a text of more pieces than the model takes, where LongError
// refuses such texts. It wraps mlm.ErrTooLong.
type LengthError struct {
	Pieces int // of the text with its longest filling, special tokens included
	Limit  int // the most pieces that the model takes
}

// Error says what is wrong and what helps.
func (e *LengthError) Error() string {
	return fmt.Sprintf("%v: %d pieces with the special tokens, the model takes %d; "+
		"split the text, or let the model see a part of it", mlm.ErrTooLong, e.Pieces, e.Limit)
}

// Unwrap returns the sentinel.
func (e *LengthError) Unwrap() error { return mlm.ErrTooLong }

// A TextError is bad input at a place in a text.
type TextError struct {
	Offset int    // byte offset into the text, −1 where no single place is to blame
	Msg    string // what is wrong there and what to do about it
	Err    error  // a sentinel
}

// Error says what is wrong, where, and what helps.
func (e *TextError) Error() string {
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
func (e *TextError) Unwrap() error { return e.Err }
