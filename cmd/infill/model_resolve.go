package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/open"
	"infill/internal/disk"
	"infill/internal/nearest"
	"infill/internal/program"
	"infill/models"
	"infill/models/hub"
)

// resolveModel turns a model's name or path into its source, as [open.Find] does.
func resolveModel(name, file string) (open.Source, error) {
	src, err := open.Find(name, file)
	if !errors.Is(err, hub.ErrUnknown) {
		return src, err
	}
	err = unknownModel(name)
	if strings.ContainsAny(name, `./\`) { // more likely a path, and no file is wrong usage
		err = errors.New(err.Error())
	}
	return src, err
}

// hubError makes the errors that the command line is to blame for usage errors.
func hubError(err error) error {
	if errors.Is(err, hub.ErrUnknown) || errors.Is(err, hub.ErrUsage) {
		return &program.UsageError{Text: err.Error()}
	}
	return err
}

// repositoryAt is the OWNER/NAME that the address of a page of the hub has, "" if it is none.
func repositoryAt(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if parts := strings.Split(rest, "/"); ok && len(parts) > 2 {
		if id := parts[1] + "/" + parts[2]; hub.IsRepository(id) {
			return id
		}
	}
	return ""
}

func unknownModel(name string) error {
	if id := repositoryAt(name); id != "" {
		return usagef("%q is an address, a model is named without it: write %s", hub.Redacted(name), id)
	}
	var names []string
	for _, m := range models.All() {
		names = append(names, m.Name)
	}
	embedded := strings.Join(names, " and ")
	for _, m := range hub.Catalogue() {
		names = append(names, m.Name)
	}
	s := nearest.Name(name, names)
	for _, n := range slices.Backward(names) {
		if strings.HasPrefix(n, name) {
			s = n
		}
	}
	if s != "" {
		return usagef("no model and no folder is called %q; did you mean %s?", name, s)
	}
	return usagef("no model and no folder is called %q; the program has %s; infill model list "+
		"shows others, and the hub has them as OWNER/NAME; or give the path of a folder with model.onnx",
		name, embedded)
}

// sameModel reports whether two sources have the same model, which is the given file of s. If other
// names no file, its file is model.onnx.
func sameModel(s, other open.Source, file string) bool {
	if other.File != s.File && cmp.Or(other.File, "model.onnx") != file {
		return false
	}
	if s.Part != "" || other.Part != "" {
		return s.Part == other.Part
	}
	return disk.Same(s.Dir, other.Dir)
}

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
