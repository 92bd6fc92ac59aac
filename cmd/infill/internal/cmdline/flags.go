// Package cmdline has the flags of commands, made of settings, and reads them off a command line,
// where they may stand after the arguments. It prints help, and completes what is typed.
package cmdline

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill/settings"
	"infill/internal/nearest"
	"infill/internal/program"
)

// An Option is a flag of the command line. It implements the interfaces of package cli for values
// of package settings.
type Option struct {
	Name, Alias string
	Usage       string
	Group       string // of help
	common      bool   // stands in a short help
	Arg         string // what help calls its value, "" for a name by its kind
	Typed       string // as the command line has it, "" if it has not
	Env         string // its environment variable, "" for none
	Value       *settings.Value
	fromEnv     bool // it has its value from there
	writes      bool // it names a file that is written, and is never empty
}

// New makes a flag; the value of its variable is the default.
func New(name, usage string, v *settings.Value) *Option {
	return &Option{Name: name, Usage: usage, Env: settings.EnvName(name), Value: v}
}

// Flag makes one that is true or false, takes any text, or may be repeated, for a list of texts.
func Flag[T bool | string | []string](name, usage string, p *T) *Option {
	return New(name, usage, settings.ValueOf(p))
}

// Write names a file that is written.
func Write(name, usage string, p *string) *Option {
	o := Flag(name, usage, p)
	o.writes = true
	return o
}

// Whole takes whole numbers from min to max.
func Whole[I ~int | ~int64 | ~uint64](name, usage string, p *I, min, max int64) *Option {
	return New(name, usage, settings.WholeValue(p, min, max))
}

// Word takes one of some words, the first unless the variable has another. A usage that ends with a
// colon gets the list of them.
func Word(name, usage string, p *string, words ...string) *Option {
	if *p == "" {
		*p = words[0]
	}
	if strings.HasSuffix(usage, ":") {
		usage += " " + strings.Join(words, ", ")
	}
	return New(name, usage, settings.WordValue(p, words...))
}

// Flags are flags of one command.
type Flags []*Option

// Settings are the flags of a table of settings, in its groups. usage has what the command says in
// place of a setting's own text.
func Settings[T any](table []*settings.Setting[T], v *T, usage map[string]string) Flags {
	var flags Flags
	for _, s := range table {
		text, own := usage[s.Name]
		if !own {
			text = s.Doc + s.FlagDoc
		}
		o := New(s.Name, text, s.Value(v))
		o.Arg, o.Group = s.Arg, s.Group
		flags = append(flags, o)
	}
	return flags
}

// Under puts the flags that have no group yet into one.
func (flags Flags) Under(group string) Flags {
	for _, f := range flags {
		f.Group = cmp.Or(f.Group, group)
	}
	return flags
}

// OwnEnv gives flags of some names variables of their own, named after a command, because the usual
// ones mean something else in the commands that fill.
func (flags Flags) OwnEnv(command string, names ...string) Flags {
	for _, f := range flags {
		if slices.Contains(names, f.Name) {
			f.Env = settings.EnvName(command + "-" + f.Name)
		}
	}
	return flags
}

// Without leaves out the flags of some names.
func (flags Flags) Without(names ...string) Flags {
	var rest Flags
	for _, f := range flags {
		if !slices.Contains(names, f.Name) {
			rest = append(rest, f)
		}
	}
	return rest
}

// Common marks the flags that most users need. A command with such flags has a short help.
func (flags Flags) Common(names ...string) Flags {
	for _, f := range flags {
		f.common = f.common || slices.Contains(names, f.Name)
	}
	return flags
}

// Join is one list of flags for package cli.
func Join(lists ...Flags) []cli.Flag {
	var all []cli.Flag
	for _, l := range lists {
		for _, f := range l {
			all = append(all, f)
		}
	}
	return all
}

// Spelling is the flag as it was typed, or its name.
func (f *Option) Spelling() string {
	if f.Typed != "" {
		return f.Typed
	}
	return dashes(f.Name)
}

// replaced has, for values that earlier builds took, those to give now.
var replaced = map[string]string{"bf16": "int8"}

// Set is the parser's way to the value.
func (f *Option) Set(text string) error {
	if f.writes && text == "" { // else standard output, or nothing, would have what a file was to have
		return errors.New("want the name of a file (maybe a variable of the shell is not set)")
	}
	err := f.Value.Set(text)
	if err == nil {
		return nil
	}
	if n := cmp.Or(replaced[text], nearest.Name(text, f.Value.Choices)); n != "" {
		return fmt.Errorf("%w; did you mean %q?", err, n)
	}
	return err
}

// IsBoolFlag says that the name alone means true.
func (f *Option) IsBoolFlag() bool { return f.Value.Kind == reflect.Bool }

// Apply reads the environment, unless the command line has the flag, and adds it to a set.
func (f *Option) Apply(set *flag.FlagSet) error {
	if text := os.Getenv(f.Env); f.Env != "" && f.Typed == "" && text != "" {
		if err := f.Set(text); err != nil {
			return fmt.Errorf("could not parse %q from environment variable %q as value for flag %s: %w",
				text, f.Env, f.Name, err)
		}
		f.fromEnv = true
	}
	set.Var(f, f.Name, f.Usage) // as Parse spells it
	return nil
}

// GoesWith refuses flags of the command line that nothing would come of Without another. A value of
// the environment is there for many commands, and may well idle; so may one that asks for nothing.
func GoesWith(c *cli.Context, other string, names ...string) error {
	for _, f := range c.Command.Flags {
		o, ok := f.(*Option)
		if ok && o.Typed != "" && slices.Contains(names, o.Name) &&
			!slices.Contains([]string{"", "0", "false"}, o.Value.String()) {
			return program.Usagef("%s goes with %s", o.Spelling(), other)
		}
	}
	return nil
}

// Names are the flag's name and its short form.
func (f *Option) Names() []string {
	if f.Alias != "" {
		return []string{f.Name, f.Alias}
	}
	return []string{f.Name}
}

// IsSet says that the command line or the environment has the flag.
func (f *Option) IsSet() bool { return f.Typed != "" || f.fromEnv }

// String is the flag's value, for package flag.
func (f *Option) String() string { return f.Value.String() }

// argsOfKinds are what help calls values that have no name of their own.
var argsOfKinds = map[reflect.Kind]string{reflect.Int: "N", reflect.Float64: "X",
	reflect.String: "TEXT", reflect.Slice: "TEXT"}

// Columns are the two parts of a flag's help: its names with its value, and its use with its
// default and a variable whose name does not follow from the flag's.
func (f *Option) Columns() (names, usage string) {
	arg := cmp.Or(f.Arg, argsOfKinds[f.Value.Kind])
	if f.Arg == "" && f.Value.Choices != nil {
		arg = "WORD"
	}
	usage = f.Usage
	if before, rest, ok := strings.Cut(usage, "`"); ok { // a usage may name what it takes
		var after string
		arg, after, _ = strings.Cut(rest, "`")
		usage = before + arg + after
	}
	list := f.Names()
	for i, name := range list {
		list[i] = strings.TrimSpace(dashes(name) + " " + arg)
	}
	switch text := f.Value.String(); {
	case text == "" || f.Value.Kind == reflect.Slice || f.IsBoolFlag():
	case f.Value.Kind == reflect.String && f.Value.Choices == nil:
		usage += " (default: " + strconv.Quote(text) + ")"
	default:
		usage += " (default: " + text + ")"
	}
	if f.Env != "" && f.Env != settings.EnvName(f.Name) {
		usage += " [$" + f.Env + "]"
	}
	return strings.Join(list, ", "), usage
}
