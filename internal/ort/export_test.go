package ort

// Tests outside the package tell these errors apart.
var (
	ErrModel = errModel
	ErrRun   = errRun
)
