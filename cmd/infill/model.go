package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/internal/count"
	"infill/internal/unpack"
	"infill/mlm"
)

const modelEvalDescription = "" +
	`Masks a share of the pieces of each line, always by the mask token and the same ones for the
same seed, and prints how often the right piece is the first, or among the first five, that
the model names, and the perplexity.`

func modelCommand(std console.IO) *cli.Command {
	return &cli.Command{
		Name: "model",
		UsageText: `infill model list
infill model pull bert-base-uncased`,
		Usage: "what a model is, whether its gradients are right, how well it predicts; models by name",
		Subcommands: []*cli.Command{
			modelInfoCommand(std),
			modelCheckCommand(std),
			modelEvalCommand(std),
			modelListCommand(std),
			modelPullCommand(std),
			modelVerifyCommand(std),
			modelSaveCommand(std),
			modelLengthsCommand(std),
		},
		ArgsUsage: "COMMAND",
	}
}

// modelArgument lets a model be named as an argument too: infill model info PATH.
func (f *modelFlags) modelArgument(c *cli.Context) error {
	switch c.NArg() {
	case 0:
		return nil
	case 1:
		if cmdline.Of(c.Command, "model").Typed != "" && f.Name != c.Args().First() {
			return usagef("two models: --model %s and %s", f.Name, c.Args().First())
		}
		f.Name = c.Args().First()
		return nil
	}
	return usagef("one model at a time, got %s", strings.Join(console.Quoted(c.Args().Slice()), " "))
}

func modelEvalCommand(std console.IO) *cli.Command {
	var f modelFlags
	var path string
	var asJSON, quiet bool
	opt := mlm.EvalOptions{Rate: 0.15}
	flags := []*cmdline.Option{
		cmdline.Text("text", "text `FILE`, one sentence a line", &path),
		cmdline.New("mask-rate", "share of the pieces to mask", settings.NumberValue(&opt.Rate, 0, 1,
			true)),
		cmdline.Whole("seed", "seed of the choice of pieces", &opt.Seed, 0, math.MaxInt64),
		cmdline.Whole("lines", "lines to read; 0 reads all", &opt.MaxLines, 0, math.MaxInt32),
		cmdline.Bool("json", "print one JSON object", &asJSON),
		cmdline.Bool("quiet", "print results only", &quiet),
	}
	return &cli.Command{
		Name:        "eval",
		UsageText:   `infill model eval --text corpus.txt`,
		Usage:       "how well a model predicts masked word pieces of a text file",
		ArgsUsage:   "[MODEL]",
		Description: modelEvalDescription,
		Flags: cmdline.Join(f.flags(), cmdline.OwnEnv("model-eval", flags, "text", "mask-rate",
			"seed")),
		Action: func(c *cli.Context) error {
			if err := f.modelArgument(c); err != nil {
				return err
			}
			if path == "" {
				return usagef("no text; name a file: infill model eval --text FILE")
			}
			file, err := unpack.Open(path)
			if err != nil {
				return fmt.Errorf("--text: %w", err)
			}
			defer func() { _ = file.Close() }()
			m, err := f.open(c.Context)
			if err != nil {
				return err
			}
			defer func() { _ = m.Close() }()
			if !quiet && console.CanDraw(std.Err) {
				opt.Progress = func(lines int) { fmt.Fprint(std.Err, "\r\x1b[K", count.Of(lines, "line")) }
				defer fmt.Fprint(std.Err, "\r\x1b[K")
			}
			return printEval(c.Context, std, m, file, opt, asJSON)
		},
	}
}

func printEval(ctx context.Context, std console.IO, m *mlm.Model, text io.Reader,
	opt mlm.EvalOptions, asJSON bool) error {
	r, err := m.Eval(ctx, text, opt)
	if err != nil {
		return err
	}
	if asJSON {
		return jsonl.Encode(std.Out, r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s, %d masked", count.Of(r.Lines, "line"), count.Of(r.Pieces, "piece"),
		r.Masked)
	if r.TooLong > 0 {
		fmt.Fprintf(&b, "; %s too long", count.Of(r.TooLong, "line"))
	}
	fmt.Fprintf(&b, "\n\n%-22s %8s %8s %8s %11s\n", "frequency rank", "masked", "top-1 %",
		"top-5 %", "perplexity")
	line := func(name string, a mlm.Accuracy) {
		if a.Masked == 0 {
			fmt.Fprintf(&b, "%-22s %8d %8s %8s %11s\n", name, 0, "–", "–", "–")
			return
		}
		fmt.Fprintf(&b, "%-22s %8d %8.2f %8.2f %11.2f\n", name, a.Masked, 100*a.Top1, 100*a.Top5,
			a.Perplexity)
	}
	for _, band := range r.Bands {
		name := fmt.Sprintf("%d–%d", band.FromRank, band.ToRank)
		if band.ToRank == 0 {
			name = fmt.Sprintf("%d and rarer", band.FromRank)
		}
		line(name, band.Accuracy)
	}
	line("all", r.Accuracy)
	_, err = io.WriteString(std.Out, b.String())
	return err
}
