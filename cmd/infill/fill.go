package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/infill/text"
)

const fillDescription = "" +
	`Prints the best fillings of TEXT, or of each line of standard input. Blanks are [MASK], <mask>
or ___; [MASK*w] is a word of any number of pieces, [MASK*1-3w] one to three words, [MASK*] a
phrase, [MASK*3] three pieces; [MASK:a] … [MASK:a] are the same word, [MASK|red|green] is one of
these, [MASK/ing$/] a whole word that matches an expression.`

// fillFlags are the flags of infill fill.
type fillFlags struct {
	modelFlags
	fillingFlags
	json, quiet, strict    bool
	trace, color, progress string
}

func (f *fillFlags) own() cmdline.Flags {
	return cmdline.Flags{
		jsonFlag(&f.json),
		cmdline.Flag("quiet", "print results only", &f.quiet),
		cmdline.Flag("strict", "stop at the first line that cannot be filled", &f.strict),
		traceFlag(&f.trace),
		cmdline.Word("color", "highlight filled words: auto|always|never", &f.color,
			"auto", "always", "never"),
		progressFlag(&f.progress),
	}
}

func fillCommand(std console.IO) *cli.Command {
	f := &fillFlags{}
	return &cli.Command{
		Name: "fill",
		UsageText: `infill fill "The [MASK] sat on the [MASK]."
infill fill "The [MASK|red|green] car stopped." --json
infill fill "She lives in a small town." --mask-rate 0.3 -n 3 --seed 1`,
		Usage:       "fill the blanks of a sentence",
		ArgsUsage:   "TEXT | -",
		Description: fillDescription,
		Flags: cmdline.Join(f.modelFlags.flags().Common("model"),
			f.fillingFlags.flags(nil).Common("no-repeat", "top", "select"),
			f.own().Under(printingGroup).Common("json", "quiet")),
		Action: func(c *cli.Context) error {
			texts, err := inputTexts(c.Args().Slice(), std)
			if err != nil {
				return err
			}
			return f.run(c, std, texts)
		},
	}
}

func (f *fillFlags) run(c *cli.Context, std console.IO, texts iter.Seq2[line, error]) (err error) {
	single := c.NArg() == 1 && c.Args().First() != "-"
	if err := f.stdin(std.In, !single); err != nil {
		return err
	}
	if f.trace != "" { // which is of chains
		f.Sampling.Chosen = cmp.Or(f.Sampling.Chosen, "trace")
	}
	if err := f.ready(); err != nil {
		return err
	}
	if !single && !f.quiet {
		texts = notingJSON(std, texts, "infill batch -")
	}
	if path := soleFile(c.Args().Slice()); path != "" && f.Masking.On() && !f.quiet {
		sayFile(std, path, "infill batch")
	}
	if err := cmp.Or(f.settled(&f.modelFlags), checkTrace(f.trace)); err != nil {
		return err
	}
	f.modelFlags.Options.Few = single && !f.Masking.On() && f.Sampling.Chosen == "" &&
		oneBlank(c.Args().First())
	e, err := f.engine(c.Context, std, &f.modelFlags, f.NeedsGradient(), f.quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	tr := &traceFile{path: f.trace}
	defer func() { err = errors.Join(err, tr.close()) }()
	w := &filler{fillFlags: f, std: std, openEngine: e, steps: tr, single: single,
		note: onceEach(std.Err, f.quiet)}
	return eachText(std, texts, f.json, single, f.strict, func(n int, text string) error {
		return w.line(c.Context, n, text)
	})
}

// A filler fills lines.
type filler struct {
	*fillFlags
	*openEngine
	std    console.IO
	steps  *traceFile
	single bool         // there is one text, which is not a line
	seeded bool         // the seed was printed
	lines  int          // texts that were printed
	note   func(string) // prints what it has not printed before
}

func (w *filler) line(ctx context.Context, n int, text string) error {
	begin()
	opt := w.made.Options
	opt.ID = fmt.Sprint(n)
	t, masked, err := records.Blanks(w.model.Tokenizer(), text, w.made.Masking, &opt)
	if err != nil {
		if w.single {
			err = advice.OrFile(err, text)
		}
		return advice.OrMask(err)
	}
	steps := opt.Complete().Sampling.Steps
	bar := console.NewMeter(w.progress, w.quiet, w.std.Err)
	opt.Watch.Progress = func(p infill.Progress) error {
		bar.Found(n, p)
		return nil
	}
	opt.Watch.Trace = func(s infill.Step) error {
		bar.Step(n, s.Step, steps)
		return w.steps.enter(w.model.Tokenizer(), jsonl.Step{Line: n}, s)
	}
	interrupted := stoppable(ctx, &opt)
	start := time.Now()
	r, err := w.Engine.Fill(ctx, t, opt)
	bar.Clear()
	early := interrupted()
	if err != nil {
		return err
	}
	out := &filling{n, text, masked, &opt, r, time.Since(start)}
	if w.json {
		err = jsonl.Write(w.std.Out, w.record(out))
	} else {
		err = printText(w.std.Out, w.table(out))
	}
	if err != nil {
		return err
	}
	w.say(out)
	if !w.json && !w.quiet {
		w.notes(out)
	}
	if early {
		return context.Canceled
	}
	return w.ended(ctx, t, out)
}

// ended says, of one text for people, which filling is first with a full stop behind it, if another
// one is. A quick search looks for it.
func (w *filler) ended(ctx context.Context, t *text.Template, f *filling) error {
	o := *f.opt
	if !w.single || w.quiet || w.json || o.EndShown || f.Method == infill.MethodSample ||
		f.Groups != nil || t.WithEnd() == t {
		return nil
	}
	o.EndShown, o.Watch, o.Search.Effort = true, infill.WatchOptions{}, infill.EffortQuick
	o.Results = infill.ResultOptions{Score: o.Results.Score, Top: 1, AsModel: o.Results.AsModel}
	r, err := w.Engine.Fill(ctx, t, o)
	if err != nil {
		return ctx.Err() // nothing is found so, which changes nothing
	}
	if first := r.Fillings[0].Text; first != f.Fillings[0].Text {
		fmt.Fprintf(w.std.Err, "infill: with a full stop behind it the first is %q "+
			"(--end-mark auto, which prints none)\n", shown(w.std.Err, first))
	}
	return nil
}

// say tells of warnings and, once, of a seed that the command has chosen.
func (w *filler) say(f *filling) {
	for _, warn := range f.Warnings {
		at := fmt.Sprintf("line %d: ", f.line)
		if w.single {
			at = ""
		}
		fmt.Fprintf(w.std.Err, "infill: %swarning: %s\n", at, advice.Message(warn))
	}
	// Neither masked nor sampled: the seed is of no use.
	idle := f.Method != infill.MethodSample && f.masked == f.text
	if !w.quiet && !w.seeded && !idle {
		w.seeded = true
		w.saySeed(w.std.Err)
	}
}

// oneBlank reports whether text has a single blank of one token, which takes one row.
func oneBlank(text string) bool {
	found := anyBlank.FindAllString(text, 2)
	return len(found) == 1 && (found[0] != "[MASK" || strings.Contains(text, "[MASK]"))
}

var anyBlank = regexp.MustCompile(`\[MASK|___+`)
