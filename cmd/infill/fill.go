package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"infill/infill"
	"infill/infill/jsonl"
	"infill/infill/records"
	"infill/internal/count"
	"infill/mlm"
)

const fillDescription = "" +
	`Prints the best fillings of TEXT, best first, with their scores, and for a single blank with
their exact probabilities. Blanks are [MASK], <mask> or ___;
[MASK:a] … [MASK:a] are the same word, [MASK*3] is three tokens, [MASK*1-3] one to three,
[MASK|red|green] one of these, [MASK/ing$/] a whole word that matches an expression.
With - or without TEXT, reads standard input, one sentence a line.`

// fillFlags are the flags of infill fill.
type fillFlags struct {
	modelFlags
	fillingFlags
	json, quiet, strict    bool
	trace, color, progress string
}

func (f *fillFlags) own() []*option {
	return []*option{
		jsonFlag(&f.json),
		boolFlag("quiet", "print results only", &f.quiet),
		boolFlag("strict", "stop at the first line that cannot be filled", &f.strict),
		traceFlag(&f.trace),
		wordFlag("color", "highlight filled words: auto|always|never", &f.color,
			"auto", "always", "never"),
		progressFlag(&f.progress),
	}
}

func fillCommand(std stdio) *cli.Command {
	f := &fillFlags{}
	return &cli.Command{
		Name: "fill",
		UsageText: `infill fill "The [MASK] sat on the [MASK]."
infill fill "The [MASK|red|green] car stopped." --json
infill fill "She lives in a small town." --mask-rate 0.3 -n 3 --seed 1`,
		Usage:       "fill the blanks of a sentence",
		ArgsUsage:   "TEXT | -",
		Description: fillDescription,
		Flags: join(f.modelFlags.flags(), f.fillingFlags.flags(),
			group(groupOutput, f.own())),
		Action: func(c *cli.Context) error {
			texts, err := inputTexts(c.Args().Slice(), std)
			if err != nil {
				return err
			}
			return f.run(c, std, texts)
		},
	}
}

func (f *fillFlags) run(c *cli.Context, std stdio, texts iter.Seq2[line, error]) (err error) {
	single := c.NArg() == 1 && c.Args().First() != "-"
	if err := f.stdin(std.in, !single); err != nil {
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
	if err := f.settled(&f.modelFlags); err != nil {
		return err
	}
	if err := checkTrace(f.trace); err != nil {
		return err
	}
	f.modelFlags.Options.Few = single && !f.Masking.On() && f.Sampling.Chosen == "" &&
		oneBlank(c.Args().First())
	m, engine, done, err := f.engine(c.Context, std, &f.modelFlags, f.quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	tr := newTrace(f.trace)
	defer func() { err = errors.Join(err, tr.close()) }()
	w := &fillWriter{fillFlags: f, std: std, model: m, engine: engine, trace: tr,
		single: single, say: onceEach(std.err, f.quiet)}
	return eachText(std, texts, f.json, single, f.strict, func(n int, text string) error {
		return w.line(c.Context, n, text)
	})
}

// fillWriter fills lines and prints what comes out.
type fillWriter struct {
	*fillFlags
	std    stdio
	model  *mlm.Model
	engine *infill.Engine
	trace  *traceFile
	single bool // there is one text, which is not a line
	lines  int
	seeded bool // the seed was printed
	say    func(note string)
}

func (w *fillWriter) line(ctx context.Context, n int, text string) error {
	begin()
	opt := w.Fill.Options
	opt.ID = fmt.Sprint(n)
	t, masked, err := records.Blanks(w.model.Tokenizer(), text, w.Masking, &opt)
	if err != nil {
		if w.single {
			err = orFile(err, text)
		}
		return orMask(err)
	}
	ran := opt.Complete()
	bar := newProgress(w.progress, w.quiet, w.std.err, ran.Sampling.NumSteps())
	opt.Watch.Progress = func(p infill.Progress) error {
		bar.found(n, p)
		return nil
	}
	opt.Watch.Trace = func(s infill.Step) error {
		bar.step(n, s.Step)
		return w.trace.write(w.model, n, s)
	}
	interrupted := stoppable(ctx, &opt)
	start := time.Now()
	r, err := w.engine.Fill(ctx, t, opt)
	bar.clear()
	early := interrupted()
	if err != nil {
		return err
	}
	w.lines++
	if w.json {
		rec := records.Filled(w.model, version(), text, masked, &opt, r)
		rec.Line = n
		err = jsonl.Write(w.std.out, rec)
	} else {
		err = w.print(r)
	}
	if err != nil {
		return err
	}
	for _, warn := range r.Warnings {
		at := fmt.Sprintf("line %d: ", n)
		if w.single {
			at = ""
		}
		fmt.Fprintf(w.std.err, "infill: %swarning: %s\n", at, message(warn))
	}
	// Neither masked nor sampled: the seed is of no use.
	idle := r.Method != infill.MethodSample && masked == text
	if !w.quiet && w.seedChosen && !w.seeded && !idle {
		w.seeded = true
		fmt.Fprintf(w.std.err, "seed %d (repeat with --seed %d)\n", opt.Seed, opt.Seed)
	}
	if note := recutNote(r.Fillings); note != "" && !w.quiet && !w.json {
		fmt.Fprintln(w.std.err, note)
	}
	if !w.json {
		for _, d := range infill.Doubts(w.model.Tokenizer(), text) {
			w.say(doubtNote(jsonl.Doubt(d), w.Name))
		}
	}
	if !w.quiet && !w.json {
		if note := paperNote(&w.Fill.Options); note != "" {
			w.say(note)
		}
		fmt.Fprintf(w.std.err, "%s\n", w.summary(r, time.Since(start)))
	}
	if early {
		return context.Canceled
	}
	return nil
}

func (w *fillWriter) print(r *infill.Result) error {
	var b strings.Builder
	if w.lines > 1 {
		b.WriteByte('\n')
	}
	// The number of tokens may decide: fillings of open lengths are ranked by the score per token.
	open := slices.ContainsFunc(r.Fillings,
		func(f infill.Filling) bool { return f.Len() != r.Fillings[0].Len() })
	color := useColor(w.color, w.std.out)
	for _, f := range r.Fillings {
		text := f.Text
		if isTerminal(w.std.out) {
			text = printable(text)
		}
		if color && len(text) == len(f.Text) {
			text = highlight(text, f.Spans)
		}
		fmt.Fprintf(&b, "%8.2f  ", f.Score)
		if open {
			fmt.Fprintf(&b, "%6.2f per token  ", f.ScorePerToken)
		}
		if r.Exact {
			fmt.Fprintf(&b, "%s  ", percent(f.Probability))
		}
		if len(r.Normalizers) > 0 {
			fmt.Fprintf(&b, "log P %s  ", nats("%.2f", f.LogProbability))
		}
		if f.Energies != nil {
			b.WriteString(energiesOf(f.Energies) + "  ")
		}
		b.WriteString(text + "\n")
	}
	b.WriteString(normalizersTable(r.Normalizers))
	if r.Marginals != nil {
		b.WriteString(marginalsTable(r.Marginals, func(s string) string {
			if isTerminal(w.std.out) {
				return printable(s)
			}
			return s
		}))
	}
	_, err := io.WriteString(w.std.out, b.String())
	return err
}

// percent is a share as a column of a table.
func percent(share float64) string {
	if share > 0 && share < .0005 {
		return " <0.1 %"
	}
	return fmt.Sprintf("%5.1f %%", 100*share)
}

// searched sums a search up.
func searched(r *infill.Result, d time.Duration) string {
	s := fmt.Sprintf("search: %s of the model, %s scored in %.2f s", count.Of(r.Rows, "row"),
		count.Of(r.Distinct, "filling"), d.Seconds())
	switch r.Ended {
	case infill.EndedRows:
		s += ", ended at --rows; the best are of what was found"
	case infill.EndedStopped:
		s += ", stopped; the best are of what was found"
	}
	return s
}

func (w *fillWriter) summary(r *infill.Result, d time.Duration) string {
	if r.Exact {
		sum := 0.0
		for _, f := range r.Fillings {
			sum += f.Probability
		}
		return fmt.Sprintf("exact, without sampling: %d of %d filling%s, "+
			"with %.1f %% of the probability, in %.2f s", len(r.Fillings), r.Distinct,
			count.S(r.Distinct), 100*sum, d.Seconds())
	}
	if r.Method == infill.MethodSearch {
		return searched(r, d)
	}
	o := &w.Fill.Options
	s := fmt.Sprintf("%s: %s × %s in %.1f s, %d different filling%s", o.Sampling.Sampler.Info().Name,
		count.Of(o.Sampling.Chains, "chain"), count.Of(r.Steps, "step"), d.Seconds(), r.Distinct,
		count.S(r.Distinct))
	if r.Ended == infill.EndedStopped {
		s += ", stopped"
	}
	s += fmt.Sprintf(", %d of %s evaluated", r.Fresh, count.Of(r.Rows, "row"))
	if n := r.Evaluated - r.Fresh; n > 0 {
		s += fmt.Sprintf(" and %d for start and ranking", n)
	}
	if !math.IsNaN(r.MoveShare) {
		s += fmt.Sprintf(", moves %.2f", r.MoveShare)
	}
	if !math.IsNaN(r.Acceptance) {
		s += fmt.Sprintf(", acceptance %.2f", r.Acceptance)
	}
	if r.Shortlist > 0 {
		s += fmt.Sprintf(", %s per blank", count.Of(r.Shortlist, "candidate"))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Tuned)) {
		s += fmt.Sprintf(", %s %.3g", strings.ReplaceAll(name, "-", " "), r.Tuned[name])
	}
	if m := r.Marginals; m != nil && m.Draws > 0 {
		s += ", probabilities from " + count.Of(m.Draws, "state")
		if !math.IsNaN(m.ESS) {
			s += fmt.Sprintf(" (worth %.0f, split R-hat %.2f)", m.ESS, m.RHat)
		}
	}
	if n := r.Stats.Zero; n > 0 {
		s += fmt.Sprintf(", %d state%s of probability 0 refused", n, count.S(n))
	}
	return s
}

// oneBlank reports whether text has a single blank of one token, which takes one row.
func oneBlank(text string) bool {
	found := anyBlank.FindAllString(text, 2)
	return len(found) == 1 && (found[0] != "[MASK" || strings.Contains(text, "[MASK]"))
}

var anyBlank = regexp.MustCompile(`\[MASK|___+`)
