package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/internal/disk"
	"infill/internal/unpack"
	"infill/metrics/bleu"
	"infill/metrics/corpus"
	"infill/report"
)

// measureFlags are the flags of the commands that measure sentences.
type measureFlags struct {
	references  *cli.StringSliceFlag
	tokenize    *choice
	metricCase  *choice
	clean       *choice
	cleanGen    *choice
	order       *integer
	weights     string
	smooth      *choice
	smoothValue string
	denominator *choice
	effective   bool
	self        *choice
	first       *integer
	ngrams      string
	confidence  bool
	resamples   *integer
	level       *number
	json        bool
	markdown    string
	html        string
	force       bool
}

func (f *measureFlags) flags(caseFlag string) []cli.Flag {
	f.references = &cli.StringSliceFlag{Name: "reference", Usage: "`FILE` of reference sentences, one a line; repeatable", EnvVars: env("reference")}
	f.tokenize = &choice{"ws", corpus.Tokenizers()}
	f.metricCase = &choice{"lc", []string{"lc", "mixed"}}
	f.clean = &choice{"wc", corpus.Cleanings()}
	f.cleanGen = &choice{"none", corpus.Cleanings()}
	f.order = &integer{v: 4, min: 1, max: 32}
	f.smooth = &choice{"none", bleu.Smoothings()}
	f.denominator = &choice{"nltk", []string{string(bleu.NLTK), string(bleu.SacreBLEU)}}
	f.self = &choice{"corpus", []string{"corpus", "mean", "first", "group"}}
	f.first = &integer{v: 0, min: 0, max: math.MaxInt32}
	f.resamples = &integer{v: 1000, min: 2, max: 1_000_000}
	f.level = &number{v: 0.95, min: 0.5, openMin: true, max: 0.999}
	weights := stringFlag("weights", "BLEU's weights, comma separated; uniform when unset", "")
	weights.Destination = &f.weights
	smoothValue := stringFlag("smooth-value", "parameter of the smoothing", "")
	smoothValue.Destination = &f.smoothValue
	effective := boolFlag("effective-order", "leave out orders that a sentence is too short for")
	effective.Destination = &f.effective
	ngrams := stringFlag("ngrams", "orders of unique n-grams, comma separated", "")
	ngrams.Destination = &f.ngrams
	confidence := boolFlag("confidence", "bootstrap intervals of BLEU and self-BLEU")
	confidence.Destination = &f.confidence
	asJSON := boolFlag("json", "print the result as JSON")
	asJSON.Destination = &f.json
	markdown := stringFlag("markdown", "write the report to a `FILE` as Markdown", "")
	markdown.Destination = &f.markdown
	html := stringFlag("html", "write the report to a `FILE` as one self-contained HTML page", "")
	html.Destination = &f.html
	force := boolFlag("force", "overwrite report files that exist")
	force.Destination = &f.force
	return []cli.Flag{f.references,
		valueFlag("tokenize", "tokens that are counted: "+strings.Join(corpus.Tokenizers(), "|"), f.tokenize),
		valueFlag(caseFlag, "lc: compare in lower case; mixed: as written", f.metricCase),
		valueFlag("clean", "cleaning of the references: "+strings.Join(corpus.Cleanings(), "|"), f.clean),
		valueFlag("clean-generated", "cleaning of the generated sentences: "+strings.Join(corpus.Cleanings(), "|"), f.cleanGen),
		valueFlag("bleu-order", "longest n-gram of BLEU", f.order), weights,
		valueFlag("smooth", "smoothing of BLEU: "+strings.Join(bleu.Smoothings(), "|"), f.smooth), smoothValue,
		valueFlag("denominator", "convention for sentences shorter than n: nltk|sacrebleu", f.denominator), effective,
		valueFlag("self-bleu", "variant of self-BLEU: corpus (pooled)|mean|first|group", f.self),
		valueFlag("first", "sentences of the variant first", f.first), ngrams, confidence,
		valueFlag("resamples", "bootstrap resamples", f.resamples),
		valueFlag("level", "level of the intervals", f.level),
		asJSON, markdown, html, force,
	}
}

// options turns the flags into the options of a report.
func (f *measureFlags) options(seed uint64) (report.Options, error) {
	o := report.Options{
		Tokenize: f.tokenize.v, Case: f.metricCase.v, Clean: f.clean.v, CleanGenerated: f.cleanGen.v,
		Order: int(f.order.v), Smoothing: f.smooth.v, Denominator: f.denominator.v, EffectiveOrder: f.effective,
		SelfBLEU: f.self.v, First: int(f.first.v),
		Confidence: f.confidence, Resamples: int(f.resamples.v), Level: f.level.v, Seed: seed,
	}
	var err error
	if o.Weights, err = numbers("weights", f.weights, func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0) || v < 0) {
			err = strconv.ErrRange
		}
		return v, err
	}); err != nil {
		return o, err
	}
	if o.Ngrams, err = numbers("ngrams", f.ngrams, strconv.Atoi); err != nil {
		return o, err
	}
	if f.smoothValue != "" {
		v := &number{min: 0, max: math.MaxFloat64}
		if err := v.Set(f.smoothValue); err != nil {
			return o, usagef("--smooth-value %q: %v", f.smoothValue, err)
		}
		o.SmoothValue = &v.v
	}
	return o, nil
}

// numbers parses a comma-separated list; an empty one is nil.
func numbers[T any](flag, s string, parse func(string) (T, error)) ([]T, error) {
	if s == "" {
		return nil, nil
	}
	var out []T
	for _, p := range strings.Split(s, ",") {
		v, err := parse(strings.TrimSpace(p))
		if err != nil {
			return nil, usagef("--%s: %q is no number that fits there", flag, p)
		}
		out = append(out, v)
	}
	return out, nil
}

// renderer is a result of package report.
type renderer interface {
	WriteText(io.Writer) error
	WriteJSON(io.Writer) error
	WriteMarkdown(io.Writer) error
	WriteHTML(io.Writer) error
}

// check refuses, before any work is done, to overwrite files: those that exist
// without --force, and those that the command reads ("-" is standard input) in
// any case.
func (f *measureFlags) check(inputs ...string) error {
	targets := []target{{"--markdown", f.markdown}, {"--html", f.html}}
	if err := checkTargets(targets, inputs...); err != nil {
		return err
	}
	for _, t := range targets {
		if t.path == "" {
			continue
		}
		info, err := os.Lstat(t.path)
		switch {
		case err != nil:
		case !f.force:
			return usagef("%s %s: the file exists; remove it, name another, or give --force", t.what, t.path)
		case info.Mode()&os.ModeSymlink == 0 && !info.Mode().IsRegular():
			// The report takes the place of what is there, be it a device.
			return usagef("%s %s: it is no regular file; name another", t.what, t.path)
		}
	}
	return nil
}

// render prints a result and writes the files that were asked for.
func (f *measureFlags) render(std stdio, r renderer) error {
	if err := writeFile(f.markdown, r.WriteMarkdown); err != nil {
		return err
	}
	if err := writeFile(f.html, r.WriteHTML); err != nil {
		return err
	}
	if f.json {
		return r.WriteJSON(std.out)
	}
	return r.WriteText(std.out)
}

// writeFile writes a file whole or not at all; an empty path writes nothing.
func writeFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	return disk.WriteFunc(path, write)
}

func evalCommand(std stdio) *cli.Command {
	var f measureFlags
	format := &choice{"auto", []string{"auto", "lines", "jsonl"}}
	top := &integer{v: 0, min: 0, max: math.MaxInt32}
	sample := &integer{v: 0, min: 0, max: math.MaxInt32}
	seed := &integer{v: 0, min: 0, max: math.MaxInt64}
	repetition := &integer{v: 4, min: 1, max: 32}
	var paired bool
	pair := boolFlag("paired", "compare sentence i with line i of every reference file")
	pair.Destination = &paired
	exclude := stringFlag("exclude", "`FILE` of sentences to leave out of the references (those that were infilled)", "")
	flags := append(f.flags("case"),
		valueFlag("format", "of the generated files: auto|lines|jsonl", format),
		valueFlag("top", "fillings of each record that count; 0: all", top),
		valueFlag("sample", "measure a random sample of so many sentences of each file; 0: all", sample),
		valueFlag("seed", "seed of samples and intervals", seed),
		valueFlag("repetition", "n-gram order of self-repetition", repetition), pair, exclude)
	// These mean other things in the commands that sample, whose variables must
	// not change what is measured.
	for _, f := range flags {
		if g, ok := f.(*cli.GenericFlag); ok && slices.Contains([]string{"case", "format", "top", "seed"}, g.Name) {
			g.EnvVars = env("eval-" + g.Name)
		}
	}
	return &cli.Command{
		Name:      "eval",
		Usage:     "diversity and quality of generated sentences: self-BLEU, unique n-grams, corpus BLEU",
		ArgsUsage: "GENERATED…",
		Description: "GENERATED are files of sentences, one a line, or JSON lines of infill fill and batch; - is\n" +
			"standard input. Several files are set side by side.",
		Flags: flags,
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return usagef("no file of generated sentences; try: infill eval generated.txt --reference corpus.txt")
			}
			o := report.EvalOptions{Paired: paired, Repetition: int(repetition.v)}
			var err error
			if o.Options, err = f.options(uint64(seed.v)); err != nil {
				return err
			}
			o.ReadOptions = report.ReadOptions{Format: format.v, Top: int(top.v), Sample: int(sample.v)}
			inputs := append(c.Args().Slice(), c.StringSlice("reference")...)
			if err := f.check(append(inputs, c.String("exclude"))...); err != nil {
				return err
			}
			if path := c.String("exclude"); path != "" {
				if err := readLines(path, func(s string) { o.Exclude = append(o.Exclude, s) }); err != nil {
					return fmt.Errorf("--exclude: %w", err)
				}
			}
			r, err := report.Eval(report.Files(c.Args().Slice(), std.in), report.Files(c.StringSlice("reference"), std.in), o)
			if err != nil {
				return err
			}
			return f.render(std, r)
		},
	}
}

// readLines calls do with every line of a file that is not empty.
func readLines(path string, do func(string)) error {
	file, err := unpack.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for l, err := range lines(path, file) {
		if err != nil && l.n > 0 {
			return fmt.Errorf("%s: %w", path, atLine(l.n, err))
		}
		if err != nil {
			return err
		}
		do(l.text)
	}
	return nil
}
