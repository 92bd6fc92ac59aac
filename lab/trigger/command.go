package trigger

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"infill/mlm"
	"infill/models"
)

// verbalizer is LABEL=WORD, given one by one.
type verbalizer map[string]string

func (v verbalizer) String() string { return "" }

func (v verbalizer) Set(pair string) error {
	label, word, ok := strings.Cut(pair, "=")
	if _, twice := v[label]; !ok || twice || label == "" || word == "" {
		return errors.New("want LABEL=WORD, each label once")
	}
	v[label] = word
	return nil
}

// Command is the command trigger: args are its flags and a file of labelled texts.
func Command(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) error {
	o, words := Defaults(), verbalizer{}
	o.Verbalizer = words
	f := flag.NewFlagSet("trigger", flag.ContinueOnError)
	f.SetOutput(errs)
	model := f.String("model", "", "folder of the model (default: the program's)")
	f.StringVar(&o.Template, "template", o.Template,
		"text with the places {trigger}, {text} and [MASK]")
	f.Var(words, "say",
		"LABEL=WORD that the model is to say for a label; repeatable (default: the label)")
	f.IntVar(&o.Words, "tokens", o.Words, "words of the trigger")
	f.IntVar(&o.Steps, "steps", o.Steps, "steps of the search")
	f.IntVar(&o.Chains, "chains", o.Chains, "chains of the search")
	f.IntVar(&o.Batch, "batch", o.Batch, "texts of a step")
	f.Float64Var(&o.Slope, "slope", 0,
		"β of the inverse temperature β·t at step t; 0: so that it ends at 300")
	f.Float64Var(&o.Jump, "jump", o.Jump, "probability of a jump per step")
	objective := f.String("objective", ObjectiveNames[Share],
		"share: of the label's word among those of all labels; word: its probability among all words")
	f.Float64Var(&o.HeldOut, "held-out", o.HeldOut, "share of the texts that is held out")
	f.IntVar(&o.MaxPieces, "max-pieces", o.MaxPieces, "longer texts are cut")
	noBaseline := f.Bool("no-baseline", false, "leave the baseline out")
	f.Float64Var(&o.LearningRate, "learning-rate", o.LearningRate,
		"of the baseline, in units of the embeddings' spread")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of the split and of the search")
	text := f.String("text-field", "text", "field or column of the texts")
	label := f.String("label-field", "label", "field or column of the labels")
	asJSON := f.Bool("json", false, "print one JSON object")
	if err := f.Parse(args); err != nil {
		return err
	}
	switch *objective {
	case ObjectiveNames[Share]:
	case ObjectiveNames[Word]:
		o.Objective = Word
	default:
		return fmt.Errorf("-objective is %q, want %s", *objective, strings.Join(ObjectiveNames, " or "))
	}
	if f.NArg() != 1 {
		return fmt.Errorf("one file of labelled texts, got %d arguments", f.NArg())
	}
	o.Relax = !*noBaseline
	examples, err := readFile(f.Arg(0), *text, *label, in)
	if err != nil {
		return err
	}
	files := models.Default()
	if *model != "" {
		files = os.DirFS(*model)
	}
	m, err := mlm.Open(ctx, files, mlm.Options{Threads: runtime.GOMAXPROCS(0), Forward: true})
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	r, err := Run(ctx, files, m, examples, o)
	if err != nil {
		return err
	}
	if *asJSON {
		err = json.NewEncoder(out).Encode(r)
	} else {
		_, err = io.WriteString(out, r.table())
	}
	if err == nil && r.Interrupted {
		return context.Canceled
	}
	return err
}

func readFile(path, text, label string, in io.Reader) ([]Example, error) {
	if path == "-" {
		return Read(in, "standard input", text, label)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return Read(f, path, text, label)
}

// table is a result as people read it.
func (r *Result) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Trigger)
	if r.Recut {
		b.WriteString("(the model's tokenizer cuts this text otherwise)\n")
	}
	if r.Cut > 0 {
		fmt.Fprintf(&b, "(texts that were cut: %d)\n", r.Cut)
	}
	fmt.Fprintf(&b, "\n%-26s %10s %10s\n", "accuracy, per cent", "train", "held out")
	line := func(name string, m Both) {
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
		fmt.Fprintf(&b, "\nrelaxed, as words: %s\n", r.Relaxed.Trigger)
	}
	return b.String()
}
