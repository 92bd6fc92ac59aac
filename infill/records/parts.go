package records

import "errors"

// ErrParts is returned by a maker of records that was not filled in.
var ErrParts = errors.New("a maker of records lacks a part")
