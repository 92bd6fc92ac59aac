package samplers

import (
	"strings"

	"infill/internal/nearest"
)

// unknown makes an *unknownError with the nearest known name.
func unknown(what, name string, known []string) *unknownError {
	return &unknownError{What: what, Name: name, Suggestion: nearest.Name(name, known), Known: known}
}

func joinNames(names []string) string { return strings.Join(names, ", ") }
