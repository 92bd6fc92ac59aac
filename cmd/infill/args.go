package main

import (
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/internal/nearest"
)

// flagLike is what an argument must look like to be taken for a flag; texts
// that begin with a dash ("- [MASK] said", "-5 degrees") are not.
var flagLike = regexp.MustCompile(`(?s)^--?[A-Za-z][A-Za-z0-9_-]*(=.*)?$`)

// An invocation is what was typed. Package cli would take flags after the first argument for texts.
type invocation struct {
	command *cli.Command
	names   []string // of the command, after the program's
	given   []given
	rest    []string // the arguments
	help    bool     // is asked for
}

// A given is a flag, as it was typed, and its value.
type given struct {
	*option
	as, value string
}

// parse finds the command of a command line and gives its flags their values. They may stand
// anywhere before a lone "--". A command that has commands gives help.
func parse(root *cli.Command, args []string) (*invocation, error) {
	for len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	line := &invocation{command: root}
	if err := line.sort(line.find(asFill(root, args))); err != nil {
		return nil, err
	}
	if len(line.command.Subcommands) > 0 {
		line.help = true
		rest := line.find(line.rest) // of the command after --help
		if len(rest) > 0 && len(line.command.Subcommands) > 0 {
			return nil, unknownCommand(line.command, rest[0])
		}
	}
	if line.help {
		return line, nil
	}
	for _, g := range line.given {
		g.typed = g.as
		if err := g.Set(g.value); err != nil {
			return nil, usagef("invalid value %q for flag %s: %v", g.value,
				dashes(strings.TrimLeft(g.as, "-")), err)
		}
	}
	return line, nil
}

// find goes to the command that the first arguments name, and returns the others.
func (l *invocation) find(args []string) []string {
	for len(args) > 0 {
		c := l.command.Command(args[0])
		if c == nil {
			break
		}
		l.command, l.names, args = c, append(l.names, c.Name), args[1:]
	}
	return args
}

// sort parts flags from arguments. An unknown flag is an error, so that none is ever swallowed.
func (l *invocation) sort(args []string) error {
	for len(args) > 0 {
		a := detached(l.command, args[0])
		args = args[1:]
		if a == "--" {
			l.rest = append(l.rest, args...)
			break
		}
		if !flagLike.MatchString(a) {
			l.rest = append(l.rest, a)
			continue
		}
		as, value, hasValue := strings.Cut(a, "=")
		name := strings.TrimLeft(as, "-")
		f := optionOf(l.command, name)
		switch {
		case name == "help" || name == "h":
			l.help = true
			continue
		case len(l.names) == 0 && (name == "version" || name == "v"):
			l.find([]string{"version"})
			continue
		case f == nil:
			return unknownFlag(l.command, as)
		case hasValue:
		case f.IsBoolFlag():
			value = "true"
		case len(args) == 0:
			return usagef("flag %s needs a value (%s --help)", a, l.command.HelpName)
		default:
			value, args = args[0], args[1:]
		}
		l.given = append(l.given, given{f, as, value})
	}
	return nil
}

// optionOf is a command's flag of a name, nil for none.
func optionOf(c *cli.Command, name string) *option {
	for _, f := range c.Flags {
		if o := f.(*option); name != "" && (o.name == name || o.alias == name) {
			return o
		}
	}
	return nil
}

// unknownFlag is the error of a flag, as it was typed, that a command does not have.
func unknownFlag(c *cli.Command, typed string) error {
	var names []string
	for _, f := range c.Flags {
		names = append(names, f.Names()...)
	}
	name := strings.TrimLeft(typed, "-")
	if s := foreignOf(c, name); s != "" {
		return usagef("%s has no flag %s; type %s", c.HelpName, typed, s)
	}
	// One letter is as near to every other.
	if s := nearest.Name(name, names); s != "" && len(name) > 1 {
		return usagef("%s has no flag %s; did you mean %s?", c.HelpName, typed, dashes(s))
	}
	return usagef("%s has no flag %s (%[1]s --help lists them; a text that begins with a dash goes "+
		"after --)", c.HelpName, typed)
}

// unknownCommand is the error of a name that is not that of a command.
func unknownCommand(of *cli.Command, name string) error {
	var names []string
	for _, c := range of.Subcommands {
		names = append(names, c.Name)
	}
	says := "known: " + strings.Join(names, ", ")
	if s := foreignCommands[strings.ToLower(name)]; s != "" && of.HelpName == "infill" {
		return usagef("unknown command %q; type %s", name, s)
	}
	if s := nearest.Name(name, names); s != "" {
		says = "did you mean \"" + s + "\"?"
	}
	return usagef("unknown command %q; %s (%s --help)", name, says, of.HelpName)
}
