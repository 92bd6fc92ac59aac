// Package settings is the one definition of what a user may choose: how blanks are filled
// ([Fill]) and how a model is opened ([Model]).
//
// A table has one entry per setting. Command-line flags, environment variables, fields of JSON
// lines, the manifest of an output and the tables of the documents come from it. A setting has one
// name, such as "no-repeat"; [Setting.Field] and [Setting.Env] derive the other spellings.
//
// To add a setting, add one entry to a table.
package settings

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// A Setting is one choice within a T, which holds the values of all settings of a table.
type Setting[T any] struct {
	Name    string // lower-case words joined by dashes: no-repeat
	Doc     string // one line for help and documents
	FlagDoc string // what help adds to it: what the flag takes and a line does not
	Arg     string // what help calls a value: FILE, WORDS; "" for none in particular
	Line    bool   // a line of a JSON file may choose it for itself
	Group   string // "words", "results", or "" for what the table is about
	record  bool   // it decides results, so that the manifest of an output has it

	not    string // the commands that have it not: "cloze compare"
	server bool   // a server has it, for all requests
	masked bool   // it has no meaning for texts with blanks
	// sampling says that only sampling has it: whoever chooses one wants to sample.
	sampling bool
	file     func(*T) string // the file or folder that it names now, "" for none
	folder   bool            // it names a folder

	family *family[T]               // the choice that it is part of, nil for a choice of its own
	field  string                   // its JSON field, "" to derive it from Name
	bind   func(*T) *Value          // access to the value within a T
	form   func(*T) (string, error) // the manifest's form, nil for the text of the value
}

// The groups of settings. Help shows those of a group together.
const (
	words   = "words"   // that may go into blanks
	results = "results" // which there are, and how they are written
)

// isNotOf reports whether a command has not the setting.
func (s *Setting[T]) isNotOf(command string) bool {
	return slices.Contains(strings.Fields(s.not), command)
}

// A Table has settings in the order of help and documents.
type Table[T any] []*Setting[T]

// NotOf lists the settings that a command has not: augment, cloze, compare or score.
func (t Table[T]) NotOf(command string) []string {
	var names []string
	for _, s := range t {
		if s.isNotOf(command) {
			names = append(names, s.Name)
		}
	}
	return names
}

// OfServer lists the settings that a server has for all of its requests.
func (t Table[T]) OfServer() Table[T] {
	return slices.DeleteFunc(slices.Clone(t), func(s *Setting[T]) bool { return !s.server })
}

// A family is several settings that are one choice, such as a sampler and its parameters. A line
// with one of them starts without what was chosen for the others.
type family[T any] struct{ reset func(*T) }

// Field is the setting's name in JSON: no_repeat.
func (s *Setting[T]) Field() string {
	if s.field != "" {
		return s.field
	}
	return strings.ReplaceAll(s.Name, "-", "_")
}

// Env is the setting's environment variable: INFILL_NO_REPEAT.
func (s *Setting[T]) Env() string { return EnvName(s.Name) }

// EnvName is the environment variable that belongs to a name.
func EnvName(name string) string {
	return "INFILL_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// File is the file that the setting names in v, "" for none. stream says that it may be "-", for
// standard input, as a folder may not.
func (s *Setting[T]) File(v *T) (path string, stream bool) {
	if s.file == nil {
		return "", false
	}
	return s.file(v), !s.folder
}

// Value gives access to the setting within v. A change of one is a change of the other.
func (s *Setting[T]) Value(v *T) *Value { return s.bind(v) }

// Set puts the value that a text stands for into v. The error is an [*Error].
func (s *Setting[T]) Set(v *T, text string) error {
	if err := s.bind(v).Set(text); err != nil {
		return &Error{Name: s.Name, Given: text, Want: s.bind(v).Want()}
	}
	return nil
}

// SetJSON puts a JSON value into v; null leaves v as it is. The error is an [*Error].
func (s *Setting[T]) SetJSON(v *T, raw json.RawMessage) error {
	if string(raw) == "null" {
		return nil
	}
	if err := s.bind(v).setJSON(raw); err != nil {
		return &Error{Name: s.Name, Given: string(raw), Want: s.bind(v).WantJSON(), field: s.Field()}
	}
	return nil
}

// Recorded is the setting as a manifest has it. The error is of a file that cannot be read.
func (s *Setting[T]) Recorded(v *T) (string, error) {
	if s.form != nil {
		return s.form(v)
	}
	return s.bind(v).String(), nil
}

// Recorded is the part of a manifest that the settings make: values by their names.
func (t Table[T]) Recorded(v *T) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range t {
		if !s.record {
			continue
		}
		text, err := s.Recorded(v)
		if err != nil {
			return nil, &Error{Name: s.Name, Err: err}
		}
		out[s.Name] = text
	}
	return out, nil
}

// Find returns the setting of a name, nil for an unknown one.
func (t Table[T]) Find(name string) *Setting[T] {
	for _, s := range t {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// choose puts the fields of a JSON line that are settings into v. The error is an [*Error].
func (t Table[T]) choose(v *T, fields iter.Seq2[string, json.RawMessage]) error {
	for name, raw := range fields {
		if s := t.OfLine(name); s != nil {
			if err := s.SetJSON(v, raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// Has reports whether a field of a JSON line chooses a setting.
func (t Table[T]) Has(field string) bool { return t.OfLine(field) != nil }

// OfLine returns the setting that a field of a JSON line chooses, nil for any other field.
func (t Table[T]) OfLine(field string) *Setting[T] {
	for _, s := range t {
		if s.Line && s.Field() == field {
			return s
		}
	}
	return nil
}
