package ort

// The names of errors in tests, some of which stand outside the package.
var (
	ErrModel = errModel
	ErrRun   = errRun
)
