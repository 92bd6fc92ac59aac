package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	samplerbench "infill/samplers/bench"
)

// benchCommand compares samplers on targets whose truth is known.
func benchCommand(std stdio) *cli.Command {
	cfg := samplerbench.Defaults()
	cfg.Seed = 1
	usual := []string{"dmala", "gwg", "rwm"}
	var svg, progress string
	var markdown, asJSON, force bool
	var specs []string
	list := listFlag("sampler", "`NAME` of a sampler, with parameters after a colon "+
		"(dmala:step-size=.4,balance=ratio); repeatable; "+strings.Join(usual, ", ")+" when unset",
		&specs)
	flags := []*option{
		list,
		wholeFlag("chains", "independent chains of every sampler", &cfg.Chains, 2,
			samplerbench.MaxChains),
		wholeFlag("steps", "kept steps of every chain", &cfg.Steps, 10, samplerbench.MaxSteps),
		wholeFlag("burn-in", "adapting steps before them; 0: none, automatic values stay as they start",
			&cfg.Burnin, 0, samplerbench.MaxSteps),
		wholeFlag("seed", "seed of starts and chains", &cfg.Seed, 0, math.MaxInt64),
		writeFlag("svg", "write a chart to a `FILE`", &svg),
		boolFlag("markdown", "print the table as Markdown", &markdown),
		boolFlag("json", "print the comparison as one JSON object", &asJSON),
		boolFlag("force", "overwrite a chart that exists", &force),
		progressFlag(&progress),
	}
	return &cli.Command{
		Name: "bench",
		Usage: "compare samplers on a target with known truth: error, effective samples, " +
			"mean acceptance probability, jump distance",
		ArgsUsage: "TARGET",
		Description: "TARGET is one of these, with its settings after a colon, such as " +
			"ising:rows=4,a=.3:\n  " +
			strings.Join(samplerbench.Describe(), "\n  "),
		Flags: join(ownEnv("bench", flags, "sampler", "chains", "steps", "seed", "markdown", "force")),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("one target, got %d; known: %s (infill samplers bench --help)", c.NArg(),
					strings.Join(samplerbench.ProblemNames(), ", "))
			}
			if markdown && asJSON {
				return usagef("--markdown and --json: give one of them")
			}
			p, err := samplerbench.ParseProblem(c.Args().First())
			if err != nil {
				return err
			}
			var entries []samplerbench.Entry
			if len(specs) == 0 {
				specs = usual
			}
			for _, spec := range specs {
				e, err := samplerbench.ParseEntry(spec)
				if err != nil {
					return err
				}
				entries = append(entries, e)
			}
			charts := []target{{"--svg", svg}}
			if err := checkTargets(charts); err != nil {
				return err
			}
			if err := checkReplaced(charts, force); err != nil {
				return err
			}
			cfg.NoBurnin = cfg.Burnin == 0
			bar := newProgress(progress, false, std.err, 0)
			defer bar.clear()
			cfg.Progress = func(done, all int) {
				bar.total = all
				bar.step(0, done)
			}
			r, err := samplerbench.Compare(c.Context, p, entries, cfg)
			bar.clear()
			if err != nil {
				return fmt.Errorf("%s: %w", c.Args().First(), err)
			}
			if err := writeFile(svg, func(w io.Writer) error { return r.WriteSVG(w, true) }); err != nil {
				return err
			}
			switch {
			case markdown:
				return r.WriteMarkdown(std.out)
			case asJSON:
				return r.WriteJSON(std.out)
			}
			return r.WriteTable(std.out)
		},
	}
}
