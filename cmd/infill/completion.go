package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/internal/program"
	"infill/mlm"
	"infill/models"
	"infill/models/hub"
	"infill/samplers"
)

// completes is the last argument of a command line that a shell asks to complete.
const completes = "--generate-bash-completion"

// The scripts ask the program for words. Without any, shells take names of files.
const (
	bashScript = `# Made by: infill completion bash
_infill() {
  local IFS=$'\n' cur=${COMP_WORDS[COMP_CWORD]}
  [[ $cur == "=" ]] && cur="" # --flag=value is three words
  COMPREPLY=($(compgen -W "$("$1" "${COMP_WORDS[@]:1:COMP_CWORD}" ` + completes +
		` 2>/dev/null | cut -f1)" -- "$cur"))
}
complete -o bashdefault -o default -F _infill infill
`
	zshScript = "#compdef infill\nautoload -U +X bashcompinit && bashcompinit\n" + bashScript

	fishScript = "# Made by: infill completion fish\ncomplete -c infill -a " +
		"'(infill (commandline -opc)[2..] (commandline -ct) " + completes + " 2>/dev/null)'\n"
)

func completionCommand(std console.IO) *cli.Command {
	return &cli.Command{
		Name: "completion",
		UsageText: `source <(infill completion bash)
infill completion zsh > ~/.zsh/completions/_infill
infill completion fish > ~/.config/fish/completions/infill.fish`,
		Usage:     "a script that completes command lines in bash, zsh or fish",
		ArgsUsage: "bash|zsh|fish",
		Description: `Prints a script for the shell, which asks the program for commands, flags, and
the words that a flag takes. It completes files, too.`,
		Action: func(c *cli.Context) error {
			script := map[string]string{"bash": bashScript, "zsh": zshScript,
				"fish": fishScript}[c.Args().First()]
			if script == "" || c.NArg() != 1 {
				return usagef("name a shell: infill completion bash, zsh or fish")
			}
			return printText(std.Out, script)
		},
	}
}

// valuesOf are the words that a flag takes.
func valuesOf(f *cmdline.Option) (words []string) {
	switch f.Name {
	case "sampler":
		return samplers.Names()
	case "device":
		words = append(words, mlm.AutoDevice)
		for _, d := range devices.About("") {
			words = append(words, d.Name)
		}
		return words
	case "model":
		return modelNames()
	}
	return f.Value.Choices
}

// modelNames lists the models that are part of the program or in the cache.
func modelNames() (names []string) {
	for _, m := range models.All() {
		names = append(names, m.Name)
	}
	cache, err := hub.UserCache()
	if err != nil {
		return names
	}
	for _, m := range cache.Models() {
		name := m.String()
		if strings.Contains(name, "@") || slices.Contains(names, name) {
			continue // bash cuts words at @
		}
		if cache.Has(m) {
			names = append(names, name)
		}
	}
	return names
}

// argumentsOf are words that a command takes as arguments.
func argumentsOf(command string) (words []string) {
	switch command {
	case "infill completion":
		return []string{"bash", "zsh", "fish"}
	case "infill model info", "infill model save":
		return modelNames()
	case "infill model verify":
		return modelNames()[len(models.All()):]
	case "infill model pull":
		for _, m := range hub.Catalogue() {
			words = append(words, m.Name)
		}
	}
	return words
}

func versionCommand(std console.IO) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Action: func(*cli.Context) error {
			return printText(std.Out, "infill version "+version()+"\n")
		},
	}
}

func manCommand(std console.IO, root *cli.Command) *cli.Command {
	return &cli.Command{
		Name:      "man",
		UsageText: `infill man > infill.1`,
		Usage:     "the manual page, for man -l",
		Action:    func(*cli.Context) error { return printText(std.Out, manPage(root)) },
	}
}

// exitCodes are what the program ends with.
var exitCodes = []struct {
	code  int
	means string
}{
	{program.OK, "everything is done"},
	{program.SomeFailed, "the run finished, but some lines failed"},
	{program.Usage, "wrong usage or bad input"},
	{program.Trouble, "trouble with the model, the runtime or a file"},
	{program.Stopped, "stopped early, can be resumed"},
	{program.Interrupted, "interrupted"},
}

// manualColumns fit a page of man.
const manualColumns = 72

// manPage is the manual page: what --help all prints for every command, line by line.
func manPage(root *cli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".\\\" Made by: infill man\n.TH INFILL 1\n.SH NAME\n%s\n",
		roff(root.Name+" - "+root.Usage))
	cmdline.Each(root, func(c *cli.Command) {
		help := cmdline.Help(c, manualColumns, true, headings)
		fmt.Fprintf(&b, ".SH %s\n.nf\n%s", roff(c.HelpName), roff(help))
	})
	b.WriteString(".SH EXIT STATUS\n.nf\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "%d  %s\n", e.code, e.means)
	}
	return b.String()
}

// roff is a text as pages have it: nothing of it is taken for a command.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "'", `\(aq`, "^", `\(ha`,
		"~", `\(ti`, "\n.", "\n\\&.").Replace(s)
}
