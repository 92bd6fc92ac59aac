package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	samplerbench "infill/samplers/bench"
)

// benchCommand compares samplers on targets whose truth is known.
func benchCommand(std stdio) *cli.Command {
	chains := &integer{v: 4, min: 2, max: 1 << 16}
	steps := &integer{v: 2000, min: 10, max: 1 << 28}
	burnin := &integer{v: 500, min: 0, max: 1 << 28} // 0 is none
	seed := &integer{v: 1, min: 0, max: math.MaxInt64}
	var svg string
	var markdown, force bool
	list := &cli.StringSliceFlag{Name: "sampler", Usage: "`NAME` of a sampler, with parameters after a colon (dmala:step-size=.4,balance=ratio); repeatable; dmala, gwg and rwm when unset", EnvVars: env("bench-sampler")}
	chart := stringFlag("svg", "write a chart to a `FILE`", "")
	chart.Destination = &svg
	md := boolFlag("markdown", "print the table as Markdown")
	md.Destination = &markdown
	frc := boolFlag("force", "overwrite a chart that exists")
	frc.Destination = &force
	return &cli.Command{
		Name:      "bench",
		Usage:     "compare samplers on a target with known truth: error, effective samples, acceptance, jump distance",
		ArgsUsage: "TARGET",
		Description: "TARGET is one of these, with its settings after a colon, such as ising:rows=4,a=.3:\n  " +
			strings.Join(samplerbench.Describe(), "\n  "),
		Flags: []cli.Flag{list,
			valueFlag("chains", "independent chains of every sampler", chains),
			valueFlag("steps", "kept steps of every chain", steps),
			valueFlag("burn-in", "adapting steps before them; 0: none, automatic values stay as they start", burnin),
			valueFlag("seed", "seed of starts and chains", seed), chart, md, frc},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("one target, got %d; known: %s (infill samplers bench --help)", c.NArg(), strings.Join(samplerbench.ProblemNames(), ", "))
			}
			p, err := samplerbench.ParseProblem(c.Args().First())
			if err != nil {
				return err
			}
			var entries []samplerbench.Entry
			specs := c.StringSlice("sampler")
			if len(specs) == 0 {
				specs = []string{"dmala", "gwg", "rwm"}
			}
			for _, spec := range specs {
				e, err := samplerbench.ParseEntry(spec)
				if err != nil {
					return err
				}
				entries = append(entries, e)
			}
			if err := checkTargets([]target{{"--svg", svg}}); err != nil {
				return err
			}
			if _, err := os.Lstat(svg); svg != "" && err == nil && !force {
				return usagef("--svg %s: the file exists; remove it, name another, or give --force", svg)
			}
			cfg := samplerbench.Config{Chains: int(chains.v), Steps: int(steps.v), Burnin: int(burnin.v), Seed: uint64(seed.v)}
			if burnin.v == 0 {
				cfg.Burnin = -1 // none, where 0 is the default
			}
			r, err := samplerbench.Compare(c.Context, p, entries, cfg)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Args().First(), err)
			}
			if err := writeFile(svg, func(w io.Writer) error { return r.WriteSVG(w, true) }); err != nil {
				return err
			}
			if markdown {
				return r.WriteMarkdown(std.out)
			}
			return r.WriteTable(std.out)
		},
	}
}
