package cmdline

import (
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/internal/nearest"
	"infill/internal/program"
)

// flagLike is what an argument must look like to be taken for a flag; texts
// that begin with a dash ("- [MASK] said", "-5 degrees") are not.
var flagLike = regexp.MustCompile(`(?s)^--?[A-Za-z][A-Za-z0-9_-]*(=.*)?$`)

// attached is a number at the flag of one letter that takes one, as in -n5.
var attached = regexp.MustCompile(`^-n(\d+)$`)

// detached puts = between them, where the command has the flag.
func detached(c *cli.Command, arg string) string {
	if m := attached.FindStringSubmatch(arg); m != nil && Of(c, "n") != nil {
		return "-n=" + m[1]
	}
	return arg
}

// IsFlag reports whether an argument looks like a flag.
func IsFlag(arg string) bool { return flagLike.MatchString(arg) }

// A CommandLine is what was typed, in the order in which package cli reads it: that would take
// flags after the first argument for texts.
type CommandLine struct {
	Command *cli.Command
	Names   []string // of the command, after the program's
	Flags   []string // each as --NAME=VALUE
	Rest    []string // the arguments
	Help    bool     // is asked for
	All     bool     // of the help, its rare flags too
}

// A Hinter says what to type in place of a flag, or without dashes of a command, that c does not
// have; "" if it does not know.
type Hinter func(c *cli.Command, typed string) string

// Parse finds the command of a command line, and sorts flags from arguments. Flags may stand
// anywhere before a lone "--". A command that has commands gives help.
func Parse(root *cli.Command, args []string, hint Hinter) (*CommandLine, error) {
	for len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	line := &CommandLine{Command: root}
	if err := line.sort(line.find(args), hint); err != nil {
		return nil, err
	}
	if len(line.Command.Subcommands) > 0 {
		line.Help = true
		rest := line.find(line.Rest) // of the command after --help
		if len(rest) > 0 && len(line.Command.Subcommands) > 0 {
			return nil, unknownCommand(line.Command, rest[0], hint)
		}
	}
	return line, nil
}

// find goes to the command that the first arguments name, and returns the others.
func (l *CommandLine) find(args []string) []string {
	for len(args) > 0 {
		c := l.Command.Command(args[0])
		if c == nil {
			break
		}
		l.Command, l.Names, args = c, append(l.Names, c.Name), args[1:]
	}
	return args
}

// sort parts flags from arguments. An unknown flag is an error, so that none is ever swallowed.
func (l *CommandLine) sort(args []string, hint Hinter) error {
	for len(args) > 0 {
		a := detached(l.Command, args[0])
		args = args[1:]
		if a == "--" {
			l.Rest = append(l.Rest, args...)
			break
		}
		if !IsFlag(a) {
			l.Rest = append(l.Rest, a)
			continue
		}
		as, value, hasValue := strings.Cut(a, "=")
		name := strings.TrimLeft(as, "-")
		f := Of(l.Command, name)
		switch {
		case name == "help" || name == "h":
			l.Help, l.All = true, l.All || value == "all"
			if len(args) > 0 && args[0] == "all" {
				l.All, args = true, args[1:]
			}
			continue
		case len(l.Names) == 0 && (name == "version" || name == "v"):
			l.find([]string{"version"})
			continue
		case f == nil && len(l.Rest) > 0 && len(l.Command.Subcommands) > 0:
			return unknownCommand(l.Command, l.Rest[0], hint)
		case f == nil:
			return unknownFlag(l.Command, as, hint)
		case hasValue:
		case f.IsBoolFlag():
			value = "true"
		case len(args) == 0:
			return program.Usagef("flag %s needs a value (%s --help)", a, l.Command.HelpName)
		default:
			value, args = args[0], args[1:]
		}
		other := hint(l.Command, as) // who calls a file so
		if f.Name == "input" && other != "" && !strings.Contains(value, "=") {
			return program.Usagef("%s %s: it gives an input of the model's graph a number, NAME=VALUE; "+
				"else type %s", as, value, other)
		}
		f.Typed, l.Flags = as, append(l.Flags, dashes(f.Name)+"="+value)
	}
	return nil
}

// refused is what package flag says of a value.
var refused = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (.*?) for (?:flag )?-([a-z-]+): `)

// Spelt is an error of package cli that names a flag as it was typed.
func Spelt(c *cli.Command, err error) string {
	text := err.Error()
	if m := refused.FindStringSubmatch(text); m != nil {
		text = "invalid value " + m[1] + " for flag " +
			dashes(strings.TrimLeft(Of(c, m[2]).Typed, "-")) + ": " + text[len(m[0]):]
	}
	return text
}

// Each visits a command and its commands, and gives them their whole names.
func Each(c *cli.Command, do func(*cli.Command)) {
	if c.HelpName == "" {
		c.HelpName = c.Name
	}
	do(c)
	for _, sub := range c.Subcommands {
		sub.HelpName = c.HelpName + " " + sub.Name
		Each(sub, do)
	}
}

// Of is a command's flag of a name, nil for none.
func Of(c *cli.Command, name string) *Option {
	for _, f := range c.Flags {
		if o := f.(*Option); name != "" && (o.Name == name || o.Alias == name) {
			return o
		}
	}
	return nil
}

// unknownFlag is the error of a flag, as it was typed, that a command does not have.
func unknownFlag(c *cli.Command, typed string, hint Hinter) error {
	var names []string
	for _, f := range c.Flags {
		names = append(names, f.Names()...)
	}
	name := strings.TrimLeft(typed, "-")
	if s := hint(c, typed); s != "" {
		return program.Usagef("%s has no flag %s; type %s", c.HelpName, typed, s)
	}
	// One letter is as near to every other.
	if s := nearest.Name(name, names); s != "" && len(name) > 1 {
		return program.Usagef("%s has no flag %s; did you mean %s?", c.HelpName, typed, dashes(s))
	}
	return program.Usagef("%s has no flag %s (%[1]s --help all lists them; a text that begins with a "+
		"dash goes after --)", c.HelpName, typed)
}

// unknownCommand is the error of a name that is not that of a command.
func unknownCommand(of *cli.Command, name string, hint Hinter) error {
	var names []string
	for _, c := range of.Subcommands {
		names = append(names, c.Name)
	}
	says := "known: " + strings.Join(names, ", ")
	if s := hint(of, name); s != "" {
		return program.Usagef("unknown command %q; type %s", name, s)
	}
	if s := nearest.Name(name, names); s != "" {
		says = "did you mean \"" + s + "\"?"
	}
	return program.Usagef("unknown command %q; %s (%s --help)", name, says, of.HelpName)
}
