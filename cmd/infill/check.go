package main

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/jsonl"
	"infill/mlm"
)

const modelCheckDescription = "" +
	`Evaluates the model file in float64 by code that shares nothing with the runtime or with the
derived graph, and compares log-probabilities and derivatives by central differences.`

// errCheck ends a check that found wrong gradients.
var errCheck = errors.New("the gradients of this model are wrong; please report the model and " +
	"how it was exported; until then take rows, the default sampler, which needs no gradients, " +
	"or --gradient forward with another")

func modelCheckCommand(std console.IO) *cli.Command {
	var f modelFlags
	var asJSON bool
	opt := mlm.CheckOptions{Blanks: 3, Directions: 3}
	flags := cmdline.Flags{
		cmdline.Whole("blanks", "blanks of a sentence of random tokens", &opt.Blanks, 2, 64),
		cmdline.Whole("directions", "tokens tried per blank", &opt.Directions, 1, 1000),
		cmdline.Whole("seed", "seed of blanks and tokens", &opt.Seed, 0, math.MaxInt64),
		cmdline.Flag("json", "print one JSON object", &asJSON),
	}
	return &cli.Command{
		Name:        "check",
		UsageText:   `infill model check`,
		Usage:       "compare a model's gradients with finite differences in float64",
		ArgsUsage:   "[MODEL]",
		Description: modelCheckDescription,
		Flags:       cmdline.Join(f.flags(), flags.OwnEnv("check", "seed")),
		Action: func(c *cli.Context) error {
			if err := f.modelArgument(c); err != nil {
				return err
			}
			f.Options.Unrounded = false // what fill may open is to be checked
			m, err := f.open(c.Context)
			if err != nil {
				return err
			}
			defer func() { _ = f.close() }()
			r, err := m.Check(c.Context, opt)
			if err != nil {
				return err
			}
			if asJSON {
				err = jsonl.Encode(std.Out, r)
			} else {
				err = printCheck(std.Out, r)
			}
			if err == nil && !r.OK {
				err = errCheck
			}
			return err
		},
	}
}

func printCheck(out io.Writer, r *mlm.CheckReport) error {
	verdict := "the gradients are right"
	if !r.OK {
		verdict = "THE GRADIENTS ARE WRONG"
	}
	second := fmt.Sprintf("largest error %.2g of its largest value, %.3g (tolerance %.0e)",
		r.GradientError, r.GradientScale, r.Tolerance)
	if r.RMSTolerance > 0 {
		second = fmt.Sprintf("root-mean-square error %.2g of its value (tolerance %.2g: rounded "+
			"products)", r.GradientRMS, r.RMSTolerance)
	}
	_, err := fmt.Fprintf(out, `%s: %d derivatives at %d blanks against float64 finite differences
  log f                 largest error %.2g nats
  gradient, first term  largest error %.2g nats
  gradient, second term %s
`, verdict, r.Directions, r.Blanks, r.LogProbError, r.FirstTermError, second)
	return err
}
