package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill/settings"
	"infill/internal/nearest"
)

// An option is a flag of the command line. It implements the interfaces of package cli for values
// of package settings.
type option struct {
	name, alias string
	usage       string
	group       string // of help
	arg         string // what help calls its value, "" for a name by its kind
	typed       string // as the command line has it, "" if it has not
	env         string // its environment variable, "" for none
	value       *settings.Value
	fromEnv     bool // it has its value from there
	writes      bool // it names a file that is written, and is never empty
}

// newOption makes a flag; the value of its variable is the default.
func newOption(name, usage string, v *settings.Value) *option {
	return &option{name: name, usage: usage, env: settings.EnvName(name), value: v}
}

func boolFlag(name, usage string, p *bool) *option {
	return newOption(name, usage, settings.BoolValue(p))
}

func textFlag(name, usage string, p *string) *option {
	return newOption(name, usage, settings.TextValue(p))
}

// writeFlag names a file that is written.
func writeFlag(name, usage string, p *string) *option {
	o := textFlag(name, usage, p)
	o.writes = true
	return o
}

func listFlag(name, usage string, p *[]string) *option {
	return newOption(name, usage, settings.ListValue(p))
}

// wholeFlag takes whole numbers from min to max.
func wholeFlag[I ~int | ~int64 | ~uint64](name, usage string, p *I, min, max int64) *option {
	return newOption(name, usage, settings.WholeValue(p, min, max))
}

// wordFlag takes one of some words, the first unless the variable has another.
func wordFlag(name, usage string, p *string, words ...string) *option {
	if *p == "" {
		*p = words[0]
	}
	return newOption(name, usage, settings.WordValue(p, words...))
}

// jsonFlag and progressFlag are the flags that several commands have.
func jsonFlag(p *bool) *option { return boolFlag("json", "print one JSON object a line", p) }

func progressFlag(p *string) *option {
	return wordFlag("progress", "auto|json|none", p, "auto", "json", "none")
}

// settingFlags are the flags of a table of settings. usage has what the command says in place of
// a setting's own text.
func settingFlags[T any](table []*settings.Setting[T], v *T, usage map[string]string) []*option {
	var flags []*option
	for _, s := range table {
		flags = append(flags, settingFlag(s, v, usage))
	}
	return flags
}

func settingFlag[T any](s *settings.Setting[T], v *T, usage map[string]string) *option {
	text, own := usage[s.Name]
	if !own {
		text = s.Doc + s.FlagDoc
	}
	o := newOption(s.Name, text, s.Value(v))
	o.arg = s.Arg
	o.group = groupsOfSettings[s.Group]
	return o
}

// ownEnv gives flags variables of their own, named after a command, because the usual ones mean
// something else in the commands that fill.
func ownEnv(command string, flags []*option, names ...string) []*option {
	for _, f := range flags {
		if slices.Contains(names, f.name) {
			f.env = settings.EnvName(command + "-" + f.name)
		}
	}
	return flags
}

// without leaves out the flags of some names.
func without(flags []*option, names ...string) []*option {
	var rest []*option
	for _, f := range flags {
		if !slices.Contains(names, f.name) {
			rest = append(rest, f)
		}
	}
	return rest
}

// join is one list of flags for package cli.
func join(lists ...[]*option) []cli.Flag {
	var all []cli.Flag
	for _, l := range lists {
		for _, f := range l {
			all = append(all, f)
		}
	}
	return all
}

// spelling is the flag as it was typed, or its name.
func (f *option) spelling() string {
	if f.typed != "" {
		return f.typed
	}
	return dashes(f.name)
}

// Set is the parser's way to the value.
func (f *option) Set(text string) error {
	if f.writes && text == "" { // else standard output, or nothing, would have what a file was to have
		return errors.New("want the name of a file (maybe a variable of the shell is not set)")
	}
	err := f.value.Set(text)
	if err == nil {
		return nil
	}
	if n := nearest.Name(text, f.value.Choices); n != "" {
		return fmt.Errorf("%w; did you mean %q?", err, n)
	}
	return err
}

// IsBoolFlag says that the name alone means true.
func (f *option) IsBoolFlag() bool { return f.value.Kind == settings.Bool }

// Apply reads the environment, unless the command line has the flag, and adds it to a set.
func (f *option) Apply(set *flag.FlagSet) error {
	if text := os.Getenv(f.env); f.env != "" && f.typed == "" && text != "" {
		if err := f.Set(text); err != nil {
			return fmt.Errorf("could not parse %q from environment variable %q as value for flag %s: %w",
				text, f.env, f.name, err)
		}
		f.fromEnv = true
	}
	for _, name := range f.Names() {
		set.Var(f, name, f.usage)
	}
	return nil
}

// goesWith refuses flags of the command line that nothing would come of without another. A value
// of the environment is there for many commands, and may well idle; so may one that asks for
// nothing.
func goesWith(c *cli.Context, other string, names ...string) error {
	for _, f := range c.Command.Flags {
		o, ok := f.(*option)
		if ok && o.typed != "" && slices.Contains(names, o.name) &&
			!slices.Contains([]string{"", "0", "false"}, o.value.String()) {
			return usagef("%s goes with %s", o.spelling(), other)
		}
	}
	return nil
}

// Names are the flag's name and its short form.
func (f *option) Names() []string {
	if f.alias != "" {
		return []string{f.name, f.alias}
	}
	return []string{f.name}
}

// IsSet says that the command line or the environment has the flag.
func (f *option) IsSet() bool { return f.typed != "" || f.fromEnv }

// String is the flag's line of help: its names, and after a tab what it is for.
func (f *option) String() string {
	if f.value == nil { // package flag asks a zero value
		return ""
	}
	names, usage, _ := strings.Cut(cli.FlagStringer(f), "\t")
	arg := cmp.Or(f.arg, argsOfKinds[f.value.Kind])
	return strings.ReplaceAll(names, " value", " "+arg) + "\t" + usage
}

// argsOfKinds are what help calls values that have no name of their own.
var argsOfKinds = map[settings.Kind]string{settings.Whole: "N", settings.Number: "X",
	settings.Choice: "WORD", settings.Text: "TEXT", settings.List: "TEXT"}

// The other methods are for help.

func (f *option) TakesValue() bool { return !f.IsBoolFlag() }

func (f *option) GetUsage() string { return f.usage }

func (f *option) GetValue() string { return f.value.String() }

func (f *option) GetDefaultText() string {
	text := f.value.String()
	switch {
	case f.value.Kind == settings.List, f.value.Kind == settings.Bool:
		return ""
	case f.value.Kind == settings.Text && text != "":
		return strconv.Quote(text)
	}
	return text
}

// GetEnvVars are the variables whose names do not follow from the flag's.
func (f *option) GetEnvVars() []string {
	if f.env == "" || f.env == settings.EnvName(f.name) {
		return nil
	}
	return []string{f.env}
}

func (f *option) IsVisible() bool { return true }
