package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/settings"
	"infill/internal/disk"
	"infill/metrics/bleu"
	"infill/metrics/corpus"
	"infill/metrics/judge"
	"infill/mlm"
	"infill/report/measure"
)

// measureFlags are the flags of the commands that measure sentences.
type measureFlags struct {
	measured             measure.Options
	confidence           bool
	intervals            bleu.Confidence // with confidence
	references           []string
	weights, smoothValue string
	ngrams, judge        string
	reportFlags
}

// reportFlags say where a report goes.
type reportFlags struct {
	json, force    bool
	markdown, html string
}

// flags are the options of the commands that measure. caseFlag names the option for upper and lower
// case, confidence is the help of --confidence.
func (f *measureFlags) flags(caseFlag, confidence string) cmdline.Flags {
	m, b, c := &f.measured, &f.measured.BLEU, &f.intervals
	m.Clean, m.CleanGenerated = "wc", "none"
	b.Smoothing, b.Order = bleu.DefaultSmoothing, bleu.DefaultOrder
	c.Resamples, c.Level = bleu.DefaultResamples, bleu.DefaultLevel
	cleanings := corpus.Cleanings()
	return append(cmdline.Flags{
		cmdline.Flag("reference", "`FILE` of reference sentences, one a line; repeatable", &f.references),
		cmdline.Word("tokenize", "tokens that are counted:", &m.Tokenize, corpus.Tokenizers()...),
		cmdline.Word(caseFlag, "lc: compare in lower case; mixed: as written", &m.Case, "lc", "mixed"),
		cmdline.Word("clean", "cleaning of the references:", &m.Clean, cleanings...),
		cmdline.Word("clean-generated", "cleaning of the generated sentences:", &m.CleanGenerated,
			cleanings...),
		cmdline.Whole("bleu-order", "longest n-gram of BLEU", &b.Order, 1, bleu.MaxOrder),
		cmdline.Flag("weights", "BLEU's `WEIGHTS`, comma separated, one for each order up to the "+
			"longest; uniform when unset", &f.weights),
		cmdline.Word("smooth", "smoothing of BLEU:", &b.Smoothing, bleu.Smoothings()...),
		cmdline.Flag("smooth-value", "parameter `X` of the smoothing", &f.smoothValue),
		cmdline.Word("denominator", "convention for sentences shorter than n:", &b.Denominator,
			bleu.Denominators()...),
		cmdline.Flag("effective-order", "leave out orders that a sentence is too short for",
			&b.EffectiveOrder),
		cmdline.Word("self-bleu", "variant of self-BLEU: corpus (pooled)|mean|first|group", &b.Variant,
			bleu.Variants()...),
		cmdline.Whole("first", "sentences of the variant first", &b.First, 0, math.MaxInt32),
		cmdline.Flag("ngrams", "`ORDERS` of unique n-grams, comma separated", &f.ngrams),
		cmdline.Flag("judge", "a `FOLDER` with a causal model, such as GPT-2, that did not fill the "+
			"texts and gives their perplexity; or a masked model, for pseudo-perplexity", &f.judge),
		cmdline.Flag("confidence", confidence, &f.confidence),
		cmdline.Whole("resamples", "resamples of a bootstrap", &c.Resamples, 2, bleu.MaxResamples),
		cmdline.New("level", "level of the intervals", settings.NumberValue(&c.Level, 0.5, 0.999, true)),
	}.Under(measuringGroup), cmdline.Flags{
		cmdline.Flag("json", "print the result as JSON", &f.json),
		cmdline.Write("markdown", "write the report to a `FILE` as Markdown", &f.markdown),
		cmdline.Write("html", "write the report to a `FILE` as one self-contained HTML page", &f.html),
		cmdline.Flag("force", "overwrite report files that exist", &f.force),
	}.Under(printingGroup)...)
}

// idle refuses flags that nothing would come of.
func (f *measureFlags) idle(c *cli.Context) error {
	if f.measured.BLEU.Variant != "first" {
		if err := cmdline.GoesWith(c, "--self-bleu first", "first"); err != nil {
			return err
		}
	} else if f.measured.BLEU.First < 2 {
		return usagef("--self-bleu first goes with the number of sentences (want 2 or more): --first N")
	}
	if !f.confidence {
		if err := cmdline.GoesWith(c, "--confidence", "resamples", "level"); err != nil {
			return err
		}
	}
	if len(f.references) == 0 {
		return cmdline.GoesWith(c, "--reference FILE", "clean", "exclude")
	}
	return nil
}

// options turns the flags into the options of a report. Weights alone say what the order is.
func (f *measureFlags) options(c *cli.Context, seed uint64) (measure.Options, error) {
	o := f.measured
	b := &o.BLEU
	if f.confidence {
		f.intervals.Seed = seed
		b.Confidence = &f.intervals
	}
	var err error
	if b.Weights, err = numbers("weights", f.weights, func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0) || v < 0) {
			err = strconv.ErrRange
		}
		return v, err
	}); err != nil {
		return o, err
	}
	if b.Weights != nil && !c.IsSet("bleu-order") {
		b.Order = 0
	}
	if o.Ngrams, err = numbers("ngrams", f.ngrams, strconv.Atoi); err != nil {
		return o, err
	}
	if f.smoothValue != "" {
		b.SmoothValue = new(float64)
		v := settings.NumberValue(b.SmoothValue, 0, math.MaxFloat64, false)
		if err := v.Set(f.smoothValue); err != nil {
			return o, usagef("--smooth-value %q: %v", f.smoothValue, err)
		}
	}
	return o, nil
}

// openJudge opens the model of --judge, if there is one, for the options. What it returns closes
// it.
func (f *measureFlags) openJudge(ctx context.Context, o *measure.Options) (func() error, error) {
	if f.judge == "" {
		return func() error { return nil }, nil
	}
	threads := min(runtime.GOMAXPROCS(0), mlm.MaxThreads)
	j, err := judge.Open(ctx, f.judge, mlm.Options{Threads: threads})
	if err != nil {
		return nil, fmt.Errorf("--judge: %w", err)
	}
	o.Judge = &measure.Judge{Sum: j.Sum, Pseudo: j.Pseudo,
		Verdicts: func(texts []string) ([]judge.Verdict, error) { return j.Verdicts(ctx, texts) }}
	return j.Close, nil
}

// sameJudge is the warning of a judge that filled the texts itself.
const sameJudge = "the judge is the model that filled the texts, which flatters its own; name " +
	"another: --judge FOLDER"

// numbers parses a comma-separated list; an empty one is nil.
func numbers[T any](flag, s string, parse func(string) (T, error)) ([]T, error) {
	if s == "" {
		return nil, nil
	}
	var out []T
	for _, p := range strings.Split(s, ",") {
		v, err := parse(strings.TrimSpace(p))
		if err != nil {
			return nil, usagef("--%s: %q is not a number that fits there", flag, p)
		}
		out = append(out, v)
	}
	return out, nil
}

// renderer is a document of package show.
type renderer interface {
	Text(io.Writer) error
	JSON(io.Writer) error
	Markdown(io.Writer) error
	HTML(io.Writer) error
}

// check refuses, before any work is done, to overwrite files: those that exist without --force, and
// those that the command reads ("-" is standard input) in any case.
func (f *reportFlags) check(inputs ...string) error {
	targets := []target{{"--markdown", f.markdown}, {"--html", f.html}}
	if err := checkTargets(targets, inputs...); err != nil {
		return err
	}
	return checkReplaced(targets, f.force)
}

// render writes the files that were asked for and prints a result. It prints also where a file
// cannot be written: the result may have taken hours.
func (f *reportFlags) render(std console.IO, r renderer) error {
	err := errors.Join(writeFile(f.markdown, r.Markdown), writeFile(f.html, r.HTML))
	show := r.Text
	if f.json {
		show = r.JSON
	}
	shown := show(std.Out)
	if err != nil && errors.Is(shown, syscall.EPIPE) {
		return err // a reader that went away ends the run quietly, and this must be said
	}
	return errors.Join(err, shown)
}

// writeFile writes a file whole or not at all; an empty path writes nothing.
func writeFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	return disk.WriteFunc(path, write)
}

// typedCommand is what was typed, as a shell would need it.
func typedCommand() string {
	return "infill " + strings.Join(console.Quoted(os.Args[min(1, len(os.Args)):]), " ")
}

func today() string { return time.Now().Format(time.DateOnly) }
