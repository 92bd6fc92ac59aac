// Package gradients compares a model's log-probabilities and derivatives with its file, evaluated
// in float64 by code that shares nothing with the runtime or with the derived graph:
//
//	bin/lab gradients -model my-bert/
//
// Derivatives are central differences. The command fails where errors are beyond their bounds.
package gradients

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"infill/infill/open"
	"infill/mlm"
	"infill/mlm/checktest"
)

var errWrong = errors.New("the gradients are wrong: take --gradient forward, and report the model")

// Command is the command gradients: args are its flags. The figures go to out.
func Command(ctx context.Context, args []string, _ io.Reader, out, errs io.Writer) error {
	fs := flag.NewFlagSet("gradients", flag.ContinueOnError)
	fs.SetOutput(errs)
	name := fs.String("model", "default", "folder or name of the model")
	device := fs.String("device", "cpu", "what evaluates it")
	var o checktest.Options
	fs.IntVar(&o.Blanks, "blanks", 3, "blanks of a sentence of random tokens")
	fs.IntVar(&o.Directions, "directions", 3, "tokens tried per blank")
	fs.Uint64Var(&o.Seed, "seed", 0, "seed of blanks and tokens")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 || o.Blanks < 2 || o.Blanks > 64 || o.Directions < 1 {
		return errors.New("want flags alone, 2 to 64 blanks, and a direction or more")
	}
	from, err := open.Find(*name, "")
	if err != nil {
		return err
	}
	m, err := from.Open(ctx, mlm.Options{Device: *device, Precision: mlm.Auto})
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	r, err := checktest.Check(ctx, m, from.Files(), o)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(out, `%d derivatives at %d blanks against float64 finite differences
  log f                 largest error %.2g nats
  gradient, first term  largest error %.2g nats
  gradient, second term largest error %.2g of its largest value, %.3g (tolerance %.0e)
`, r.Directions, r.Blanks, r.LogProbError, r.FirstTermError, r.GradientError, r.GradientScale,
		r.Tolerance); err == nil && !r.OK {
		err = errWrong
	}
	return err
}
