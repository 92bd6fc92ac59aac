package infill

import (
	"fmt"

	"infill/mlm"
)

// A LengthError is a text of more pieces than the model takes, where RefuseLong
// refuses such texts. It wraps mlm.ErrTooLong.
type LengthError struct {
	Pieces int // of the text with its longest filling, special tokens included
	Limit  int // the most pieces that the model takes
}

// Error names the fault and a remedy.
func (e *LengthError) Error() string {
	return fmt.Sprintf("%v: %d pieces with the special tokens, the model takes %d; "+
		"split the text, or let the model see a part of it", mlm.ErrTooLong, e.Pieces, e.Limit)
}

// Unwrap returns the sentinel.
func (e *LengthError) Unwrap() error { return mlm.ErrTooLong }
