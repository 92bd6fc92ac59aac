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
		Usage: "what a model is; models by name",
		Subcommands: []*cli.Command{
			modelInfoCommand(std),
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
		return f.named(c, c.Args().First())
	}
	return usagef("one model at a time, got %s", strings.Join(console.Quoted(c.Args().Slice()), " "))
}

// named takes the model that an argument names, unless --model names another one.
func (f *modelFlags) named(c *cli.Context, name string) error {
	if cmdline.Of(c.Command, "model").Typed != "" && f.Name != name {
		return usagef("two models: --model %s and %s", f.Name, name)
	}
	f.Name = name
	return nil
}
