package mlm

import "infill/mlm/internal/source"

// Tests outside the package tell these errors apart.
var (
	ErrNoModel   = source.ErrNoModel
	ErrNotMasked = errNotMasked
	ErrOption    = errOption
)
