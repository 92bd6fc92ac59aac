package mlm

import "infill/mlm/internal/source"

// FixtureFiles are a fixture of package onnxgrad with a vocabulary of its size.
var FixtureFiles = fixtureFiles

// Tests outside the package tell these errors apart.
var (
	ErrNoModel   = source.ErrNoModel
	ErrNotMasked = errNotMasked
	ErrOption    = errOption
)
