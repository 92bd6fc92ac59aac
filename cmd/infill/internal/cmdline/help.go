package cmdline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// helpTemplate is the help of a command. Its UsageText has examples.
const helpTemplate = `{{.HelpName}} - {{wrap .Usage (offset .HelpName 3)}}{{with .UsageText}}

EXAMPLES:
  {{wrap . 2}}{{end}}

USAGE:
  {{.HelpName}} [FLAGS]{{with trim .ArgsUsage}} {{.}}{{end}}{{with .Description}}

  {{wrap (flow .) 2}}{{end}}{{with .VisibleCommands}}

COMMANDS:{{range .}}
  {{printf "%-15s" .Name}}{{wrap .Usage 17}}{{end}}{{end}}{{range headings .Flags}}

{{.Name}}:{{range .Flags}}
{{left .}}{{wrap (usage .) 26}}{{end}}{{end}}
{{with others .}}
{{$.HelpName}} --help all lists {{.}} more.
{{else}}
Flags can be set in the environment: --no-repeat by INFILL_NO_REPEAT=text, one with
a name in brackets by that name.
{{end}}`

// brokenLine is where a text goes on in a line that is not indented.
var brokenLine = regexp.MustCompile(`(\S)\n(\S)`)

// Help is the help of a command, in lines of at most some columns. Unless all is wanted, a command
// with common flags has no others there. groups has groups of flags with their headings.
func Help(c *cli.Command, columns int, all bool, groups [][2]string) string {
	left := 0 // flags that are not shown
	if !all && slices.ContainsFunc(c.Flags, isCommon) {
		short := *c
		short.Flags = slices.DeleteFunc(slices.Clone(c.Flags), func(f cli.Flag) bool {
			return !isCommon(f)
		})
		left, c = len(c.Flags)-len(short.Flags), &short
	}
	var b strings.Builder
	cli.HelpPrinterCustom(&b, helpTemplate, c, map[string]any{
		"wrapAt": func() int { return columns },
		"flow":   func(s string) string { return brokenLine.ReplaceAllString(s, "$1 $2") },
		"headings": func(flags []cli.Flag) []heading {
			if left > 0 {
				return []heading{{Name: "Flags", Flags: flags}}
			}
			return headings(flags, groups)
		},
		"others": func(*cli.Command) int { return left },
		"left":   leftOf,
		"usage":  usageOf,
	})
	return b.String()
}

func isCommon(f cli.Flag) bool { return f.(*Option).common }

// A heading is a group of flags that a command has.
type heading struct {
	Name  string
	Flags []cli.Flag
}

// headings are the groups of flags that there are, in the order of help.
func headings(flags []cli.Flag, groups [][2]string) []heading {
	var out []heading
	for _, g := range groups {
		h := heading{Name: g[1]}
		for _, f := range flags {
			if f.(*Option).Group == g[0] {
				h.Flags = append(h.Flags, f)
			}
		}
		if h.Flags != nil {
			out = append(out, h)
		}
	}
	return out
}

// leftOf are the names of a flag with what it takes, in a column of their own. Wide ones have a
// line to themselves.
func leftOf(f cli.Flag) string {
	names, _ := f.(*Option).Columns()
	if len(names) > 22 {
		return "  " + names + "\n" + strings.Repeat(" ", 26)
	}
	return fmt.Sprintf("  %-24s", names)
}

// usageOf is what a flag is for.
func usageOf(f cli.Flag) string {
	_, usage := f.(*Option).Columns()
	return usage
}

// dashes is a flag as it is typed.
func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

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
	case IsFlag(flag) && f != nil && !f.IsBoolFlag():
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
