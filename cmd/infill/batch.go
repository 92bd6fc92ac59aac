package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"sync"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/lengths"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/mlm"
)

const batchDescription = "" +
	`INPUT has a text with blanks on every line, or with --mask-rate complete sentences; or JSON
lines, or an array of JSON, with "text", maybe "id", settings for this line ("steps", "seed", …),
and other fields, which are kept. A table (.csv, .tsv, .parquet) has the texts in a
column, and its other columns are kept. gzip and zstd are read, .gz and .zst written; - is standard
input. Writes one JSON object a line, or a table if OUTPUT has such a name, in the order of
the input.
Of a FOLDER each Parquet file becomes one of its name in the other.
A run that was stopped, killed or cut off goes on with --resume, to the same bytes.`

type batchFlags struct {
	modelFlags
	fillingFlags
	fileFlags
	join bool
}

func batchCommand(std console.IO) *cli.Command {
	f := &batchFlags{}
	together := cmdline.Flag("join",
		"put the outputs of all shards of a run together, to that of the whole", &f.join)
	together.Env = "" // it is another command, not a choice that stays
	return &cli.Command{
		Name: "batch",
		UsageText: `infill batch sentences.txt -o filled.jsonl
infill batch corpus.txt -o filled.jsonl --mask-rate 0.25 --seed 1
infill batch table.csv --text-field sentence -o filled.parquet --per filling
infill batch sentences.txt -o filled.jsonl --resume
infill batch sentences.txt -o part-0.jsonl --shard 0/8 --seed 1 --resume
infill batch --join part-*.jsonl -o filled.jsonl`,
		Usage:       "fill a file of sentences, resumably",
		ArgsUsage:   "INPUT -o OUTPUT | FOLDER -o FOLDER | --join SHARD… -o OUTPUT",
		Description: batchDescription,
		Flags: cmdline.Join(f.modelFlags.flags(), f.fillingFlags.flags(nil),
			append(f.fileFlags.flags().Without(settings.FileTable().NotOf("batch")...),
				together).Under(printingGroup)),
		Action: func(c *cli.Context) error { return f.run(c, std) },
	}
}

func (f *batchFlags) run(c *cli.Context, std console.IO) (err error) {
	if f.join {
		return f.joinShards(c, std)
	}
	return f.job(c, std, func(_ *input.Reader, w *records.Filler, recorded map[string]string,
		_ *output.Layout) (fileWork, error) {
		recorded["command"] = "batch"
		return fileWork{do: w.Record, advised: advice.OrMask, meant: meantBy(settings.FillTable())}, nil
	})
}

// A filePlan says what is done with the records of a file, and completes what the manifest has of
// the settings and the form of the output.
type filePlan func(in *input.Reader, w *records.Filler, recorded map[string]string,
	layout *output.Layout) (fileWork, error)

// job works through a file, or through the Parquet files of a folder.
func (f *batchFlags) job(c *cli.Context, std console.IO, plan filePlan) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if f.Per == settings.PerWord {
		return usagef("--per word is for scores, of infill score; infill %s has --per filling",
			c.Command.Name)
	}
	if c.NArg() > 1 {
		return usagef("%d inputs; infill %s takes one file: for f in *; do …; done", c.NArg(),
			c.Command.Name)
	}
	path := cmp.Or(c.Args().First(), "-")
	files, err := f.pairs(c, std, path)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := f.seedOf(file.output); err != nil {
			return err
		}
	}
	if f.Seed == nil && !f.Shard.Whole() {
		return usagef("the shards of a run have one seed: give each --seed N")
	}
	if err := f.stdin(std.In, path == "-"); err != nil {
		return err
	}
	if err := f.ready(); err != nil {
		return err
	}
	if files[0].input != path { // only now, for a command that is refused changes nothing
		if err := os.Mkdir(f.output, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	j := &fillJob{batchFlags: f, c: c, std: std, plan: plan,
		saySeed: sync.OnceFunc(func() { f.saySeed(std.Err) })}
	defer func() {
		if j.on != nil {
			err = errors.Join(err, j.on.close())
		}
	}()
	failed := false
	for _, file := range files {
		switch err := j.file(file); {
		case errors.Is(err, errSomeFailed):
			failed = true
		case err != nil:
			return err
		}
	}
	if failed {
		return errSomeFailed
	}
	return nil
}

// seedOf has the seed that was chosen by the run that is resumed stay.
func (f *batchFlags) seedOf(path string) error {
	if f.Seed != nil || !f.resume {
		return nil
	}
	was, err := output.ReadManifest(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		f.Seed, f.seedChosen = &was.Seed, true
	}
	return err
}

// A fillJob fills files one after the other.
type fillJob struct {
	*batchFlags
	c       *cli.Context
	std     console.IO
	plan    filePlan
	on      *openEngine // nil before the first file
	saySeed func()      // once
}

// file fills one of the files.
func (j *fillJob) file(of pair) (err error) {
	in, err := j.input(j.c.Context, of, j.std, j.reads()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if j.on == nil {
		if !in.Format().JSON() { // no line has settings of its own
			if err := j.settled(&j.modelFlags); err != nil {
				return err
			}
		}
		j.on, err = j.engine(j.c.Context, j.std, &j.modelFlags, j.NeedsGradient(), j.quiet)
		if err != nil {
			return err
		}
	}
	work, err := j.workOn(in, of.output)
	if err != nil {
		return err
	}
	return j.work(j.c, j.std, work)
}

// workOn is the work on the records of a file.
func (j *fillJob) workOn(in *input.Reader, to string) (fileWork, error) {
	f := j.batchFlags
	none := fileWork{}
	layout, err := f.anyLayout().Of(in, to)
	if err != nil {
		return none, err
	}
	recorded, err := f.recorded()
	if err != nil {
		return none, err
	}
	if err := f.recordFile(recorded, in, layout); err != nil {
		return none, err
	}
	if data, err := j.on.model.Beside(lengths.File, lengths.MaxBytes); err == nil {
		recorded[lengths.File] = fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	}
	lines := in.Format().JSON() // which have settings of their own
	for name, asked := range map[string]bool{"masked": f.Masking.On(),
		"energies": len(f.Words.Energy) > 0, "marginals": f.Fill.Options.Results.Marginals} {
		if asked || lines {
			layout.Asked = append(layout.Asked, name)
		}
	}
	seen := &doubted{model: f.Name}
	bar := newBatchProgress(f.progress, f.quiet, 0, j.std.Err)
	w := &records.Filler{Model: j.on.model, Engine: j.on.Engine, Filling: f.made, Version: version(),
		Doubted: seen.add, Watched: bar.within}
	man := &output.Manifest{
		Version: version(), Model: modelHash(j.on.model), Seed: *f.Seed, Settings: recorded,
		Implied: f.Implied,
	}
	work, err := j.plan(in, w, recorded, &layout)
	if err != nil {
		return none, err
	}
	draws := f.Masking.On() || f.made.Options.Method != infill.MethodSearch
	if draws && !f.quiet {
		work.begins = j.saySeed
	}
	work.in, work.to, work.manifest, work.form, work.doubted, work.bar = in, to, man, layout, seen, bar
	work.workers = records.InFlight(j.on.model.Streams(), f.made.Options.Sampling.Chains)
	return work, nil
}

// recorded is what the manifest has of the flags: all that decides a record.
func (f *batchFlags) recorded() (map[string]string, error) {
	out, err := settings.FillTable().Recorded(&f.Fill)
	if err != nil {
		return nil, err
	}
	ofModel, err := settings.ModelTable().Recorded(&f.Model)
	maps.Copy(out, ofModel)
	return out, err
}

// modelHash names a model in manifests.
func modelHash(m *mlm.Model) string { return "sha256:" + m.Info().SHA256 }
