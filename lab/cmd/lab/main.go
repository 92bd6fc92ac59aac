// Command lab runs what this project measures and what it repeats of papers:
//
//	lab                 lists the commands
//	lab COMMAND -h      prints the flags of one
//
// Run it in the root of the repository: defaults are paths from there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"infill/lab/baselines"
	"infill/lab/compare"
	"infill/lab/cuda"
	"infill/lab/drafts"
	"infill/lab/efforts"
	"infill/lab/experiments"
	"infill/lab/experiments/facility"
	"infill/lab/gradients"
	"infill/lab/load"
	"infill/lab/masked"
	"infill/lab/protocols"
	"infill/lab/sampling"
	"infill/lab/torch"
	"infill/lab/trigger"
	"infill/lab/verify"
)

// A command reads its flags from args.
type command struct {
	name, does string
	run        func(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) error
}

var commands = []command{
	{"compare", "samplers on a target with known truth: error, effective samples, acceptance",
		compare.Command},
	{"verify", "the figures of the samplers' papers, and the page of them", verify.Command},
	{"experiments", "what the papers learn, such as Boltzmann machines, and the pages of them",
		experiments.Command},
	{"protocols", "samplers on masked sentences, under several protocols and seeds",
		protocols.Command},
	{"sampling", "samplers on text: effective samples a second, scores and variety", sampling.Command},
	{"baselines", "the search beside simpler ways to fill, by the words that come back",
		baselines.Command},
	{"gradients", "a model against its file in float64: log-probabilities and derivatives",
		gradients.Command},
	{"masked", "how well a model guesses masked pieces, for the cards of the models", masked.Command},
	{"efforts", "how often the search finds the best filling that a wider one finds", efforts.Command},
	{"drafts", "whether a small model is worth asking before a large one", drafts.Command},
	{"trigger", "words that make a model say the labels of texts", trigger.Command},
	{"torch", "chain-steps a second beside PyTorch", torch.Command},
	{"cuda", "a graphics card against the processor: scores, rows a second, neighbours",
		cuda.Command},
	{"load", "infill serve under load", load.Command},
	{"instance", "an instance of facility location as JSON, for solvers", facility.Print},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) error {
	if len(args) > 0 {
		for _, c := range commands {
			if c.name == args[0] {
				if err := c.run(ctx, args[1:], in, out, errs); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				return nil
			}
		}
	}
	fmt.Fprint(errs, "usage: lab COMMAND [flags], in the root of the repository\n\n")
	for _, c := range commands {
		fmt.Fprintf(errs, "  %-12s %s\n", c.name, c.does)
	}
	if len(args) > 0 && args[0] != "-h" && args[0] != "--help" && args[0] != "help" {
		return fmt.Errorf("no command %q", args[0])
	}
	return nil
}
