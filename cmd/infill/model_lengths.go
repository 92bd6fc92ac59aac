package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/lengths"
	"infill/internal/count"
	"infill/internal/disk"
	"infill/internal/unpack"
)

const modelLengthsDescription = "" +
	`Teaches a model how long gaps are, so that it ranks fillings of [MASK*1-5] better. It takes one to
four words out of sentences of TEXT, one sentence or paragraph a line, and writes what it learned
to ` + lengths.File + ` beside the model. The model itself stays as it is. The command prints how
well it guesses the lengths of gaps that it did not learn from, in nats a gap: less is better.`

// A lengthsReport is what the command found.
type lengthsReport struct {
	File string `json:"file"`
	*lengths.Report
}

func modelLengthsCommand(std console.IO) *cli.Command {
	var f modelFlags
	var to string
	var asJSON, quiet bool
	var opt lengths.Options
	flags := cmdline.Flags{
		cmdline.Flag("output", "`FILE` to write in place of the one beside the model", &to),
		cmdline.Whole("gaps", "gaps to learn from; 0 stands for 6000", &opt.Gaps, 0, lengths.MaxGaps),
		cmdline.Whole("seed", "seed of the choice of lines and gaps", &opt.Seed, 0, 1<<62),
		jsonFlag(&asJSON),
		cmdline.Flag("quiet", "print results only", &quiet),
	}
	return &cli.Command{
		Name:        "learn-lengths",
		UsageText:   `infill model learn-lengths ./english corpus.txt`,
		Usage:       "teach a model how many pieces go into a gap, from a text",
		ArgsUsage:   "MODEL TEXT",
		Description: modelLengthsDescription,
		Flags:       cmdline.Join(f.flags(), flags.OwnEnv("learn-lengths", "output", "seed")),
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return usagef("model learn-lengths takes a model and a text, got %s",
					count.Of(c.NArg(), "argument"))
			}
			if err := f.named(c, c.Args().Get(0)); err != nil {
				return err
			}
			src, err := f.source()
			if err != nil {
				return err
			}
			if to == "" && src.Part != "" {
				return usagef("the model %s is part of the program; name a file to write: --output FILE, or "+
					"learn for the folder that infill model save %s DIR writes", src.Part, src.Part)
			}
			to := cmp.Or(to, filepath.Join(src.Dir, lengths.File))
			r, err := f.learn(c, to, opt, console.NewMeter("auto", quiet, std.Err))
			if err != nil {
				return err
			}
			return printRecord(std.Out, asJSON, lengthsReport{to, r}, func() string {
				return fmt.Sprintf("%d gaps, and %d others to test\n"+
					"the same shares for all gaps  %.3f nats a gap\n"+
					"learned                       %.3f\n"+
					"gain                          %.3f ± %.3f\n%s\n", r.Gaps, r.HeldOut, r.Constant, r.Learned,
					r.Gain, r.GainError, shown(std.Out, to))
			})
		},
	}
}

// learn writes what the model learns of the text that is the second argument.
func (f *modelFlags) learn(c *cli.Context, to string, opt lengths.Options, bar console.Meter) (
	*lengths.Report, error) {
	in, err := unpack.Open(c.Args().Get(1))
	if err != nil {
		return nil, fmt.Errorf("the text: %w", err)
	}
	defer func() { _ = in.Close() }()
	f.Options.Unrounded = false // what is learned does not depend on the last bits
	m, err := f.open(c.Context)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }()
	if bar.Mode == "bar" {
		opt.Progress = func(done, of int) { bar.Draw(fmt.Sprintf("%d of %s", done, count.Of(of, "gap"))) }
		defer bar.Clear()
	}
	s, r, err := lengths.Learn(c.Context, m, in, opt)
	if err != nil {
		return nil, err
	}
	return r, disk.Write(to, s.Bytes())
}
