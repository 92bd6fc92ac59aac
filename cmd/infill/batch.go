package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"runtime"

	"github.com/urfave/cli/v2"

	"infill/infill"
	"infill/infill/batch"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/mlm"
	"infill/samplers"
)

const batchDescription = "" +
	`INPUT has a text with blanks on every line, or with --mask-rate complete sentences; or JSON
lines with "text", maybe "id", settings for this line ("steps", "temperature", "seed", …),
and other fields, which are kept. gzip and zstd are read, .gz and .zst written; - is standard
input. Writes one JSON object a line, in the order of the input.
A run that was stopped, killed or cut off goes on with --resume, to the same bytes.`

type batchFlags struct {
	modelFlags
	fillingFlags
	fileFlags
}

func batchCommand(std stdio) *cli.Command {
	f := &batchFlags{}
	return &cli.Command{
		Name:        "batch",
		Usage:       "fill a file of sentences, resumably",
		ArgsUsage:   "INPUT -o OUTPUT",
		Description: batchDescription,
		Flags: join(f.modelFlags.flags(), f.fillingFlags.flags(),
			group(groupOutput, f.fileFlags.flags())),
		Action: func(c *cli.Context) error { return f.run(c, std) },
	}
}

func (f *batchFlags) run(c *cli.Context, std stdio) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	// A seed that was chosen by the run that is resumed stays.
	if f.Seed == nil && f.resume {
		switch was, err := batch.ReadManifest(f.output); {
		case err == nil:
			f.Seed, f.seedChosen = &was.Seed, true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if err := f.ready(); err != nil {
		return err
	}
	path := "-"
	if c.NArg() > 1 {
		return usagef("%d inputs; infill batch takes one file", c.NArg())
	} else if c.NArg() == 1 {
		path = c.Args().First()
	}
	in, err := f.input(path, std, f.AllowFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	m, err := f.open(c.Context)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	warn(std, m)
	if err := f.prepare(m.Tokenizer(), std.err, f.quiet); err != nil {
		return err
	}
	recorded, err := f.recorded()
	if err != nil {
		return err
	}
	recorded["command"] = "batch"
	recorded["format"] = inputFormat(in)
	recorded["platform"] = platform
	if f.seedChosen && !f.quiet {
		fmt.Fprintf(std.err, "seed %d (repeat with --seed %[1]d)\n", *f.Seed)
	}
	w := &batchWriter{model: m, engine: infill.New(m), filling: &f.Filling}
	man := &batch.Manifest{
		Format: batch.ManifestFormat, Version: version(), Model: "sha256:" + m.Info().SHA256,
		Seed: *f.Seed, Settings: recorded,
	}
	return f.work(c, std, in, man, inFlight(f.Model.Options.Threads), w.record)
}

// recorded is what the manifest has of the flags: all that decides a record.
func (f *batchFlags) recorded() (map[string]string, error) {
	out, err := settings.Recorded(settings.FillTable(), &f.Filling, settings.Defaults())
	if err != nil {
		return nil, err
	}
	ofModel, err := settings.Recorded(settings.ModelTable(), &f.Model, settings.ModelDefaults())
	maps.Copy(out, ofModel)
	return out, err
}

// platform is the manifest's name of the machine: floating-point results are not the same on all.
const platform = runtime.GOOS + "/" + runtime.GOARCH

// inputFormat is the manifest's name of a format.
func inputFormat(in *batch.Input) string {
	if in.JSON() {
		return "jsonl"
	}
	return "text"
}

// batchWriter makes the records of infill batch.
type batchWriter struct {
	model   *mlm.Model
	engine  *infill.Engine
	filling *settings.Filling // of the flags, prepared
}

func (w *batchWriter) record(ctx context.Context, it *batch.Item) (batch.Record, error) {
	rec, err := w.fill(ctx, it)
	return encoded(it, rec, err, func(name string) bool { return settings.LineField(name) != nil })
}

// encoded is the record of an item, with what the item gives it: setting says
// which fields are settings. An error that would befall every item is returned.
func encoded(it *batch.Item, rec *jsonl.Record, cause error,
	setting func(string) bool) (batch.Record, error) {
	if cause != nil {
		if rec = jsonl.Failed(it.Text, cause); rec == nil {
			return batch.Record{}, cause
		}
	}
	rec.ID, rec.Line = it.ID, it.Line
	rec.Keep(it.Fields, setting)
	var taken []string
	for _, f := range it.Fields {
		if setting(f.Name) && string(f.Value) != "null" {
			taken = append(taken, f.Name)
		}
	}
	b, err := jsonl.Append(nil, rec)
	return batch.Record{JSON: b, Failed: cause != nil, Cause: cause, Settings: taken}, err
}

func (w *batchWriter) fill(ctx context.Context, it *batch.Item) (*jsonl.Record, error) {
	if it.Err != nil {
		return nil, it.Err
	}
	filling, own, err := w.filling.ForLine(w.model.Tokenizer(), fieldsOf(it))
	if err != nil {
		return nil, err
	}
	opt := filling.Options
	opt.ID = it.Key()
	t, text, err := blanks(w.model.Tokenizer(), it.Text, filling.Masking, &opt)
	if err != nil {
		return nil, err
	}
	r, err := w.engine.Fill(ctx, t, opt)
	if own && (errors.Is(err, infill.ErrOption) || errors.Is(err, samplers.ErrParam) ||
		errors.Is(err, samplers.ErrUnsupported)) {
		err = fmt.Errorf("%w: %w", settings.ErrSetting, err) // of this line, not of all
	}
	if err != nil {
		return nil, err
	}
	rec := newRecord(w.model, text, &opt, r)
	if filling.Masking != (infill.Masking{}) {
		rec.Gold = it.Text
	}
	return rec, nil
}

// fieldsOf are the fields of a JSON line, by name.
func fieldsOf(it *batch.Item) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for _, f := range it.Fields {
			if !yield(f.Name, f.Value) {
				return
			}
		}
	}
}
