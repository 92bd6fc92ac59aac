package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"infill/infill/settings"
)

// helpColumns is the widest line of help.
const helpColumns = 100

// The groups of flags, in the order of help.
const (
	groupFill     = "How blanks are filled"
	groupWords    = "What may go into blanks"
	groupOutput   = "What is printed, and where"
	groupMeasures = "What is measured"
	groupServer   = "Who is answered, and how much"
	groupModel    = "The model"
)

var groups = []string{groupFill, groupWords, groupMeasures, groupServer, groupOutput,
	groupModel, ""}

// groupsOfSettings are the headings of settings. Those of Main go where the command puts them.
var groupsOfSettings = map[settings.Group]string{
	settings.Words:   groupWords,
	settings.Results: groupOutput,
}

// group puts flags that have no group yet into one.
func group(name string, flags []*option) []*option {
	for _, f := range flags {
		if f.group == "" {
			f.group = name
		}
	}
	return flags
}

// examples are the command lines that help begins with, by the name of the command.
var examples = map[string][]string{
	"infill": {
		`infill fill "The [MASK] sat on the [MASK]."`,
		`infill batch sentences.txt -o filled.jsonl`,
		`infill score "The cat sat on the mat."`,
	},
	"infill fill": {
		`infill fill "The [MASK] sat on the [MASK]."`,
		`infill fill "The [MASK|red|green] car stopped." --json`,
		`infill fill "She lives in a small town." --mask-rate 0.3 -n 3 --seed 1`,
	},
	"infill batch": {
		`infill batch sentences.txt -o filled.jsonl`,
		`infill batch corpus.txt -o filled.jsonl --mask-rate 0.25 --seed 1`,
		`infill batch table.csv --text-field sentence -o filled.parquet --per filling`,
		`infill batch sentences.txt -o filled.jsonl --resume`,
		`infill batch sentences.txt -o part-0.jsonl --shard 0/8 --seed 1 --resume`,
		`infill batch --join part-*.jsonl -o filled.jsonl`,
	},
	"infill augment": {
		`infill augment reviews.csv --text-field review -o more.csv --originals`,
		`infill augment reviews.jsonl -o more.jsonl -n 3 --keep-file names.txt --max-drop 2`,
		`infill augment "The film was wonderful." --action insert`,
		`infill augment reviews.csv --text-field review -o more.csv --originals --resume`,
	},
	"infill score": {
		`infill score "The cat sat on the mat."`,
		`infill score "The [MASK] sat on the mat." --candidates cat,dog`,
		`infill score --file corpus.txt -o scores.jsonl`,
	},
	"infill compare": {
		`infill compare sentences.txt`,
		`infill compare sentences.txt --samplers gibbs,dmala --steps 20 --html report.html`,
		`infill compare corpus.txt --mask-rate 0.25 --reference books.txt`,
		`infill compare task.json --paper dlp --reference wiki103.5k.txt --reference tbc.5k.txt`,
	},
	"infill cloze": {
		`infill cloze sentences.txt`,
		`infill cloze sentences.txt --model small --model default --run greedy`,
		`infill cloze sentences.txt --adjacent --run fill --run "sampler=dmala steps=50"`,
	},
	"infill eval": {
		`infill eval filled.jsonl`,
		`infill eval filled.jsonl --reference books.txt --confidence`,
		`infill eval a.jsonl b.jsonl --html report.html`,
	},
	"infill tokenize": {`infill tokenize "The cat sat on the mat."`},
	"infill serve": {
		`infill serve`,
		`infill serve --model small --model bert=my-bert --addr 127.0.0.1:9000`,
		`infill serve --addr 0.0.0.0:8017 --api-key-file keys.txt`,
	},
	"infill samplers":    {`infill samplers`, `infill samplers dmala`},
	"infill model":       {`infill model list`, `infill model pull bert-base-uncased`},
	"infill model info":  {`infill model info`, `infill model info bert-base-uncased`},
	"infill model check": {`infill model check`},
	"infill model eval":  {`infill model eval --text corpus.txt`},
	"infill model pull": {`infill model pull answerdotai/ModernBERT-base`,
		`infill model pull bert-base-uncased`},
	"infill model verify": {`infill model verify --all`},
	"infill model save":   {`infill model save default ./english`},
	"infill doctor":       {`infill doctor`, `infill doctor --install`},
	"infill completion": {
		`source <(infill completion bash)`,
		`infill completion zsh > ~/.zsh/completions/_infill`,
		`infill completion fish > ~/.config/fish/completions/infill.fish`,
	},
	"infill man": {`infill man > infill.1`},
}

// printHelp is what package cli calls to print help.
func printHelp(w io.Writer, _ string, data any) {
	var b strings.Builder
	switch c := data.(type) {
	case *cli.App:
		writeHelp(&b, c.Name, c.Usage, "COMMAND", "", c.VisibleCommands(), c.VisibleFlags())
	case *cli.Command:
		writeHelp(&b, c.HelpName, c.Usage, c.ArgsUsage, c.Description, visible(c.Subcommands),
			c.VisibleFlags())
	}
	_, _ = io.WriteString(w, b.String()) // the writer of run keeps the error
}

func writeHelp(b *strings.Builder, name, usage, args, description string, cmds []*cli.Command,
	flags []cli.Flag) {
	b.WriteString(entry("", name+" - "+usage, 2))
	for i, example := range examples[name] {
		if i == 0 {
			b.WriteString("\nEXAMPLES:\n")
		}
		fmt.Fprintf(b, "  %s\n", example)
	}
	fmt.Fprintf(b, "\nUSAGE:\n  %s\n", strings.TrimSpace(name+" [FLAGS] "+args))
	if description != "" {
		b.WriteString("\n")
		for line := range strings.Lines(description + "\n") {
			text := strings.TrimLeft(line, " ")
			indent := 2 + len(line) - len(text)
			line = entry(strings.Repeat(" ", indent), text, indent+2)
			b.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
	}
	for i, c := range cmds {
		if i == 0 {
			b.WriteString("\nCOMMANDS:\n")
		}
		b.WriteString(entry(fmt.Sprintf("  %-12s", c.Name), c.Usage, 14))
	}
	grouped(flags, func(heading string, flags []cli.Flag) {
		fmt.Fprintf(b, "\n%s:\n", heading)
		for _, f := range flags {
			b.WriteString(flagHelp(f))
		}
	})
	b.WriteString("\n" + environment + "\n")
}

// environment says how flags are set without being typed.
const environment = "Flags can be set in the environment: --no-repeat by INFILL_NO_REPEAT=true, " +
	"one with\na name in brackets by that name."

// grouped visits the groups of flags that there are, in the order of help.
func grouped(flags []cli.Flag, do func(heading string, flags []cli.Flag)) {
	for _, g := range groups {
		var of []cli.Flag
		for _, f := range flags {
			if o, ok := f.(*option); ok && o.group == g || !ok && g == "" {
				of = append(of, f)
			}
		}
		if len(of) > 0 {
			do(cmp.Or(g, "Other flags"), of)
		}
	}
}

// flagHelp is the entry of a flag.
func flagHelp(f cli.Flag) string {
	const column = 26
	left, usage := flagTexts(f)
	left = "  " + left
	if utf8.RuneCountInString(left) > column-2 {
		return left + "\n" + entry(strings.Repeat(" ", column), usage, column)
	}
	return entry(fmt.Sprintf("%-*s", column, left), usage, column)
}

// flagTexts are the names of a flag with what it takes, and what it is for.
func flagTexts(f cli.Flag) (left, usage string) {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "", ""
	}
	arg, usage := placeholder(d)
	var names []string
	for _, n := range f.Names() {
		names = append([]string{dashes(n)}, names...)
	}
	left = strings.Join(names, ", ")
	if arg != "" {
		left += " " + arg
	}
	if o, ok := f.(*option); ok {
		if text := d.GetDefaultText(); text != "" && !o.IsBoolFlag() {
			usage += " (default:" + glue + text + ")"
		}
		if o.env != "" && o.env != settings.EnvName(o.name) {
			usage += " [" + o.env + "]"
		}
	}
	return left, usage
}

// placeholder is what help calls the value of a flag, and its text without backquotes.
func placeholder(f cli.DocGenerationFlag) (arg, usage string) {
	usage = f.GetUsage()
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		if name, after, ok := strings.Cut(rest, "`"); ok {
			return name, before + name + after
		}
	}
	o, ok := f.(*option)
	if !ok {
		return "", usage
	}
	switch {
	case o.value.Kind == settings.Bool:
		return "", usage
	case o.arg != "":
		return o.arg, usage
	}
	switch o.value.Kind {
	case settings.Whole:
		return "N", usage
	case settings.Number:
		return "X", usage
	case settings.Choice:
		return "WORD", usage
	}
	return "TEXT", usage
}

// dashes is a flag as it is typed.
func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// glue is a space at which no line is broken.
const glue = "\x00"

// entry is a text broken into lines. Those after the first are indented.
func entry(first, text string, indent int) string {
	var b strings.Builder
	b.WriteString(first)
	column, last := utf8.RuneCountInString(first), ""
	for i, word := range pieces(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && column+1+n > helpColumns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		// No space after a part of a long list.
		case i > 0 && (last == "|" || !strings.HasSuffix(last, "|")):
			b.WriteByte(' ')
			column++
		}
		b.WriteString(strings.ReplaceAll(word, glue, " "))
		column += n
		last = word
	}
	return b.String() + "\n"
}

// pieces are the words of a text. Long lists of words with bars between are broken at the bars.
func pieces(text string) []string {
	var out []string
	for _, word := range strings.Fields(text) {
		if len(word) > helpColumns/2 && strings.Contains(word, "|") {
			out = append(out, strings.SplitAfter(word, "|")...)
		} else {
			out = append(out, word)
		}
	}
	return out
}

func visible(cmds []*cli.Command) []*cli.Command {
	var out []*cli.Command
	for _, c := range cmds {
		if !c.Hidden {
			out = append(out, c)
		}
	}
	return out
}
