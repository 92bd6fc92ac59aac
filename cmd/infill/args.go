package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/internal/nearest"
)

// flagLike is what an argument must look like to be taken for a flag; texts
// that begin with a dash ("- [MASK] said", "-5 degrees") are not.
var flagLike = regexp.MustCompile(`(?s)^--?[A-Za-z][A-Za-z0-9_-]*(=.*)?$`)

// reorder moves the flags of a command line before its arguments, since the
// flag parser stops at the first argument and would take later flags for
// texts. Everything after a lone "--" is an argument. An unknown flag is an
// error here, so that none is ever swallowed.
func reorder(app *cli.App, args []string) ([]string, error) {
	var out []string
	for len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	args = asFill(app, args)
	cmds, flags, path, takesArgs := app.Commands, app.Flags, "infill", false
	for len(args) > 0 && !flagLike.MatchString(args[0]) {
		c := find(cmds, args[0])
		if c == nil {
			break
		}
		out, args = append(out, args[0]), args[1:]
		cmds, flags, path, takesArgs = c.Subcommands, c.Flags, path+" "+c.Name, c.ArgsUsage != "COMMAND"
	}
	var front, rest []string
	help := false
	for i := 0; i < len(args); i++ {
		a := detached(flags, args[i])
		if a == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if !flagLike.MatchString(a) {
			rest = append(rest, a)
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		help = help || name == "help" || name == "h"
		if name == "help" || name == "h" || path == "infill" && (name == "version" || name == "v") {
			front = append(front, a)
			continue
		}
		f := findFlag(flags, name)
		if f == nil {
			typed, _, _ := strings.Cut(a, "=")
			return nil, unknownFlag(flags, path, typed)
		}
		withoutEnv(f)
		if o, ok := f.(*option); ok {
			o.typed, _, _ = strings.Cut(a, "=")
		}
		front = append(front, a)
		if takesValue(f) && !hasValue {
			if i+1 == len(args) {
				return nil, usagef("flag %s needs a value (%s --help)", a, path)
			}
			i++
			// Joined, so that a value that starts with a dash stays its flag's.
			front[len(front)-1] = a + "=" + args[i]
		}
	}
	if help && len(rest) > 0 && len(cmds) > 0 && !takesArgs {
		if find(cmds, rest[0]) == nil {
			return nil, unknownCommand(cmds, path, rest[0])
		}
		return reorder(app, slices.Concat(out, rest, []string{"--help"})) // of the command after it
	}
	if help && path != "infill" {
		// The parser takes an argument beside --help for the name of a topic.
		return append(out, "--help"), nil
	}
	out = append(out, front...)
	if len(rest) > 0 {
		// A mistyped subcommand must stay visible to the parser as a name.
		if len(cmds) == 0 {
			out = append(out, "--")
		}
		out = append(out, rest...)
	}
	return out, nil
}

func find(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

func findFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

// withoutEnv forgets a flag's environment variable, since the command line has
// the flag: a bad value that does not count must not be an error.
func withoutEnv(f cli.Flag) {
	if o, ok := f.(*option); ok {
		o.env = ""
	}
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return !ok || d.TakesValue()
}

// unknownFlag is the error of a flag, as it was typed, that a command does not have.
func unknownFlag(flags []cli.Flag, path, typed string) error {
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	name := strings.TrimLeft(typed, "-")
	if s := foreignOf(flags, path, name); s != "" {
		return usagef("%s has no flag %s; type %s", path, typed, s)
	}
	// One letter is as near to every other.
	if s := nearest.Name(name, names); s != "" && len(name) > 1 {
		return usagef("%s has no flag %s; did you mean %s?", path, typed, dashes(s))
	}
	return usagef("%s has no flag %s (%s --help lists them; a text that begins with a dash goes "+
		"after --)", path, typed, path)
}
