package infill

import (
	"fmt"

	"infill/infill/internal/space"
	"infill/infill/internal/text"
	"infill/mlm"
)

// Sentinels for what callers branch on; test with errors.Is.
var (
	// ErrEmpty is returned for a text without any character but white space.
	ErrEmpty = text.ErrEmpty
	// ErrNoBlank is returned for a text without a blank.
	ErrNoBlank = text.ErrNoBlank
	// ErrBlank is returned for a blank that cannot be understood.
	ErrBlank = text.ErrBlank
	// ErrManyWords is returned for a blank with more alternatives than a text may hold. It wraps
	// ErrBlank. A list of allowed words has room for them.
	ErrManyWords = text.ErrManyWords
	// ErrFewWords is returned for a text with fewer words than are to be masked.
	ErrFewWords = text.ErrFewWords
	// ErrSpan is returned for a span that is not one of its text, or has nothing of what is wanted.
	ErrSpan = text.ErrSpan
	// ErrOption is returned for an option out of its range.
	ErrOption = text.ErrOption
	// ErrEmptySupport is returned when nothing may stand in a blank.
	ErrEmptySupport = space.ErrEmptySupport
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

// A TextError is bad input at a place in a text. Offset is the byte, −1 where no single place is to
// blame. Msg says what is wrong there and what to do about it. Err is a sentinel, which it wraps.
type TextError = text.Error
