// Command infill fills the blanks of sentences jointly with a masked language model: it searches
// for the best fillings, or draws them with a sampler.
//
//	infill fill "The [MASK] sat on the [MASK]."
//	infill batch sentences.txt -o filled.jsonl
//	infill score "The cat sat on the mat."
//	infill tokenize "The cat sat on the mat."
//	infill model info
//	infill serve
//	infill doctor
//
// Results go to standard output, everything else to standard error. Exit codes:
//
//   - 0: all done
//   - 1: finished, some lines failed
//   - 2: usage or bad input
//   - 3: model, runtime or file trouble
//   - 4: stopped early, resumable
//   - 130: interrupted
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"infill/internal/nearest"
	"infill/internal/program"
)

func main() {
	// A closed pipe is an error of the write, EPIPE, which ends the run quietly;
	// one on standard error ends nothing.
	signal.Ignore(syscall.SIGPIPE)
	log.SetOutput(io.Discard) // net/http would say there what a server does wrong
	ctx, stop := signals()
	code := run(ctx, stdio{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// stdio is what a command reads and writes.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, std stdio, args []string) int {
	app := newApp(std)
	app.Metadata = map[string]any{"args": args} // as typed, for the command that resumes
	args, err := reorder(app, args)
	if err == nil {
		help := &keeper{w: std.out}
		app.Writer = help
		err = app.RunContext(ctx, append([]string{app.Name}, args...))
		if err == nil {
			err = help.err
		}
	}
	code := exitCode(err)
	// Lines that failed were reported one by one; a reader that went away
	// (infill … | head) is not worth words.
	var said *saidError
	if err != nil && !errors.Is(err, errSomeFailed) && !errors.Is(err, syscall.EPIPE) &&
		!errors.As(err, &said) {
		fmt.Fprintf(std.err, "infill: %s\n", message(err))
	}
	return code
}

// A keeper remembers the first error of a writer, for package cli, which passes over it.
type keeper struct {
	w   io.Writer
	err error
}

func (k *keeper) Write(b []byte) (int, error) {
	n, err := k.w.Write(b)
	if k.err == nil {
		k.err = err
	}
	return n, err
}

func newApp(std stdio) *cli.App {
	app := &cli.App{
		Name: "infill",
		Usage: "fill the blanks of sentences jointly, diversely and with high " +
			"likelihood",
		Version:                   version(),
		HideHelpCommand:           true,
		Suggest:                   true,
		DisableSliceFlagSeparator: true,
		Reader:                    std.in,
		Writer:                    std.out,
		ErrWriter:                 std.err,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageErr,
		Commands: []*cli.Command{
			fillCommand(std),
			batchCommand(std),
			augmentCommand(std),
			scoreCommand(std),
			tokenizeCommand(std),
			serveCommand(std),
			modelCommand(std),
			evalCommand(std),
			clozeCommand(std),
			compareCommand(std),
			samplersCommand(std),
			doctorCommand(std),
			versionCommand(std),
			completionCommand(std),
			manCommand(std),
		},
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return unknownCommand(c.App.Commands, "infill", name)
			}
			return cli.ShowAppHelp(c)
		},
	}
	setUsageErr(app.Commands)
	return app
}

func setUsageErr(cmds []*cli.Command) {
	for _, c := range cmds {
		c.OnUsageError = usageErr
		c.HideHelpCommand = true
		setUsageErr(c.Subcommands)
	}
}

// flagName finds how the flag package names a flag in its messages.
var flagName = regexp.MustCompile(`for (?:flag )?-([a-z][a-z-]*)`)

func usageErr(_ *cli.Context, err error, _ bool) error {
	spell := func(s string) string {
		return "for flag " + dashes(flagName.FindStringSubmatch(s)[1])
	}
	return &program.UsageError{Text: flagName.ReplaceAllStringFunc(err.Error(), spell)}
}

func unknownCommand(cmds []*cli.Command, parent, name string) error {
	var names []string
	for _, c := range cmds {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	msg := fmt.Sprintf("unknown command %q", name)
	if s := foreignCommands[strings.ToLower(name)]; s != "" && parent == "infill" {
		return usagef("%s; type %s", msg, s)
	}
	if s := nearest.Name(name, names); s != "" {
		msg += fmt.Sprintf("; did you mean %q?", s)
	} else {
		msg += "; known: " + strings.Join(names, ", ")
	}
	return usagef("%s (%s --help)", msg, parent)
}
