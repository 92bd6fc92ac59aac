package samplers

import (
	"strings"

	"infill/internal/nearest"
)

// unknown makes an *UnknownError with the nearest known name.
func unknown(what, name string, known []string) *UnknownError {
	return &UnknownError{What: what, Name: name, Suggestion: nearest.Name(name, known), Known: known}
}

func joinNames(names []string) string { return strings.Join(names, ", ") }
