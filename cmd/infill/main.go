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
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/internal/program"
)

func main() {
	// A closed pipe is an error of the write, EPIPE, which ends the run quietly;
	// one on standard error ends nothing.
	signal.Ignore(syscall.SIGPIPE)
	log.SetOutput(io.Discard)    // net/http would say there what a server does wrong
	if os.Getenv("GOGC") == "" { // a memo of rows has few pointers, so that it costs little to look at
		debug.SetGCPercent(25)
	}
	ctx, stop := signals()
	code := runLine(ctx, console.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, os.Args[1:])
	stop()
	os.Exit(code)
}

// runLine executes one command line and returns its exit code.
func runLine(ctx context.Context, std console.IO, args []string) int {
	err := execute(ctx, std, args)
	// Lines that failed were reported one by one; a reader that went away
	// (infill … | head) is not worth words.
	var said *saidError
	if err != nil && !errors.Is(err, errSomeFailed) && !errors.Is(err, syscall.EPIPE) &&
		!errors.As(err, &said) {
		fmt.Fprintf(std.Err, "infill: %s\n", advice.Message(err))
	}
	return advice.ExitCode(err)
}

// helpColumns is the widest line of help.
const helpColumns = 100

func execute(ctx context.Context, std console.IO, args []string) error {
	root := newRoot(std)
	if n := len(args) - 1; n >= 0 && args[n] == completes {
		return printText(std.Out, cmdline.Complete(root, args[:n], valuesOf, argumentsOf))
	}
	line, err := cmdline.Parse(root, asFill(root, args), foreign)
	switch {
	case err != nil:
		return err
	case line.Help:
		return printText(std.Out, cmdline.Help(line.Command, helpColumns, line.All, headings))
	}
	app := &cli.App{Name: root.Name, HideHelp: true, HideVersion: true, Commands: root.Subcommands,
		ExitErrHandler: func(*cli.Context, error) {},
		Metadata:       map[string]any{"args": args}} // as typed, for the command that resumes
	return app.RunContext(ctx, slices.Concat([]string{app.Name}, line.Names, line.Flags,
		[]string{"--"}, line.Rest))
}

// newRoot is the program as a command.
func newRoot(std console.IO) *cli.Command {
	root := &cli.Command{
		Name:  "infill",
		Usage: "fill the blanks of sentences jointly, diversely and with high likelihood",
		UsageText: `infill fill "The [MASK] sat on the [MASK]."
infill batch sentences.txt -o filled.jsonl
infill score "The cat sat on the mat."`,
		ArgsUsage: "COMMAND",
		Description: "infill COMMAND --help lists the flags of a command, infill fill --help all\n" +
			"the rare ones too.",
		Subcommands: []*cli.Command{
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
		},
	}
	root.Subcommands = append(root.Subcommands, manCommand(std, root))
	cmdline.Each(root, func(c *cli.Command) { // which leaves help to this program
		c.HideHelp = true
		c.OnUsageError = func(_ *cli.Context, err error, _ bool) error {
			return &program.UsageError{Text: cmdline.Spelt(c, err)}
		}
	})
	return root
}

// errSomeFailed ends a run in which single lines failed and were reported.
var errSomeFailed = program.ErrSomeFailed

// buildVersion is set by the Makefile.
var buildVersion string

func version() string { return program.Version(buildVersion) }

func usagef(format string, args ...any) error { return program.Usagef(format, args...) }

// The groups of flags. Settings have those for words and for what is printed themselves.
const (
	fillingGroup   = "filling"
	measuringGroup = "measuring"
	servingGroup   = "serving"
	printingGroup  = "results"
	modelGroup     = "model"
)

// headings are the groups in the order of help. Commands with few flags have no groups.
var headings = [][2]string{
	{fillingGroup, "How blanks are filled"},
	{"words", "What may go into blanks"},
	{measuringGroup, "What is measured"},
	{servingGroup, "Who is answered, and how much"},
	{printingGroup, "What is printed, and where"},
	{modelGroup, "The model"},
	{"", "Flags"},
}
