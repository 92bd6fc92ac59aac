package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/mlm"
	"infill/mlm/device/known"
	"infill/models"
	"infill/models/hub"
	"infill/samplers"
)

const completionDescription = "" +
	`Prints a script for the shell, made of the same definitions as --help. It completes commands,
flags, the words that a flag takes, and files.`

// shellNames are the shells that there are scripts for.
var shellNames = []string{"bash", "zsh", "fish"}

func completionCommand(std stdio) *cli.Command {
	shells := map[string]func(io.Writer, *cli.App) error{
		"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion,
	}
	return &cli.Command{
		Name:        "completion",
		Usage:       "a script that completes command lines in bash, zsh or fish",
		ArgsUsage:   strings.Join(shellNames, "|"),
		Description: completionDescription,
		Action: func(c *cli.Context) error {
			write, ok := shells[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return usagef("name a shell: infill completion bash, zsh or fish")
			}
			return write(std.out, newApp(std))
		},
	}
}

func versionCommand(std stdio) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Action: func(*cli.Context) error {
			_, err := fmt.Fprintf(std.out, "infill version %s\n", version())
			return err
		},
	}
}

// eachCommand visits the commands of an app, path first: "", "fill", "model info".
func eachCommand(app *cli.App, do func(path string, cmds []*cli.Command, flags []*option)) {
	var walk func(path string, cmds []*cli.Command, flags []cli.Flag)
	walk = func(path string, cmds []*cli.Command, flags []cli.Flag) {
		var own []*option
		for _, f := range flags {
			if o, ok := f.(*option); ok {
				own = append(own, o)
			}
		}
		do(path, visible(cmds), own)
		for _, c := range visible(cmds) {
			walk(strings.TrimSpace(path+" "+c.Name), c.Subcommands, c.Flags)
		}
	}
	walk("", app.Commands, app.Flags)
}

// valuesOf are the words that a flag takes. A flag with more may take a path, too.
func valuesOf(f *option) (words []string, more bool) {
	switch f.name {
	case "sampler":
		return samplers.Names(), false
	case "device":
		words = append(words, mlm.AutoDevice)
		for _, d := range known.All("") {
			words = append(words, d.Name)
		}
		return words, false
	case "model":
		return modelNames(), true
	}
	return f.value.Choices, false
}

// modelNames are those of the models that are part of the program or in the cache.
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
		if cache.State(m) == hub.Present {
			names = append(names, name)
		}
	}
	return names
}

// argumentsOf are words that a command takes as arguments.
func argumentsOf(path string) []string {
	switch path {
	case "completion":
		return slices.Clone(shellNames)
	case "model info", "model save", "model verify":
		return modelNames()
	case "model pull":
		var names []string
		for _, m := range hub.Catalogue() {
			names = append(names, m.Name)
		}
		return names
	}
	return nil
}

// bashCompletion has a case for each command, and one for each flag that takes words of a list.
func bashCompletion(w io.Writer, app *cli.App) error {
	var commands, values strings.Builder
	var paths []string
	eachCommand(app, func(path string, cmds []*cli.Command, flags []*option) {
		args, words := argumentsOf(path), []string{"--help"}
		for _, c := range cmds {
			args = append(args, c.Name)
		}
		for _, f := range flags {
			for _, n := range f.Names() {
				words = append(words, dashes(n))
			}
		}
		fmt.Fprintf(&commands, "    %q) args=%q words=%q ;;\n", path, strings.Join(args, " "),
			strings.Join(words, " "))
		paths = append(paths, fmt.Sprintf("%q", path))
		for _, f := range flags {
			if words, more := valuesOf(f); len(words) > 0 {
				fmt.Fprintf(&values, "    %q) values=%q", path+" "+dashes(f.name), strings.Join(words, " "))
				if more {
					values.WriteString(" files=1")
				}
				values.WriteString(" ;;\n")
			}
		}
	})
	_, err := fmt.Fprintf(w, `# bash completion of infill. Made by: infill completion bash
_infill() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  local path="" word args="" words="" values="" files=""
  if [[ $cur == "=" ]]; then # --flag=value is three words
    cur=""
  elif [[ $prev == "=" ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "${path:+$path }$word" in
    %s) path="${path:+$path }$word" ;;
    esac
  done
  case "$path $prev" in
%s  esac
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$cur"))
    if [[ -n $files ]]; then
      COMPREPLY+=($(compgen -f -- "$cur"))
    fi
    return
  fi
  case "$path" in
%s  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$args" -- "$cur") $(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _infill infill
`, strings.Join(paths[1:], "|"), values.String(), commands.String())
	return err
}

// zshCompletion lets zsh run the script of bash.
func zshCompletion(w io.Writer, app *cli.App) error {
	if _, err := io.WriteString(w, "#compdef infill\n# Made by: infill completion zsh\n"+
		"autoload -U +X bashcompinit && bashcompinit\n"); err != nil {
		return err
	}
	return bashCompletion(w, app)
}

// fishCompletion has a line for each command and each flag.
func fishCompletion(w io.Writer, app *cli.App) error {
	var b strings.Builder
	b.WriteString("# fish completion of infill. Made by: infill completion fish\n")
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	eachCommand(app, func(path string, cmds []*cli.Command, flags []*option) {
		on := "__fish_use_subcommand"
		names := strings.Fields(path)
		for i, n := range names {
			see := "__fish_seen_subcommand_from " + n
			if i == 0 {
				on = see
			} else {
				on += "; and " + see
			}
		}
		for _, c := range cmds {
			fmt.Fprintf(&b, "complete -c infill -n %s -a %s -d %s\n", quote(on), c.Name, quote(c.Usage))
		}
		for _, w := range argumentsOf(path) {
			fmt.Fprintf(&b, "complete -c infill -n %s -a %s\n", quote(on), w)
		}
		for _, f := range flags {
			_, usage := placeholder(f)
			fmt.Fprintf(&b, "complete -c infill -n %s -l %s", quote(on), f.name)
			if f.alias != "" {
				fmt.Fprintf(&b, " -s %s", f.alias)
			}
			if f.TakesValue() {
				b.WriteString(" -r")
			}
			if words, more := valuesOf(f); len(words) > 0 {
				if !more {
					b.WriteString(" -f")
				}
				fmt.Fprintf(&b, " -a %s", quote(strings.Join(words, " ")))
			}
			fmt.Fprintf(&b, " -d %s\n", quote(usage))
		}
	})
	_, err := io.WriteString(w, b.String())
	return err
}
