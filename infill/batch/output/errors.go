package output

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of opening an output.
var (
	// ErrExists: the output is there, and neither resumed nor overwritten.
	ErrExists = errors.New("the output exists")
	// ErrIsInput: the run would write over its own input.
	ErrIsInput = errors.New("the output is the input itself")
	// ErrManifest: the manifest is missing or damaged, or its name is taken.
	ErrManifest = errors.New("no usable manifest")
	// ErrMismatch: the output was made from something else.
	ErrMismatch = errors.New("the output does not belong to this run")
	// errLocked: another process is writing the output.
	errLocked = errors.New("the output is in use")
	// ErrJoin: the outputs are not the shards of one run, or not all of them.
	ErrJoin = errors.New("nothing was joined")
)

// An ExistsError is an output that is there. It wraps ErrExists.
type ExistsError struct {
	Path string
	// Link says that a link of this name leads to a file that is not there. Otherwise modes Resume
	// and Force go on.
	Link bool
	// Join says that shards were to be joined to it. That cannot be resumed, so only Force goes on.
	Join bool
}

// Error says what is wrong and what helps.
func (e *ExistsError) Error() string {
	if e.Link {
		return fmt.Sprintf("%v: %s, a link to a file that is not there; name another", ErrExists, e.Path)
	}
	if e.Join {
		return fmt.Sprintf("%v: %s; overwrite it, or name another", ErrExists, e.Path)
	}
	return fmt.Sprintf("%v: %s; resume it, overwrite it, or name another", ErrExists, e.Path)
}

// Unwrap returns the sentinel.
func (e *ExistsError) Unwrap() error { return ErrExists }

// moveAway is the remedy for a file in the place of the manifest.
const moveAway = "move it away, or name another output"

// A ManifestError is a manifest that cannot be used. It wraps ErrManifest.
type ManifestError struct {
	Path    string // of the manifest
	Problem string // what is wrong, and what to do
	Force   bool   // mode Force goes on
}

// Error says what is wrong and what helps.
func (e *ManifestError) Error() string {
	return fmt.Sprintf("%v: %s %s", ErrManifest, e.Path, e.Problem)
}

// Unwrap returns the sentinel.
func (e *ManifestError) Unwrap() error { return ErrManifest }

// A MismatchError is an output that was made from something else, or is not a shard of the same run
// as another. It wraps ErrMismatch, or ErrJoin.
type MismatchError struct {
	Differences []Difference
	// Path and Other are the outputs that were to be joined, whose values Is and Was are; "" for an
	// output that was to go on.
	Path, Other string
}

// A Difference is what was another for the output than it is for this run.
type Difference struct {
	What    string // the name of a setting, or version, the input
	Setting bool   // What is a setting
	Was, Is string // "" for none
}

// Error says what is wrong and what helps.
func (e *MismatchError) Error() string { return e.Spell(func(name string) string { return name }) }

// Spell is the message with settings as a function spells them.
func (e *MismatchError) Spell(spell func(name string) string) string {
	var parts []string
	for _, d := range e.Differences {
		what, was, is := d.What, orNone(d.Was), orNone(d.Is)
		if d.Setting {
			what = spell(what)
		}
		if e.Path == "" {
			parts = append(parts, fmt.Sprintf("%s was %s, is %s", what, was, is))
		} else {
			parts = append(parts, fmt.Sprintf("%s is %s in %s, and %s in %s", what, is, e.Path, was,
				e.Other))
		}
	}
	remedy := "give what the first run had, or name another output"
	if e.Path != "" {
		remedy = "join shards of one run only"
	}
	return fmt.Sprintf("%v: %s; %s", e.Unwrap(), strings.Join(parts, "; "), remedy)
}

// Unwrap returns the sentinel.
func (e *MismatchError) Unwrap() error {
	if e.Path != "" {
		return ErrJoin
	}
	return ErrMismatch
}

// orNone is a value in words.
func orNone[T ~string | ~[]byte](v T) string {
	if len(v) == 0 {
		return "none"
	}
	return string(v)
}
