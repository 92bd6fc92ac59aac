package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/settings"
	"infill/infill/text"
	"infill/internal/count"
	"infill/metrics/bleu"
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
	benchFlags
	settings.File
	reportFlags
	givenModels        []string
	givenRuns          []string
	adjacent           bool
	sample             int
	minWords, maxWords int
	level              float64
	times              bool
}

// clozeWords is how many words of a line are blanked out, if nothing else is said.
const clozeWords = 3

// gapWords is how many words a gap may have.
const gapWords = 4

func (f *clozeFlags) filling() cmdline.Flags {
	flags := f.fillingFlags.flags(map[string]string{
		"mask-words": "blank out exactly this many words of each line",
		"mask-rate":  "blank out this share of the words of each line, in place of a number",
		"steps":      "steps of every chain", // no probabilities are estimated
		"top":        "fillings of a line that count, best first",
		"seed": "seed of all randomness, the choice of lines and words too; chosen and printed " +
			"when unset",
	})
	f.Masking.Words = clozeWords
	return append(flags.Without(settings.FillTable().NotOf("cloze")...),
		cmdline.Flag("adjacent",
			"blank out words that follow each other, in place of words from anywhere",
			&f.adjacent))
}

func (f *clozeFlags) own() cmdline.Flags {
	f.File = *settings.FileDefaults()
	f.sample, f.level = 100, bleu.DefaultLevel
	runs := cmdline.Flag("run",
		"`SETTINGS` of a run: NAME=VALUE with spaces between, or a JSON object; "+
			"also model=, name=; repeatable, the first is what the others are compared with", &f.givenRuns)
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
		"of \"infill model list\"; repeatable: all runs with each", &f.givenModels)
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
			if err := oneInput(c, "infill cloze sentences.txt"); err != nil {
				return err
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
	f.Masking.Adjacent = f.adjacent
	if err := f.checkMasked(c); err != nil {
		return err
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
	b := &clozeBench{clozeFlags: f, bench: bench{std: std, flags: &f.benchFlags}}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.plan(); err != nil {
		return err
	}
	items, err := f.items(path, std)
	if err != nil {
		return err
	}
	if !f.quiet {
		f.saySeed(std.Err)
	}
	if err := b.open(c.Context); err != nil {
		return err
	}
	if err := b.take(path, items); err != nil {
		return err
	}
	begin()
	res, err := b.measured(c.Context)
	if err != nil {
		return err
	}
	return b.ended(&f.reportFlags, show.Cloze(res))
}

// checkMasked refuses flags that blank out nothing, or that have no say where lines have gaps.
func (f *clozeFlags) checkMasked(c *cli.Context) error {
	switch {
	case !f.Masking.On():
		return usagef("no word would be blanked out: --mask-words N or --mask-rate X")
	case f.maxWords > 0 && f.minWords > f.maxWords:
		return usagef("--min-words %d is more than --max-words %d", f.minWords, f.maxWords)
	case !f.gaps():
		return nil
	}
	for _, name := range []string{"mask-words", "mask-rate", "adjacent"} {
		if c.IsSet(name) {
			return usagef("--unit phrase leaves one gap of 1 to %d words in a line; leave out --%s",
				gapWords, name)
		}
	}
	return nil
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

// parseRun reads a value of --run.
func parseRun(text string) (*settings.Run, error) {
	r, err := settings.ParseRun(text)
	if err == nil {
		return r, nil
	}
	for _, word := range strings.Fields(text) {
		if slices.Contains(baselines, word) {
			return nil, usagef("--run %s: blanks are filled together, by a search or by sampling; the "+
				"simple ways that they were compared with are in the laboratory: bin/lab baselines",
				console.Quoted([]string{text})[0])
		}
	}
	return nil, fmt.Errorf("--run: %w", err)
}
