package compare

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// specs are samplers, given one by one.
type specs []string

func (s *specs) String() string     { return strings.Join(*s, ", ") }
func (s *specs) Set(v string) error { *s = append(*s, v); return nil }

// Command is the command compare: args are its flags and a target.
func Command(ctx context.Context, args []string, _ io.Reader, out, errs io.Writer) error {
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.Usage = func() {
		fmt.Fprintf(errs, "usage: compare [flags] TARGET\nTARGET is one of these, with its settings "+
			"after a colon, such as ising:rows=4,a=.3:\n  %s\n", strings.Join(Describe(), "\n  "))
		fs.PrintDefaults()
	}
	cfg := Defaults()
	var names specs
	fs.Var(&names, "sampler", "a sampler, with parameters after a colon "+
		"(dmala:step-size=.4,balance=ratio); repeatable (default dmala, gwg and rwm)")
	fs.IntVar(&cfg.Chains, "chains", cfg.Chains, "independent chains of every sampler")
	fs.IntVar(&cfg.Steps, "steps", cfg.Steps, "kept steps of every chain")
	fs.IntVar(&cfg.Burnin, "burn-in", cfg.Burnin, "adapting steps before them; 0: none")
	fs.Uint64Var(&cfg.Seed, "seed", 1, "seed of starts and chains")
	svg := fs.String("svg", "", "file for a chart")
	markdown := fs.Bool("markdown", false, "print the table as Markdown")
	asJSON := fs.Bool("json", false, "print the comparison as one JSON object")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return fmt.Errorf("one target, got %d; known: %s", fs.NArg(), strings.Join(ProblemNames(), ", "))
	}
	if *markdown && *asJSON {
		return errors.New("-markdown and -json: give one of them")
	}
	cfg.NoBurnin = cfg.Burnin == 0
	if len(names) == 0 {
		names = specs{"dmala", "gwg", "rwm"}
	}
	r, err := compareNamed(ctx, fs.Arg(0), names, cfg)
	if err != nil {
		return fmt.Errorf("%s: %w", fs.Arg(0), err)
	}
	if *svg != "" {
		var b bytes.Buffer
		if err := r.WriteSVG(&b, true); err != nil {
			return err
		}
		if err := os.WriteFile(*svg, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	switch {
	case *markdown:
		return r.WriteMarkdown(out)
	case *asJSON:
		return r.WriteJSON(out)
	}
	return r.WriteTable(out)
}

func compareNamed(ctx context.Context, target string, names []string, cfg Config) (*Result, error) {
	p, err := ParseProblem(target)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, name := range names {
		e, err := ParseEntry(name)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return Compare(ctx, p, entries, cfg)
}
