package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/count"
	"infill/metrics/bleu"
	"infill/mlm"
	"infill/report/measure"
	"infill/report/show"
)

const clozeDescription = "" +
	`INPUT has complete sentences, one a line, as JSON lines or in a table; - is standard input. Words
of each are blanked out and filled again, and those that come back are counted. Every --run has
settings as NAME=VALUE, such as "sampler=dmala steps=50", with the flags for the others; "fill" has
those of the flags, as without --run. All runs get the same lines and words, and the differences are
from the first run.`

// clozeFlags are the flags of infill cloze.
type clozeFlags struct {
	modelFlags
	fillingFlags
	settings.File
	models             []string
	runs               []string
	adjacent           bool
	sample             int
	minWords, maxWords int
	level              float64
	times              bool
	quiet              bool
	reportFlags
	progress string
}

// clozeWords is how many words of a line are blanked out, if nothing else is said.
const clozeWords = 3

// gapWords is how many words a gap may have.
const gapWords = 4

func (f *clozeFlags) filling() cmdline.Flags {
	flags := f.fillingFlags.flags().Without(settings.FillTable().NotOf("cloze")...)
	f.Masking.Words = clozeWords
	for _, o := range flags {
		switch o.Name {
		case "mask-words":
			o.Usage = "blank out exactly this many words of each line"
		case "mask-rate":
			o.Usage = "blank out this share of the words of each line, in place of a number"
		case "steps": // no probabilities are estimated
			o.Usage = "steps of every chain"
		case "top":
			o.Usage = "fillings of a line that count, best first"
		case "seed":
			o.Usage = "seed of all randomness, the choice of lines and words too; chosen and printed " +
				"when unset"
		}
	}
	return append(flags,
		cmdline.Flag("adjacent",
			"blank out words that follow each other, in place of words from anywhere",
			&f.adjacent))
}

func (f *clozeFlags) own() cmdline.Flags {
	f.File = *settings.FileDefaults()
	f.sample, f.level = 100, bleu.DefaultLevel
	runs := cmdline.Flag("run",
		"`SETTINGS` of a run: NAME=VALUE with spaces between, or a JSON object; "+
			"also model=, name=; repeatable, the first is what the others are compared with", &f.runs)
	runs.Env = "" // a list of the environment would come on top of the flags
	own := cmdline.Flags{
		runs,
		cmdline.Whole("sample", "lines to fill, drawn from all that fit with --seed; 0: all", &f.sample,
			0, math.MaxInt32),
		cmdline.Whole("min-words", "leave out lines of fewer words", &f.minWords, 0, math.MaxInt32),
		cmdline.Whole("max-words", "leave out lines of more words; 0: none", &f.maxWords, 0,
			math.MaxInt32),
		cmdline.New("level", "level of the intervals", settings.NumberValue(&f.level, 0.5, 0.999, true)),
	}
	for _, o := range cmdline.Settings(settings.FileTable(), &f.File, nil) {
		switch o.Name {
		case "format", "text-field", "encoding", "no-header", "quote", "delimiter", "limit":
			own = append(own, o)
		}
	}
	return own.OwnEnv("cloze", "sample").Under(measuringGroup)
}

func clozeCommand(std console.IO) *cli.Command {
	f := &clozeFlags{}
	models := cmdline.Flag("model", "`MODEL`: a folder of an ONNX export, its .onnx file, or a name "+
		"of \"infill model list\"; repeatable: all runs with each", &f.models)
	models.Env = "" // the variable is read below
	return &cli.Command{
		Name: "cloze",
		UsageText: `infill cloze sentences.txt
infill cloze sentences.txt --model small --model default --run greedy
infill cloze sentences.txt --adjacent --run fill --run "sampler=dmala steps=50"`,
		Usage:       "blank out words of a file and count those that come back, by model and settings",
		ArgsUsage:   "INPUT",
		Description: clozeDescription,
		Flags: cmdline.Join(cmdline.Flags{models}.Under(modelGroup),
			f.modelFlags.flags().Without("model", "model-file"), f.filling().Under(fillingGroup), f.own(),
			cmdline.Flags{
				cmdline.Flag("times", "measure the processor time of each run too", &f.times),
				cmdline.Flag("json", "print the result as JSON", &f.json),
				cmdline.Write("markdown", "write the report to a `FILE` as Markdown", &f.markdown),
				cmdline.Flag("force", "overwrite a report file that exists", &f.force),
				cmdline.Flag("quiet", "print results only", &f.quiet),
				progressFlag(&f.progress),
			}.Under(printingGroup)),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("one file of sentences, got %d arguments; try: infill cloze sentences.txt",
					c.NArg())
			}
			return f.run(c, std)
		},
	}
}

func (f *clozeFlags) run(c *cli.Context, std console.IO) (err error) {
	path := c.Args().First()
	if c.IsSet("mask-rate") && !c.IsSet("mask-words") {
		f.Masking.Words = 0
	}
	switch {
	case !f.Masking.On():
		return usagef("no word would be blanked out: --mask-words N or --mask-rate X")
	case f.maxWords > 0 && f.minWords > f.maxWords:
		return usagef("--min-words %d is more than --max-words %d", f.minWords, f.maxWords)
	}
	if f.Masking.Adjacent = f.adjacent; f.gaps() {
		for _, name := range []string{"mask-words", "mask-rate", "adjacent"} {
			if c.IsSet(name) {
				return usagef("--unit phrase leaves one gap of 1 to %d words in a line; leave out --%s",
					gapWords, name)
			}
		}
	}
	if err := f.stdin(std.In, path == "-"); err != nil {
		return err
	}
	if slices.Contains(f.reads(), "-") {
		return usagef("every run reads the files of its settings, so none can be standard input; name it")
	}
	if err := cmp.Or(f.ready(), f.check(append(f.reads(), path)...)); err != nil {
		return err
	}
	runs, err := f.planned()
	if err != nil {
		return err
	}
	items, err := f.items(path, std)
	if err != nil {
		return err
	}
	if f.seedChosen && !f.quiet {
		fmt.Fprintf(std.Err, "seed %d (repeat with --seed %[1]d)\n", *f.Seed)
	}
	b := &clozeBench{flags: f, runs: runs,
		bench: bench{std: std, quiet: f.quiet, progress: f.progress}}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.open(c.Context); err != nil {
		return err
	}
	if err := b.take(path, items); err != nil {
		return err
	}
	begin()
	res, err := f.measured(c.Context, b)
	if err != nil {
		return err
	}
	return b.ended(&f.reportFlags, show.Cloze(res))
}

// measured fills the lines by all runs.
func (f *clozeFlags) measured(ctx context.Context, b *clozeBench) (*measure.ClozeResult, error) {
	test := &measure.ClozeResult{
		Command: typedCommand(), Version: version(), Date: today(), Seed: *f.Seed,
		Protocol: f.protocol(), Gaps: f.gaps(), Level: f.level, Notes: b.notes,
		Among: f.fillingFlags.Options.Results.Top,
	}
	for _, m := range b.models {
		test.Models = append(test.Models, fmt.Sprintf("%s (%s)", m.name, modelName(m.model)))
	}
	for i := range b.runs {
		run, err := b.fill(ctx, i)
		if err != nil {
			return nil, err
		}
		test.Runs = append(test.Runs, *run)
	}
	return test, measure.Cloze(test)
}

// gaps reports whether each line gets one gap of several words.
func (f *clozeFlags) gaps() bool { return f.fillingFlags.Options.Words.Unit == text.UnitPhrase }

// protocol says in words what is blanked out, and in what lines.
func (f *clozeFlags) protocol() string {
	what := count.Of(f.Masking.Words, "word")
	if f.Masking.Rate > 0 {
		what = fmt.Sprintf("%g %% of the words", 100*f.Masking.Rate)
	}
	where := "anywhere"
	if f.adjacent {
		where = "next to each other"
	}
	said := fmt.Sprintf("%s of each blanked out, %s", what, where)
	if f.gaps() {
		said = fmt.Sprintf("a gap of 1 to %d words in each", gapWords)
	}
	switch {
	case f.minWords > 0 && f.maxWords > 0:
		said += fmt.Sprintf(", lines of %d to %d words", f.minWords, f.maxWords)
	case f.minWords > 0:
		said += fmt.Sprintf(", lines of %s or more", count.Of(f.minWords, "word"))
	case f.maxWords > 0:
		said += fmt.Sprintf(", lines of %s at most", count.Of(f.maxWords, "word"))
	}
	return said
}

// baselines are runs of earlier programs, which filled without a search.
var baselines = []string{"alone", "greedy", "confident"}

// A clozeRun is one way to fill lines.
type clozeRun struct {
	name    string
	model   *clozeModel
	filling *fillingFlags
	engine  *infill.Engine // of the run alone, so that none profits from what another has asked
}

// A clozeModel is a model of some of the runs.
type clozeModel struct {
	name  string
	flags *modelFlags
	model *mlm.Model // nil until it is open
}

// planned are the runs of the flags, with their models, which are not open.
func (f *clozeFlags) planned() ([]*clozeRun, error) {
	texts := f.runs
	if len(texts) == 0 {
		texts = []string{settings.RunFill}
	}
	models := map[string]*clozeModel{}
	model := func(name string) (*clozeModel, error) {
		if m := models[name]; m != nil {
			return m, nil
		}
		if _, err := resolveModel(name, ""); err != nil {
			return nil, err
		}
		flags := f.modelFlags
		flags.Name, flags.opened = name, nil
		models[name] = &clozeModel{name: name, flags: &flags}
		return models[name], nil
	}
	var runs []*clozeRun
	if f.models == nil {
		f.models = []string{cmp.Or(os.Getenv(settings.EnvName("model")), settings.DefaultModel)}
	}
	for _, name := range f.models {
		for _, text := range texts {
			r, err := settings.ParseRun(text)
			if err != nil {
				if slices.ContainsFunc(baselines, func(b string) bool {
					return slices.Contains(strings.Fields(text), b)
				}) {
					return nil, usagef("--run %s: blanks are filled together, by a search or by sampling; the "+
						"simple ways that they were compared with are in the laboratory: bin/lab baselines",
						console.Quoted([]string{text})[0])
				}
				return nil, fmt.Errorf("--run: %w", err)
			}
			filling, err := f.ForRun(r)
			if err == nil {
				err = filling.CheckOptions()
			}
			if err != nil {
				return nil, fmt.Errorf("--run %s: %w", console.Quoted([]string{r.Text})[0], err)
			}
			run := &clozeRun{name: r.Name, filling: &fillingFlags{Fill: *filling}}
			of := name
			if r.Model != "" {
				if of = r.Model; name != f.models[0] {
					continue // it has a model of its own, and is not one of each
				}
			}
			if run.model, err = model(of); err != nil {
				return nil, err
			}
			runs = append(runs, run)
		}
	}
	return runs, nameRuns(runs, len(models) > 1)
}

// nameRuns completes the names of runs, and refuses two of one name.
func nameRuns(runs []*clozeRun, models bool) error {
	var names []string
	for _, r := range runs {
		if r.name == "" {
			r.name = settings.RunFill
		}
		if models {
			r.name += ", " + r.model.name
		}
		if slices.Contains(names, r.name) {
			return usagef("two runs are called %q; name one of them: name=NAME", r.name)
		}
		names = append(names, r.name)
	}
	return nil
}

// open opens the models of all runs, and what the runs read, before any line is filled.
func (b *clozeBench) open(ctx context.Context) error {
	for _, r := range b.runs {
		if !slices.Contains(b.models, r.model) {
			b.models = append(b.models, r.model)
		}
	}
	for _, m := range b.models {
		m.flags.Options.Forward = slices.ContainsFunc(b.runs, func(r *clozeRun) bool {
			return r.model == m && !r.filling.NeedsGradient()
		})
		var err error
		if m.model, err = m.flags.open(ctx); err != nil {
			return err
		}
		b.atEnd(m.flags.close)
		warn(b.std, m.model, b.quiet)
	}
	for _, r := range b.runs {
		var err error
		r.engine, err = r.filling.prepare(ctx, r.model.model, r.model.flags.secondModels(), b.std.Err,
			b.quiet)
		if err != nil {
			return fmt.Errorf("run %s: %w", r.name, err)
		}
		b.atEnd(r.filling.CloseParts)
	}
	return nil
}

// wordsIn are the filled words of each filling, as they stand in its text.
func wordsIn(fillings []infill.Filling) [][]string {
	out := make([][]string, len(fillings))
	for k, f := range fillings {
		for _, s := range f.Spans {
			out[k] = append(out[k], f.Text[s[0]:s[1]])
		}
	}
	return out
}
