package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/trigger"
	"infill/internal/count"
	"infill/internal/unpack"
)

const triggerDescription = "" +
	`DATA is a file of labelled texts: JSON lines with the fields text and label, or CSV or TSV with
such columns; - is standard input, JSON lines. Searched are a few words, the same for all texts,
with which the model fills the mask of the template with the word of the right label. Part of
the texts is held out. The baseline tunes vectors in place of words and reads them as words.
Ctrl-C ends the search and measures the best trigger so far.`

// triggerFlags are the flags of infill trigger.
type triggerFlags struct {
	modelFlags
	trigger.Options
	textField, labelField string
	say                   []string
	objective             string
	seed                  int64
	noBaseline            bool
	json, quiet           bool
	progress              string
}

func (f *triggerFlags) search() []*option {
	o := &f.Options
	*o = trigger.Defaults()
	f.textField, f.labelField = "text", "label"
	number := func(name, usage string, p *float64, most float64) *option {
		return newOption(name, usage, settings.NumberValue(p, 0, most, true))
	}
	flags := []*option{
		textFlag("template", "`TEXT` with the places {trigger}, {text} and [MASK]", &o.Template),
		listFlag("say", "`LABEL=WORD` that the model is to say for a label, the label itself when "+
			"unset; repeatable", &f.say),
		wholeFlag("tokens", "words of the trigger", &o.Words, 1, trigger.MaxWords),
		wholeFlag("steps", "steps of the search", &o.Steps, 1, trigger.MaxSteps),
		wholeFlag("chains", "chains of the search", &o.Chains, 1, trigger.MaxChains),
		wholeFlag("batch", "texts of a step", &o.Batch, 1, trigger.MaxBatch),
		newOption("slope", "β of the inverse temperature β·t at step t; 0: so that it ends at 300",
			settings.NumberValue(&o.Slope, 0, trigger.MaxSlope, false)),
		number("jump", "probability of a jump per step", &o.Jump, 1),
		wordFlag("objective", "share: of the label's word among those of all labels; word: its "+
			"probability among all words", &f.objective, trigger.ObjectiveNames...),
		number("held-out", "share of the texts that is held out", &o.HeldOut, trigger.MaxHeldOut),
		wholeFlag("max-pieces", "longer texts are cut", &o.MaxPieces, 1, trigger.MaxPieces),
		boolFlag("no-baseline", "leave the baseline out", &f.noBaseline),
		number("learning-rate", "of the baseline, in units of the embeddings' spread",
			&o.LearningRate, trigger.MaxRate),
		wholeFlag("seed", "seed of the split and of the search", &f.seed, 0, math.MaxInt64),
		textFlag("text-field", "`NAME` of the field or column of the texts", &f.textField),
		textFlag("label-field", "`NAME` of the field or column of the labels", &f.labelField),
	}
	return ownEnv("trigger", flags, "steps", "chains", "batch", "seed", "text-field")
}

func triggerCommand(std stdio) *cli.Command {
	f := &triggerFlags{}
	search := f.search()
	return &cli.Command{
		Name: "trigger",
		Usage: "search words that make the model say the labels of texts, and measure them on " +
			"held-out texts",
		ArgsUsage:   "DATA",
		Description: triggerDescription,
		Flags: join(f.flags(), group(groupFill, search), group(groupOutput, []*option{
			jsonFlag(&f.json), boolFlag("quiet", "print results only", &f.quiet),
			progressFlag(&f.progress)})),
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("one file of labelled texts, got %d arguments; try: infill trigger "+
					"reviews.csv --say positive=good --say negative=bad", c.NArg())
			}
			return f.run(c, std)
		},
	}
}

func (f *triggerFlags) run(c *cli.Context, std stdio) error {
	o := f.Options
	o.Verbalizer = map[string]string{}
	for _, pair := range f.say {
		label, word, ok := strings.Cut(pair, "=")
		if _, twice := o.Verbalizer[label]; !ok || twice || label == "" || word == "" {
			return usagef("--say %s: want LABEL=WORD, each label once", pair)
		}
		o.Verbalizer[label] = word
	}
	if f.objective == trigger.ObjectiveNames[trigger.Word] {
		o.Objective = trigger.Word
	}
	o.Relax, o.Seed = !f.noBaseline, uint64(f.seed)
	examples, err := readExamples(c.Args().First(), f.textField, f.labelField, std.in)
	if err != nil {
		return err
	}
	f.forward() // the search has a backward pass of its own
	m, err := f.open(c.Context)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	warn(std, m, f.quiet)
	meter := newMeter(f.progress, f.quiet, std.err)
	o.Progress = func(p trigger.Progress) { showTrigger(&meter, p) }
	begin() // Ctrl-C gives what there is
	r, err := trigger.Run(c.Context, m, examples, o)
	meter.clear()
	if err != nil {
		return err
	}
	if r.Cut > 0 && !f.quiet {
		were := "were"
		if r.Cut == 1 {
			were = "was"
		}
		fmt.Fprintf(std.err, "infill: %s %s cut to %s (--max-pieces)\n", count.Of(r.Cut, "text"), were,
			count.Of(o.MaxPieces, "piece"))
	}
	if f.json {
		err = jsonl.Encode(std.out, r)
	} else {
		_, err = io.WriteString(std.out, triggerTable(std.out, r))
	}
	if err == nil && r.Interrupted {
		return context.Canceled
	}
	return err
}

func readExamples(path, text, label string, stdin io.Reader) ([]trigger.Example, error) {
	if path == "-" {
		return trigger.Read(stdin, "standard input", text, label)
	}
	r, err := unpack.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return trigger.Read(r, settings.Uncompressed(path), text, label)
}

// showTrigger shows how far a run is.
func showTrigger(m *meter, p trigger.Progress) {
	const often = 200 * time.Millisecond
	switch {
	case !m.due(time.Now(), often, often, p.Step >= p.Steps):
	case m.mode == "json":
		best := "null"
		if !math.IsNaN(p.Best) {
			best = fmt.Sprintf("%.4f", p.Best)
		}
		m.line(`"phase":%q,"step":%d,"steps":%d,"best":%s`, p.Phase, p.Step, p.Steps, best)
	default:
		m.draw(fmt.Sprintf("%s %s %d of %d  %s", bar(int64(p.Step), int64(p.Steps)), p.Phase, p.Step,
			p.Steps, printable(p.Trigger)))
	}
}

// triggerTable is a result as people read it.
func triggerTable(out io.Writer, r *trigger.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", shown(out, r.Trigger))
	if r.Recut {
		b.WriteString("(the model's tokenizer cuts this text otherwise)\n")
	}
	fmt.Fprintf(&b, "\n%-26s %10s %10s\n", "accuracy, per cent", "train", "held out")
	line := func(name string, m trigger.Both) {
		fmt.Fprintf(&b, "%-26s %5.1f ±%3.1f %5.1f ±%3.1f\n", name, 100*m.Train.Accuracy, 100*m.Train.SE,
			100*m.HeldOut.Accuracy, 100*m.HeldOut.SE)
	}
	line("trigger", r.Both)
	if r.Relaxed != nil {
		line("relaxed, as words", r.Relaxed.Both)
		line("relaxed, as vectors", r.Relaxed.Vectors)
	}
	line("random words", r.Random)
	line("no trigger", r.Empty)
	fmt.Fprintf(&b, "%-26s %10s %5.1f\n", "the most frequent label", "", 100*r.Majority)
	if r.Relaxed != nil {
		fmt.Fprintf(&b, "\nrelaxed, as words: %s\n", shown(out, r.Relaxed.Trigger))
	}
	return b.String()
}
