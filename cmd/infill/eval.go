package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch/output"
	"infill/metrics/bleu"
	"infill/report/measure"
	"infill/report/read"
	"infill/report/show"
)

const evalDescription = "" +
	`GENERATED are files of sentences, one a line, or JSON lines or tables of infill fill, batch and
augment, or any others with a field or a column of sentences; - is standard input. Several files
are set side by side.`

// evalFlags are the flags of infill eval.
type evalFlags struct {
	measureFlags
	reading    read.Options
	repetition int
	exclude    string
}

func (f *evalFlags) flags() cmdline.Flags {
	f.repetition = 4
	in := &f.reading
	flags := append(f.measureFlags.flags("case", "intervals over the sources: of BLEU, of "+
		"self-BLEU, and of differences from the first file, where files are of the same texts"),
		cmdline.Word("format", "of the generated files: auto|lines|jsonl", &in.Format, "auto", "lines",
			"jsonl"),
		cmdline.Flag("text-field", "`NAME` of the field or column of the sentences, where they are not "+
			"fillings (default: text)", &in.TextField),
		cmdline.Whole("top", "fillings of each record that count; 0: all", &in.Top, 0, math.MaxInt32),
		cmdline.Whole("sample", "measure a random sample of this many sentences of each file; 0: all",
			&in.Sample, 0, math.MaxInt32),
		cmdline.Whole("seed", "seed of samples and intervals", &in.Seed, 0, math.MaxInt64),
		cmdline.Whole("repetition", "n-gram order of self-repetition", &f.repetition, 1, bleu.MaxOrder),
		cmdline.Flag("paired", "compare sentence i with line i of every reference file", &in.Paired),
		cmdline.Flag("exclude", "`FILE` of sentences, one a line, to leave out of the references (those "+
			"that were infilled)", &f.exclude),
	)
	return flags.OwnEnv("eval", "case", "format", "text-field", "top", "seed")
}

func evalCommand(std console.IO) *cli.Command {
	f := &evalFlags{}
	return &cli.Command{
		Name: "eval",
		UsageText: `infill eval filled.jsonl
infill eval filled.jsonl --reference books.txt --confidence
infill eval a.jsonl b.jsonl --html report.html`,
		Usage: "diversity and quality of generated sentences: self-BLEU, unique n-grams, " +
			"corpus BLEU",
		ArgsUsage:   "GENERATED…",
		Description: evalDescription,
		Flags:       cmdline.Join(f.flags().Under(measuringGroup)),
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 && f.html != "" {
				return usagef("no file of generated sentences: --html takes %s for the page that it "+
					"writes; type: infill eval %[1]s --html report.html", f.html)
			}
			if c.NArg() == 0 {
				return usagef("no file of generated sentences; try: infill eval generated.txt --reference " +
					"corpus.txt")
			}
			return f.run(c, std)
		},
	}
}

// run measures the files.
func (f *evalFlags) run(c *cli.Context, std console.IO) (err error) {
	if err := f.idle(c); err != nil {
		return err
	}
	files := c.Args().Slice()
	if err := onlyOnce(slices.Concat(asStdin("the sentences", files),
		asStdin("--reference", f.references), asStdin("--exclude", []string{f.exclude}))); err != nil {
		return err
	}
	o := measure.EvalOptions{
		Read: f.reading, Repetition: f.repetition,
		Command: typedCommand(), Version: version(), Date: today(),
	}
	if o.Options, err = f.options(c, f.reading.Seed); err != nil {
		return err
	}
	generated := read.Files(files, std.In)
	inputs := slices.Concat(files, f.references, []string{f.exclude})
	if err := f.check(inputs...); err != nil {
		return err
	}
	if f.exclude != "" {
		add := func(_ int, line string) error { o.Exclude = append(o.Exclude, line); return nil }
		err := read.Files([]string{f.exclude}, std.In)[0].Lines(add)
		if err != nil && !errors.Is(err, read.ErrNoSentences) { // an empty file leaves nothing out
			return fmt.Errorf("--exclude: %w", err)
		}
	}
	closeJudge, err := f.openJudge(c.Context, &o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeJudge()) }()
	r, err := measure.Eval(generated, read.Files(f.references, std.In), o)
	if err != nil {
		return err
	}
	sayExclude(r)
	if o.Judge != nil {
		sayJudge(r, o.Judge.Sum)
	}
	records := func(in read.File) bool { return in.Format != "lines" }
	if !slices.ContainsFunc(r.Files, records) { // only reading tells
		if err := cmdline.GoesWith(c, "JSON lines or a table, and every file here is plain text", "top",
			"text-field"); err != nil {
			return err
		}
	}
	return f.render(std, show.Eval(r))
}

// sayExclude adds the flag to the warnings of sentences that are among the references.
func sayExclude(r *measure.EvalResult) {
	for _, file := range r.Files {
		for i, w := range file.Warnings {
			if strings.HasSuffix(w, "; exclude them from the references") {
				file.Warnings[i] = w + ": --exclude FILE"
			}
		}
	}
}

// sayJudge adds to a file that the judge filled it, as its records or its manifest say.
func sayJudge(r *measure.EvalResult, sum string) {
	for i := range r.Files {
		file := &r.Files[i]
		filled := file.Models
		if m, err := output.ReadManifest(file.Name); err == nil {
			filled = append(filled, m.Model)
		}
		if slices.Contains(filled, sum) {
			file.Warnings = append(file.Warnings, sameJudge)
		}
	}
}
