package infill

import (
	"errors"
	"fmt"

	"infill/mlm"
)

// Sentinels for what callers branch on; test with errors.Is.
var (
	// ErrUnfilled is returned for a blank in a text that is to be complete. It
	// wraps ErrBlank.
	ErrUnfilled = fmt.Errorf("%w: it is not filled in", ErrBlank)
	// ErrNoCandidates is returned where nothing is to be ranked. It wraps ErrBlank.
	ErrNoCandidates = fmt.Errorf("%w: no candidates", ErrBlank)
	// ErrEmptySupport is returned when nothing may stand in a blank.
	ErrEmptySupport = errors.New("no token may fill the blank")
	// ErrStart is returned for a filling that chains cannot begin with.
	ErrStart = errors.New("bad start")
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
