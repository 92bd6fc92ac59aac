package samplers

import (
	"errors"
	"fmt"
)

var (
	// ErrDomain marks a domain that makes no sense.
	ErrDomain = errors.New("bad domain")
	// ErrState marks a state outside the domain, or a start of probability 0.
	ErrState = errors.New("bad state")
	// ErrParam marks a parameter out of range.
	ErrParam = errors.New("bad sampler parameter")
	// ErrUnknown marks an unknown sampler, parameter or choice; the error is
	// an *UnknownError.
	ErrUnknown = errors.New("unknown name")
	// ErrUnsupported marks a target without an ability that the sampler needs;
	// the error is an *AbilityError.
	ErrUnsupported = errors.New("target does not support this sampler")
)

// UnknownError names what was not found and the nearest known name.
type UnknownError struct {
	What       string // "sampler", "parameter of dmala", …
	Name       string
	Suggestion string   // nearest known name, "" when none is near
	Known      []string // all known names
	Having     []string // for a parameter: the samplers that have it under this name
}

// Error says what is wrong and what helps.
func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.What, e.Name)
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
func (e *UnknownError) Is(target error) bool { return target == ErrUnknown }

// TooManyError says that a sampler would need more energies per step than is
// sensible, and how to make them fewer.
type TooManyError struct {
	Sampler string
	Count   float64 // energies per chain and step
	Limit   int
	Remedy  string
}

// Error says what is wrong and what helps.
func (e *TooManyError) Error() string {
	return fmt.Sprintf("sampler %s would need %.0f energies per chain and step, more than %d; %s",
		e.Sampler, e.Count, e.Limit, e.Remedy)
}

// Is makes errors.Is(err, ErrUnsupported) true.
func (e *TooManyError) Is(target error) bool { return target == ErrUnsupported }

// AbilityError says which ability a target lacks.
type AbilityError struct {
	Sampler string
	Needs   string
	Remedy  string
}

// Error says what is wrong and what helps.
func (e *AbilityError) Error() string {
	s := fmt.Sprintf("sampler %s needs %s, which this target does not give", e.Sampler, e.Needs)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Is makes errors.Is(err, ErrUnsupported) true.
func (e *AbilityError) Is(target error) bool { return target == ErrUnsupported }

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
