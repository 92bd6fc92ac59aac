package cmdline

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Complete is what may stand in the place of the last of some words, a line each, with what it is
// after a tab. values are the words that a flag takes, and arguments those that a command takes, by
// its whole name.
func Complete(root *cli.Command, words []string, values func(*Option) []string,
	arguments func(command string) []string) string {
	if n := len(words) - 1; n < 0 || words[n] == "=" {
		words = append(words[:max(n, 0):max(n, 0)], "")
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "=" })
	last := words[len(words)-1]
	line := &CommandLine{Command: root}
	line.find(words[:len(words)-1])
	if slices.Contains(words, "--") {
		return "" // after it all are arguments
	}
	var out []string
	flag, _, joined := strings.Cut(last, "=")
	if !joined && len(words) > 1 {
		flag = words[len(words)-2]
	}
	f := Of(line.Command, strings.TrimLeft(flag, "-"))
	switch {
	case IsFlag(flag) && f != nil && f.TakesValue():
		for _, w := range values(f) {
			if joined {
				w = flag + "=" + w
			}
			out = append(out, w)
		}
	case strings.HasPrefix(last, "-"):
		out = append(out, "--help\tshow help")
		for _, f := range line.Command.Flags {
			for _, name := range f.Names() {
				out = append(out, dashes(name)+"\t"+usageOf(f))
			}
		}
	default:
		for _, c := range line.Command.Subcommands {
			out = append(out, c.Name+"\t"+c.Usage)
		}
		out = append(out, arguments(line.Command.HelpName)...)
	}
	return strings.Join(out, "\n") + "\n"
}
