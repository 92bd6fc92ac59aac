package settings

import (
	"errors"
	"fmt"
	"strings"

	"infill/infill/text"
)

// ErrSetting is the kind of every [*Error]: a setting that makes no sense.
var ErrSetting = errors.New("bad setting")

// An Error says what is wrong with a setting. It names settings by their names, and
// [Error.Spell] spells them as the readers of a message do.
type Error struct {
	Name    string   // of the setting, "" if the cause names it
	Given   string   // the value, "" if the value alone is not to blame
	Want    string   // what a value must be, "" likewise
	Without []string // settings that exclude this one
	Needs   []string // settings, one of them needed by this one, maybe with a value: NAME VALUE
	Err     error    // the cause, nil for none

	field string // the setting's spelling where it was set, "" for Name
}

// maxGiven bounds how much of a value an error repeats, in bytes.
const maxGiven = 60

// Error is the message with the spelling of the source. It names one kind: a cause that is an
// text.ErrOption says no more than that the setting is bad.
func (e *Error) Error() string {
	line := e.Spell(func(name string) string { return name })
	if errors.Is(e.Err, text.ErrOption) {
		line = strings.Replace(line, text.ErrOption.Error()+": ", "", 1)
	}
	return ErrSetting.Error() + ": " + line
}

// asJSON spells a setting that was set in JSON.
func (e *Error) asJSON(name string) string {
	if name != e.Name {
		name = strings.ReplaceAll(name, "-", "_")
	} else {
		name = e.field
	}
	return `"` + name + `"`
}

// Spell is the message with settings as a function spells them. Those that were set in JSON are
// spelt as they stand there.
func (e *Error) Spell(spell func(name string) string) string {
	if e.field != "" {
		spell = e.asJSON
	}
	all := func(names []string) string {
		out := make([]string, len(names))
		for i, n := range names {
			name, value, valued := strings.Cut(n, " ")
			if out[i] = spell(name); valued {
				out[i] += " " + value
			}
		}
		return strings.Join(out, " or ")
	}
	switch {
	case len(e.Without) > 0:
		return fmt.Sprintf("%s and %s: give one of them", spell(e.Name), all(e.Without))
	case len(e.Needs) > 0:
		return fmt.Sprintf("%s goes with %s: %v", spell(e.Name), all(e.Needs), e.Err)
	case e.Want != "":
		given := e.Given
		if len(given) > maxGiven {
			given = strings.ToValidUTF8(given[:maxGiven], "") + "…"
		}
		return fmt.Sprintf("%s is %s, want %s", spell(e.Name), given, e.Want)
	case e.Name != "":
		return fmt.Sprintf("%s: %v", spell(e.Name), e.Err)
	}
	return e.Err.Error()
}

// Is says that the error is an [ErrSetting].
func (e *Error) Is(target error) bool { return target == ErrSetting }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }
