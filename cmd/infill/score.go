package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/batch/input"
	"infill/infill/batch/output"
	"infill/infill/energies"
	"infill/infill/records"
	"infill/infill/settings"
	"infill/internal/count"
	"infill/mlm"
)

const scoreDescription = "" +
	`Prints the score of every text, in nats: higher is likelier. By default it is the
sum over its word pieces of log f(piece | the rest, that piece masked). A line on standard error
names the score, and in JSON the field scoring. Below it stand the words of the text: a word's
pieces are masked together with the later ones of the word. With - or without TEXT, reads standard
input, one text a line. In a file a text may be a JSON list of words, which then are the words.
A text with a blank is not scored; its candidates are: those of --candidates, or those
that the blank lists, [MASK|red|green]. Printed are the sum over a candidate's pieces, the
mean where their numbers of pieces differ, and the share exp(sum) among all, or exp(mean) where
that ranks.`

type scoreFlags struct {
	modelFlags
	fileFlags
	ranking settings.Ranking
	json    bool
	pieces  bool
	bits    bool
	by      string
	file    string
	nbest   string
}

// own are the flags of infill score alone.
func (f *scoreFlags) own() cmdline.Flags {
	texts := map[string]string{
		"candidates": "`WORDS` or phrases to rank for the blank of TEXT, comma separated; repeatable",
		"energy":     "add a `PART=WEIGHT` to the score, repeatable: " + energies.Forms(false),
	}
	own := append(cmdline.Flags{
		jsonFlag(&f.json),
		cmdline.Flag("pieces", "print the pieces of each word", &f.pieces),
		cmdline.Flag("bits", "print how surprising words are, in bits, in place of scores in nats",
			&f.bits),
	}, cmdline.Settings(settings.RankTable(), &f.ranking, texts)...)
	return append(own, cmdline.Flag("by", "tell pairs apart by this column, or `FIELD`", &f.by),
		cmdline.Flag("nbest",
			"an n-best list, a `FILE` with id ||| text ||| scores or id-n text: print its best lines",
			&f.nbest),
		cmdline.Flag("file",
			"score the texts of a `FILE`, lines or JSON lines, to --output, as infill batch works", &f.file))
}

func scoreCommand(std console.IO) *cli.Command {
	f := &scoreFlags{}
	return &cli.Command{
		Name: "score",
		UsageText: `infill score "The cat sat on the mat."
infill score "The [MASK] sat on the mat." --candidates cat,dog
infill score --file corpus.txt -o scores.jsonl
infill score --file corpus.txt -o words.csv --per word
infill score pairs.csv --pairs good,bad --by kind
infill score --nbest list.txt --weight 0.5 -o scored.txt`,
		Usage:       "pseudo-log-likelihood of complete sentences; candidates for a blank",
		ArgsUsage:   "TEXT… | -",
		Description: scoreDescription,
		// Texts have one score more than fillings.
		Flags: cmdline.Join(f.modelFlags.flags(), f.own().OwnEnv("score", "score").Under(measuringGroup),
			f.fileFlags.flags().Without(settings.FileTable().NotOf("score")...).Under(printingGroup)),
		Action: func(c *cli.Context) error { return f.run(c, std) },
	}
}

// run scores an n-best list, pairs, a file or texts, each with its own check.
func (f *scoreFlags) run(c *cli.Context, std console.IO) error {
	if err := cmp.Or(f.check(), f.ranking.CheckFiles()); err != nil {
		return err
	}
	switch {
	case f.nbest != "":
		if err := f.checkNBest(c); err != nil {
			return err
		}
		return f.scoreFile(c, std)
	case f.Per == settings.PerFilling:
		return usagef("--per filling is of fillings; scores have --per word")
	case f.file != "" && c.NArg() > 0:
		return usagef("--file and %s: give one of them", count.Of(c.NArg(), "input"))
	}
	if file := cmp.Or(f.file, soleFile(c.Args().Slice())); f.ranking.Pairs == nil &&
		!c.IsSet("text-field") && f.Per != settings.PerWord && ofBLiMP(file) {
		f.ranking.Pairs, f.by = blimpPair, cmp.Or(f.by, "UID")
	}
	switch {
	case f.ranking.Weight != nil && (f.file != "" || f.ranking.Pairs != nil):
		return usagef("--weight goes with --nbest FILE")
	case f.ranking.Pairs != nil:
		if err := f.checkPairs(c); err != nil {
			return err
		}
		return f.scoreFile(c, std)
	case f.ranking.Shared:
		return usagef("--shared is about two texts: --pairs good,bad")
	case f.file != "":
		return f.scoreFile(c, std)
	}
	return f.scoreTexts(c, std)
}

// scoreFile works through a file, resumably.
func (f *scoreFlags) scoreFile(c *cli.Context, std console.IO) (err error) {
	f.Lists = true
	f.ranking.Words = f.ranking.Words || f.Per == settings.PerWord || f.Sentence != ""
	in, err := f.scoreInput(c, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	layout, err := f.anyLayout().Found(f.output)
	if err != nil {
		return err
	}
	s, err := f.open(c.Context)
	if err != nil {
		return err
	}
	defer f.closeAll()
	recorded, err := f.recorded()
	if err != nil {
		return err
	}
	recorded["command"] = "score"
	if err := f.recordFile(recorded, in, layout); err != nil {
		return err
	}
	pairs, list := f.ranking.Pairs != nil, f.nbest != ""
	switch layout.Kind = output.Scores; {
	case pairs:
		layout.Kind = output.Pairs
	case list:
		layout.Kind = output.Lists
	}
	if len(f.ranking.Energy) > 0 || in.Format().JSON() {
		layout.Asked = []string{"energies"}
	}
	man := &output.Manifest{Version: version(), Model: modelHash(s.Model), Settings: recorded}
	seen := &doubted{model: f.Name}
	s.Doubted = seen.add
	d := &differences{pairs: pairs, by: f.by, groups: map[string][]float64{}}
	s.Scored = d.add
	to := std
	switch {
	case (pairs || list) && f.output == "":
		to.Out = io.Discard // the table, or the best lines, are asked for
	case f.output == "" || f.output == "-":
		std.Out = std.Err
	}
	work := fileWork{in: in, to: f.output, manifest: man, form: layout, doubted: seen,
		workers: records.InFlight(s.Model.Streams(), 0), do: s.Record, known: d.add,
		advised: advice.OfRanking, meant: meantBy(settings.RankTable())}
	if list {
		return f.workList(c, to, std.Out, work, s)
	}
	err = f.work(c, to, work)
	if err == nil || errors.Is(err, errSomeFailed) {
		if !pairs && f.quiet {
			return err
		}
		err = errors.Join(err, printText(std.Out, d.table()))
	}
	return err
}

// scoreInput opens the file. A column that --pairs or --by names and that is not there is an error.
func (f *scoreFlags) scoreInput(c *cli.Context, std console.IO) (*input.Reader, error) {
	in, err := f.input(c.Context, pair{f.file, f.output}, std, energies.Files(f.ranking.Energy)...)
	if column := (*input.ColumnError)(nil); f.ranking.Pairs != nil && errors.As(err, &column) {
		column.Setting = "pairs"
	}
	if err != nil {
		return nil, err
	}
	if err = in.Lacks("pairs", f.ranking.Pairs...); err == nil && c.IsSet("by") {
		err = in.Lacks("by", f.by)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", in.Name, err), in.Close())
	}
	return in, nil
}

// recorded is what the manifest has of the flags. A precision that rounds by a device is not in it:
// scores are in float32 then.
func (f *scoreFlags) recorded() (map[string]string, error) {
	out, err := settings.RankTable().Recorded(&f.ranking)
	if err != nil {
		return nil, err
	}
	ofModel, err := settings.ModelTable().Recorded(&f.Model)
	if f.Options.Precision != mlm.Int8 {
		delete(ofModel, "precision")
	}
	maps.Copy(out, ofModel)
	return out, err
}

// open opens the model and the parts of the energy, and makes a scorer on them.
func (f *scoreFlags) open(ctx context.Context) (*records.Scorer, error) {
	// Scores are of the model itself, so that a rounded one would be opened for nothing.
	if f.Options.Precision.Rounds() {
		f.Options.Precision = mlm.Float32
	}
	m, err := f.modelFlags.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := f.ranking.OpenParts(ctx, f.secondModels()); err != nil {
		return nil, errors.Join(err, f.close())
	}
	if err := f.ranking.Prepare(); err != nil {
		f.closeAll()
		return nil, err
	}
	return &records.Scorer{Model: m, Engine: infill.New(m), Ranking: &f.ranking}, nil
}

// closeAll closes what open has opened.
func (f *scoreFlags) closeAll() { _ = errors.Join(f.ranking.Parts.Close(), f.close()) }

// checkNBest takes the n-best list for the file of texts. Its form is known.
func (f *scoreFlags) checkNBest(c *cli.Context) error {
	if c.NArg() > 0 || f.file != "" || f.ranking.Pairs != nil {
		return usagef("--nbest names a file of its own: leave out texts, --file and --pairs")
	}
	f.file, f.Format, f.OutputFormat = f.nbest, settings.FormatText, settings.FormatText
	others := slices.DeleteFunc(append(ofFiles(), "words"), func(name string) bool {
		return slices.Contains([]string{"limit", "encoding", "output-encoding", "max-errors",
			"ok-if-lines-fail"}, name)
	})
	return cmp.Or(cmdline.GoesWith(c, "--file FILE", others...),
		cmdline.GoesWith(c, "TEXT", "json", "pieces", "bits", "candidates", "word-parts"))
}

// workList scores the lines of an n-best list, and prints the best one of each id.
func (f *scoreFlags) workList(c *cli.Context, std console.IO, out io.Writer, work fileWork,
	s *records.Scorer) error {
	list := &records.NBest{Scorer: *s, Weight: 1, Best: func(line string) error {
		_, err := fmt.Fprintln(out, line)
		return err
	}}
	if f.ranking.Weight != nil {
		list.Weight = *f.ranking.Weight
	}
	work.manifest.Settings["weight"] = fmt.Sprint(list.Weight)
	work.do, work.known = list.Record, list.Known
	err := f.work(c, std, work)
	if err == nil || errors.Is(err, errSomeFailed) {
		err = errors.Join(list.Last(), err)
	}
	return err
}
