package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/infill/variants"
	"infill/internal/count"
	"infill/internal/textline"
)

const augmentDescription = "" +
	`Prints variants of TEXT, best first of each choice of words, with their scores. Or
INPUT has complete sentences: a line each, or JSON, or a table (.csv, .tsv, .parquet). Every
one becomes several variants, in which other words stand in the place of some. A row of the
output has a variant in the place of the text, and all other fields or columns, such as a
label, as they were. No two variants of the file are the same.
It is infill batch with other defaults: content words are masked, and a variant differs from
its text. Without flags of its own it reads, writes and resumes as that does.`

// augmentFlags are the flags of infill augment: those of infill batch, and its own.
type augmentFlags struct {
	batchFlags
	settings.Augmenting
}

// notOfAugment are the flags of infill batch that say what variants decide, or what needs lines
// that do not know of each other.
var notOfAugment = append(append(settings.FillTable().NotOf("augment"),
	settings.FileTable().NotOf("augment")...), "ok-if-lines-fail")

func augmentCommand(std console.IO) *cli.Command {
	f := &augmentFlags{}
	all := f.fillingFlags.flags(map[string]string{
		"steps":      "steps of every chain", // no probabilities are estimated
		"mask-rate":  "share of the words that may be masked to mask",
		"mask-words": "mask exactly this many words, in place of a share",
	})
	fill, augmenting := settings.AugmentDefaults()
	f.Fill, f.Augmenting = *fill, *augmenting
	own := cmdline.Settings(settings.AugmentTable(), &f.Augmenting, nil)
	own[slices.IndexFunc(own,
		func(o *cmdline.Option) bool { return o.Name == "variants" })].Alias = "n"
	return &cli.Command{
		Name: "augment",
		UsageText: `infill augment reviews.csv --text-field review -o more.csv --originals
infill augment reviews.jsonl -o more.jsonl -n 3 --keep-file names.txt --max-drop 2
infill augment "The film was wonderful." --action insert
infill augment reviews.csv --text-field review -o more.csv --originals --resume`,
		Usage:       "make variants of labelled sentences",
		ArgsUsage:   "INPUT -o OUTPUT | FOLDER -o FOLDER | TEXT",
		Description: augmentDescription,
		Flags: cmdline.Join(own, f.modelFlags.flags(), all.Without(notOfAugment...),
			f.fileFlags.flags().Without(notOfAugment...).Under(printingGroup)),
		Action: func(c *cli.Context) error {
			// A number of words takes the place of the share that nobody asked for.
			if c.IsSet("mask-words") && !c.IsSet("mask-rate") {
				f.Masking.Rate = 0
			}
			switch text := c.Args().First(); {
			case !f.Masking.On():
				return usagef("no words are to be masked: --mask-rate 0.3, or --mask-words 2")
			case f.Variants.Action == variants.Insert && f.Fill.Options.Words.Filter.MaxDrop != nil:
				return usagef("--max-drop is about words that stood there, and --action insert has none")
			case c.NArg() == 1 && advice.LooksText(text):
				return f.sentence(c, std, text)
			}
			return f.job(c, std, f.augmentation)
		},
	}
}

// sentence prints variants of one text.
func (f *augmentFlags) sentence(c *cli.Context, std console.IO, text string) (err error) {
	if f.output != "" {
		return usagef("%q is taken for a text, whose variants are printed: leave out --output", text)
	}
	if err := cmp.Or(f.ready(), f.settled(&f.modelFlags)); err != nil {
		return err
	}
	e, err := f.engine(c.Context, std, &f.modelFlags, f.NeedsGradient(), f.quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	begin()
	opt := f.made.Options
	opt.ID = "1"
	found, _, err := variants.New(e.Engine, text, f.made.Masking, opt, f.Variants).Find(c.Context, nil)
	if err != nil {
		return advice.OrMask(err)
	}
	for i := range found {
		_, err := fmt.Fprintf(std.Out, "%8.2f  %s\n", found[i].Score, shown(std.Out, found[i].Text))
		if err != nil {
			return err
		}
	}
	if missing := f.Variants.Count - len(found); missing > 0 && !f.quiet {
		fmt.Fprintf(std.Err, "infill: %d fewer than asked for\n", missing)
	}
	if !f.quiet {
		f.saySeed(std.Err)
	}
	return nil
}

// augmentation is the work of the command.
func (f *augmentFlags) augmentation(in *input.Reader, w *records.Filler,
	recorded map[string]string, layout *output.Layout) (fileWork, error) {
	recorded["command"] = "augment"
	of, err := settings.AugmentTable().Recorded(&f.Augmenting)
	if err != nil {
		return fileWork{}, err
	}
	maps.Copy(recorded, of)
	layout.Kind, layout.Originals = output.Variants, f.Originals
	a := &records.Augmenter{Filler: *w, Augmenting: &f.Augmenting}
	if a.ByLabel, err = f.learn(in, w); err != nil {
		return fileWork{}, err
	}
	meant := meantByAny(meantBy(settings.AugmentTable()), meantBy(settings.FillTable()))
	return fileWork{do: a.Record, known: a.Known, meant: meant, summary: func() string {
		s := fmt.Sprintf("%d variant%s", a.Variants, count.S(a.Variants))
		if a.Short > 0 {
			s += fmt.Sprintf(", %d text%s with fewer than asked for: %d missing", a.Short, count.S(a.Short),
				a.Missing)
		}
		return s + tellingNote(a.ByLabel)
	}}, nil
}

// learn finds the words of the input that tell its labels apart.
func (f *augmentFlags) learn(in *input.Reader, w *records.Filler) (*records.ByLabel, error) {
	name := f.ByLabel
	if name == "off" {
		return nil, nil
	}
	if name != "auto" {
		if err := in.Lacks("keep-by-label", name); err != nil {
			return nil, err
		}
	}
	again, err := in.Again()
	if err != nil {
		return nil, err
	}
	if again == nil { // a stream cannot be read twice
		if name != "auto" {
			return nil, usagef("--keep-by-label %s reads the input twice: name a file", name)
		}
		return &records.ByLabel{Field: records.LabelField(in, name)}, nil
	}
	b, err := records.Learn(again, w.Model.Tokenizer(), w.Filling.Masking, name)
	return b, errors.Join(err, again.Close())
}

// toldWords and toldLabels bound what a summary has of the words that tell labels apart.
const toldWords, toldLabels = 8, 6

// tellingNote says which words stayed because they tell labels apart.
func tellingNote(b *records.ByLabel) string {
	switch {
	case b == nil || b.Field == "" || b.Values == 1:
		return ""
	case b.Values == 0:
		return fmt.Sprintf("; words that tell the labels of %s apart were masked too, for a stream is "+
			"read once: name a file", textline.Printable(b.Field))
	case b.Telling == nil && b.Unlike:
		return fmt.Sprintf("; %s has %d different values, which are taken for no labels",
			textline.Printable(b.Field), b.Values)
	case b.Telling == nil:
		return fmt.Sprintf("; no word tells the values of %s apart", textline.Printable(b.Field))
	}
	var parts []string
	last, n := "", 0
	for i, t := range b.Telling {
		if i == 0 || t.Label != last {
			if last, n = t.Label, 0; len(parts) == toldLabels {
				parts = append(parts, "…")
			}
			if len(parts) > toldLabels {
				break
			}
			parts = append(parts, textline.Printable(t.Label)+":")
		}
		if n++; n <= toldWords {
			parts[len(parts)-1] += " " + textline.Printable(t.Word)
		} else if n == toldWords+1 {
			parts[len(parts)-1] += " …"
		}
	}
	return fmt.Sprintf("\ninfill: %s told the labels of %s apart and stayed (--keep-by-label off "+
		"masks them too): %s", count.Of(len(b.Telling), "word"), textline.Printable(b.Field),
		strings.Join(parts, "; "))
}
