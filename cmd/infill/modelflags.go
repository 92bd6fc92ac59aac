package main

import (
	"context"
	"fmt"

	"infill/infill/energies"
	"infill/infill/settings"
	"infill/mlm"
)

// modelFlags are the flags of every command that opens a model.
type modelFlags struct{ settings.Model }

func (f *modelFlags) flags() []*option {
	f.Model = *settings.ModelDefaults()
	return group(groupModel, settingFlags(settings.ModelTable(), &f.Model, map[string]string{
		"model":  `folder of an ONNX export, its .onnx file, or a name of "infill model list"`,
		"device": "what evaluates the model; doctor lists what there is",
	}))
}

// open loads the model that the flags name.
func (f *modelFlags) open(ctx context.Context) (*mlm.Model, error) {
	src, err := resolveModel(f.Name)
	if err != nil {
		return nil, err
	}
	opt := f.Options
	opt.File = src.file
	return src.open(ctx, opt)
}

// secondModels opens further models as the flags say of the first.
func (f *modelFlags) secondModels() energies.Options {
	open := func(ctx context.Context, name string) (*mlm.Model, error) {
		second := *f
		second.Name = name
		return second.open(ctx)
	}
	return energies.Options{Options: f.Options, Model: open}
}

// warn says what makes a model's results doubtful.
func warn(std stdio, m *mlm.Model) {
	for _, w := range m.Info().Warnings {
		fmt.Fprintf(std.err, "infill: warning: %s\n", printable(w))
	}
}
