package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
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
			_, err := io.WriteString(std.Out, script)
			return err
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
			_, err := fmt.Fprintf(std.Out, "infill version %s\n", version())
			return err
		},
	}
}
