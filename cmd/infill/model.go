package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
)

func modelCommand(std console.IO) *cli.Command {
	return &cli.Command{
		Name: "model",
		UsageText: `infill model list
infill model pull bert-base-uncased`,
		Usage: "what a model is, and whether its gradients are right; models by name",
		Subcommands: []*cli.Command{
			modelInfoCommand(std),
			modelCheckCommand(std),
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
