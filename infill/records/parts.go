package records

import "errors"

// errParts is returned by a maker of records that was not filled in.
var errParts = errors.New("a maker of records lacks a part")
