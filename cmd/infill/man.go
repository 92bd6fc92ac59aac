package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
)

func manCommand(std console.IO) *cli.Command {
	return &cli.Command{
		Name:      "man",
		UsageText: `infill man > infill.1`,
		Usage:     "the manual page, for man -l",
		Action:    func(c *cli.Context) error { return printText(std.Out, manPage(c.App)) },
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

// manualColumns fit a page of man.
const manualColumns = 72

// manPage is the manual page: what --help all prints for every command, line by line.
func manPage(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".\\\" Made by: infill man\n.TH INFILL 1\n.SH NAME\n%s\n",
		roff(app.Name+" - "+app.Usage))
	eachCommand(app, func(c *cli.Command) {
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

// rootOf is the program as a command.
func rootOf(app *cli.App) *cli.Command {
	return &cli.Command{HelpName: app.Name, Usage: app.Usage, UsageText: app.UsageText,
		ArgsUsage: "COMMAND", Description: app.Description, Subcommands: app.Commands}
}

// eachCommand visits the program and its commands.
func eachCommand(app *cli.App, do func(*cli.Command)) {
	var walk func(*cli.Command)
	walk = func(c *cli.Command) {
		do(c)
		for _, sub := range c.Subcommands {
			walk(sub)
		}
	}
	walk(rootOf(app))
}

func printText(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}
