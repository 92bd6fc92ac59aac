package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

func manCommand(std stdio) *cli.Command {
	return &cli.Command{
		Name:  "man",
		Usage: "the manual page, for man -l",
		Action: func(*cli.Context) error {
			_, err := io.WriteString(std.out, manPage(newApp(std)))
			return err
		},
	}
}

// exitCodes are what the program ends with.
var exitCodes = []struct {
	code  int
	means string
}{
	{exitOK, "everything is done"},
	{exitSomeFailed, "the run finished, but some lines failed"},
	{exitUsage, "wrong usage or bad input"},
	{exitTrouble, "trouble with the model, the runtime or a file"},
	{exitStopped, "stopped early, can be resumed"},
	{exitInterrupted, "interrupted"},
}

// manPage is the manual page, of what --help prints for every command.
func manPage(app *cli.App) string {
	var b strings.Builder
	b.WriteString(".\\\" Made by: infill man\n.nh\n.TH INFILL 1\n.SH NAME\n")
	fmt.Fprintf(&b, "infill \\- %s\n.SH SYNOPSIS\n\\fBinfill\\fP COMMAND [FLAGS] …\n",
		roff(app.Usage))
	writeExamples(&b, ".SH EXAMPLES", "infill")
	b.WriteString(".SH COMMANDS\n")
	commands := visible(app.Commands)
	for _, c := range commands {
		writeTerm(&b, c.Name, c.Usage)
	}
	for _, c := range commands {
		writeCommand(&b, "infill "+c.Name, c)
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range exitCodes {
		writeTerm(&b, fmt.Sprint(e.code), e.means)
	}
	fmt.Fprintf(&b, ".SH ENVIRONMENT\n%s\n", roff(strings.ReplaceAll(environment, "\n", " ")))
	return b.String()
}

// writeCommand writes the section of a command, and those of its subcommands.
func writeCommand(b *strings.Builder, path string, c *cli.Command) {
	fmt.Fprintf(b, ".SH %s\n%s\n.PP\n.EX\n%s\n.EE\n", roff(path), roff(c.Usage),
		roff(strings.TrimSpace(path+" [FLAGS] "+c.ArgsUsage)))
	if c.Description != "" {
		b.WriteString(".PP\n")
	}
	for line := range strings.Lines(c.Description) {
		if line = strings.TrimRight(line, " \n"); line == "" {
			b.WriteString(".PP\n")
		} else {
			b.WriteString(roff(line) + "\n")
		}
	}
	writeExamples(b, ".SS Examples", path)
	subcommands := visible(c.Subcommands)
	for i, sub := range subcommands {
		if i == 0 {
			b.WriteString(".SS Commands\n")
		}
		writeTerm(b, sub.Name, sub.Usage)
	}
	grouped(c.VisibleFlags(), func(heading string, flags []cli.Flag) {
		fmt.Fprintf(b, ".SS %s\n", roff(heading))
		for _, f := range flags {
			if o, ok := f.(*option); ok {
				o.original = o.value.String() // else known only once the command is run
			}
			left, usage := flagTexts(f)
			writeTerm(b, left, usage)
		}
	})
	for _, sub := range subcommands {
		writeCommand(b, path+" "+sub.Name, sub)
	}
}

func writeExamples(b *strings.Builder, heading, path string) {
	if len(examples[path]) == 0 {
		return
	}
	b.WriteString(heading + "\n.EX\n")
	for _, example := range examples[path] {
		b.WriteString(roff(example) + "\n")
	}
	b.WriteString(".EE\n")
}

// writeTerm writes a word or a flag, and under it what it means.
func writeTerm(b *strings.Builder, term, text string) {
	fmt.Fprintf(b, ".TP\n\\fB%s\\fP\n%s\n", roff(term), roff(text))
}

// roff is a line of text as pages have it: nothing of it is taken for a command, and long lists may
// be broken at their bars.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`,
		"|", `|\:`, glue, " ").Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
