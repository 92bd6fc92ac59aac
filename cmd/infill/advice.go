package main

import (
	"errors"

	"infill/infill"
	"infill/mlm"
)

// advice says which flags or commands help against an error of the libraries,
// which know neither. It is empty where the error says all.
func advice(err error) string {
	var long *infill.LengthError
	switch {
	case errors.Is(err, infill.ErrEmptySupport):
		return " (flags that take fillings away: --allow, --ban, --vocab, --min-distance, --no-repeat)"
	case errors.Is(err, infill.ErrUnfilled):
		return ": infill fill"
	case errors.As(err, &long):
		return ": --long window"
	case errors.Is(err, mlm.ErrNotFinite):
		return "; check the model with: infill model check"
	}
	return ""
}
