package samplers

import (
	"errors"
	"fmt"
	"strings"

	"infill/internal/nearest"
)

var (
	ErrDomain  = errors.New("bad domain")            // a domain that makes no sense
	ErrState   = errors.New("bad state")             // outside the domain, or a start of probability 0
	ErrParam   = errors.New("bad sampler parameter") // out of range; often a *ParamError
	ErrUnknown = errors.New("unknown name")          // of a sampler, parameter or choice
	// ErrUnsupported marks a target without an ability that the sampler needs, and ErrTooMany, which
	// is one of these, a sampler that would need more energies per step than is sensible.
	ErrUnsupported = errors.New("target does not support this sampler")
	ErrTooMany     = fmt.Errorf("%w: too many energies per step", ErrUnsupported)
)

// unknownError names what was not found and the nearest known name.
type unknownError struct {
	What       string // "sampler", "parameter of dmala", …
	Name       string
	Suggestion string   // nearest known name, "" when none is near
	Remedy     string   // what to do in place of taking another name, "" for nothing
	Known      []string // all known names
	Having     []string // for a parameter: the samplers that have it under this name
}

// Error says what is wrong and what helps.
func (e *unknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.What, e.Name)
	if e.Remedy != "" {
		return s + "; " + e.Remedy
	}
	if e.Suggestion != "" {
		return s + fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	s += fmt.Sprintf("; known: %s", joinNames(e.Known))
	if len(e.Having) > 0 {
		s += fmt.Sprintf("; samplers that have it: %s", joinNames(e.Having))
	}
	return s
}

// Is makes errors.Is(err, ErrUnknown) true.
func (e *unknownError) Is(target error) bool { return target == ErrUnknown }

// abilityError says which ability a target lacks.
type abilityError struct {
	Sampler string
	Needs   string
	Remedy  string
}

// Error says what is wrong and what helps.
func (e *abilityError) Error() string {
	s := fmt.Sprintf("sampler %s needs %s, which this target does not give", e.Sampler, e.Needs)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Is makes errors.Is(err, ErrUnsupported) true.
func (e *abilityError) Is(target error) bool { return target == ErrUnsupported }

// ParamError says which parameter is out of range and what is allowed.
type ParamError struct {
	Sampler, Param string
	Value          string
	Want           string
}

// Error says what is wrong and what helps.
func (e *ParamError) Error() string {
	return fmt.Sprintf("sampler %s: %s is %s, want %s", e.Sampler, e.Param, e.Value, e.Want)
}

// Is makes errors.Is(err, ErrParam) true.
func (e *ParamError) Is(target error) bool { return target == ErrParam }

// unknown makes an *unknownError with the nearest known name.
func unknown(what, name string, known []string) *unknownError {
	return &unknownError{What: what, Name: name, Suggestion: nearest.Name(name, known), Known: known}
}

func joinNames(names []string) string { return strings.Join(names, ", ") }
