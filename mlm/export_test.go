package mlm

import "infill/mlm/internal/source"

// The names of errors in tests, some of which stand outside the package.
var (
	ErrNoModel   = source.ErrNoModel
	ErrNotMasked = errNotMasked
	ErrOption    = errOption
)
