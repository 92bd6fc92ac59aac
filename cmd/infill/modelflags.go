package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/energies"
	"infill/infill/open"
	"infill/infill/settings"
	"infill/internal/disk"
	"infill/internal/textline"
	"infill/mlm"
	"infill/mlm/device/known"
)

// devices are those that a model may be opened on, beside the processor.
var devices = known.Devices()

// opening opens a model for a command, and closing closes it. Tests keep models open.
var opening, closing = open.Source.Open, (*mlm.Model).Close

// modelFlags are the flags of every command that opens a model. What is opened is closed by close.
type modelFlags struct {
	settings.Model
	opened []openModel
	asked  mlm.Options // of the flags, for further models
}

// An openModel is a model and where it comes from.
type openModel struct {
	from  open.Source
	model *mlm.Model
}

func (f *modelFlags) flags() cmdline.Flags {
	f.Model = *settings.ModelDefaults()
	f.Options.Devices = devices
	return cmdline.Settings(settings.ModelTable(), &f.Model,
		map[string]string{
			"model": `folder of an ONNX export, its .onnx file, or a name as "infill model pull" takes it`,
			"device": "what evaluates the model, doctor lists what there is; " + mlm.AutoDevice +
				": large models on one that is installed, if fill or batch may round",
		}).Under(modelGroup)
}

// usualModel is the model of commands whose --model may be repeated, where it is not given.
func usualModel() string {
	return cmp.Or(os.Getenv(settings.EnvName("model")), settings.DefaultModel)
}

// open loads the model that the flags name.
func (f *modelFlags) open(ctx context.Context) (*mlm.Model, error) {
	src, err := f.source()
	if err != nil {
		return nil, err
	}
	f.asked = f.Options
	m, err := f.once(ctx, src)
	if err != nil {
		return nil, err
	}
	f.Used(m)
	return m, nil
}

// close closes the models that were opened.
func (f *modelFlags) close() error {
	var errs []error
	for _, o := range f.opened {
		errs = append(errs, closing(o.model))
	}
	f.opened = nil
	return errors.Join(errs...)
}

// source is where the model that the flags name comes from.
func (f *modelFlags) source() (open.Source, error) {
	file := f.Options.File
	if file != "" {
		file = filepath.ToSlash(filepath.Clean(file))
	}
	return resolveModel(f.Name, file)
}

// mayRound lets chains run in another precision where that is not named. The scores of fillings
// stay in float32, other numbers do not.
func (f *modelFlags) mayRound(v *settings.Fill) {
	f.Options.Unrounded = v.Options.Results.Marginals || len(v.Words.Energy) > 0
}

// once loads a model as the flags say, unless it is open already.
func (f *modelFlags) once(ctx context.Context, src open.Source) (*mlm.Model, error) {
	for _, o := range f.opened {
		if sameModel(o.from, src, o.model.Info().File) {
			return o.model, nil
		}
	}
	m, err := opening(src, ctx, f.asked)
	if err == nil {
		f.opened = append(f.opened, openModel{src, m})
	}
	return m, err
}

// secondModels opens further models as the flags say of the first.
func (f *modelFlags) secondModels() energies.Options {
	open := func(ctx context.Context, name string) (*mlm.Model, bool, error) {
		src, err := resolveModel(name, "")
		if err != nil {
			return nil, false, err
		}
		m, err := f.once(ctx, src)
		return m, true, err
	}
	return energies.Options{Options: f.asked, Model: open}
}

// warn says what makes a model's results doubtful and, unless quiet is set, what makes it take more
// memory and time than it needs.
func warn(std console.IO, m *mlm.Model, quiet bool) {
	for _, w := range m.Info().Warnings {
		fmt.Fprintf(std.Err, "infill: warning: %s\n", textline.Printable(w))
	}
	if d, p := m.Device(), m.Precision(); d != mlm.CPUDevice && !quiet {
		others := ""
		if !m.SameBytes() {
			others = ", where a repeated run may print other bytes"
		}
		fmt.Fprintf(std.Err, "infill: on the device %s in %s%s (--device %s for the runtime's own "+
			"kernels)\n", d, p, others, mlm.CPUDevice)
	}
	if why := m.Info().Unkept; why != "" && !quiet {
		fmt.Fprintf(std.Err, "infill: %s\n", textline.Printable(unkept(why)))
	}
}

// unkept says that the cache does not have a model's weights, and what helps.
func unkept(why string) string {
	return "every start unpacks the model's weights and holds them in memory, as the cache cannot " +
		"keep them: " + why + "; make room there or let it be written, or set " + disk.EnvCache +
		" to another folder and run infill doctor --install"
}
