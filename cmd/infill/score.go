package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/infill/batch/output"
	"infill/infill/energies"
	"infill/infill/jsonl"
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
infill score pairs.csv --pairs good,bad --by kind`,
		Usage:       "pseudo-log-likelihood of complete sentences; candidates for a blank",
		ArgsUsage:   "TEXT… | -",
		Description: scoreDescription,
		// Texts have one score more than fillings.
		Flags: cmdline.Join(f.modelFlags.flags(), f.own().OwnEnv("score", "score").Under(measuringGroup),
			f.fileFlags.flags().Without(settings.FileTable().NotOf("score")...).Under(printingGroup)),
		Action: func(c *cli.Context) error { return f.run(c, std) },
	}
}

func (f *scoreFlags) run(c *cli.Context, std console.IO) error {
	if err := cmp.Or(f.check(), f.ranking.CheckFiles()); err != nil {
		return err
	}
	if f.Per == settings.PerFilling {
		return usagef("--per filling is of fillings; scores have --per word")
	}
	if f.file != "" && c.NArg() > 0 {
		return usagef("--file and %s: give one of them", count.Of(c.NArg(), "input"))
	}
	if file := cmp.Or(f.file, soleFile(c.Args().Slice())); f.ranking.Pairs == nil &&
		!c.IsSet("text-field") && f.Per != settings.PerWord && ofBLiMP(file) {
		f.ranking.Pairs, f.by = blimpPair, cmp.Or(f.by, "UID")
	}
	if f.ranking.Pairs != nil {
		if f.file = cmp.Or(f.file, c.Args().First()); f.file == "" || c.NArg() > 1 {
			return usagef("--pairs wants one file: infill score pairs.csv --pairs good,bad")
		}
		if c.IsSet("text-field") || f.Per == settings.PerWord || f.Sentence != "" {
			return usagef("--pairs names the columns of both texts: leave out --text-field, --per and " +
				"--sentence")
		}
		f.TextField = f.ranking.Pairs[0]
	} else if f.ranking.Shared {
		return usagef("--shared is about two texts: --pairs good,bad")
	}
	if f.ranking.Shared && f.ranking.Energy != nil {
		return usagef("--shared sums over words, and --energy judges whole texts: leave one out")
	}
	if f.file == "" && f.output != "" {
		return usagef("%s goes with --file FILE", f.outputFlag.Spelling())
	}
	if f.file != "" {
		return f.scoreFile(c, std)
	}
	ofFiles := []string{"max-errors", "ok-if-lines-fail"}
	for _, s := range settings.FileTable() {
		ofFiles = append(ofFiles, s.Name)
	}
	if err := cmdline.GoesWith(c, "--file FILE", ofFiles...); err != nil {
		return err
	}
	texts, err := manyTexts(c.Args().Slice(), std)
	if err != nil {
		return err
	}
	if (c.NArg() == 0 || c.Args().First() == "-") && !f.quiet {
		texts = notingJSON(std, texts, "infill score --file -")
	}
	if path := soleFile(c.Args().Slice()); path != "" {
		const reads = "infill score --file"
		if !strings.Contains(path, " ") { // a text of one word is hardly meant
			return usagef("%s: a text is expected here; %s", path, advice.ReadsFile(path, reads))
		}
		if !f.quiet {
			sayFile(std, path, reads)
		}
	}
	if (f.pieces || f.bits) && f.json {
		return usagef("--pieces and --bits are about what is printed; records have both")
	}
	s, err := f.open(c.Context)
	if err != nil {
		return err
	}
	defer f.closeAll()
	f.ranking.Words = f.ranking.Words || !f.json
	say := onceEach(std.Err, f.quiet)
	return eachText(std, texts, f.json, c.NArg() == 1 && c.Args().First() != "-", f.strict,
		func(n int, text string) error {
			rec, err := s.Score(c.Context, text, f.ranking)
			if err != nil {
				return advice.OfRanking(err)
			}
			for _, note := range candidateNotes(s.Model.Tokenizer(), f.ranking.Candidates, rec) {
				say("infill: --candidates: " + note)
			}
			if f.json {
				rec.Line = n
				return rec.Write(std.Out)
			}
			say(scoringNote(rec))
			if slices.ContainsFunc(rec.Words, func(w jsonl.Word) bool {
				return rec.Scoring != infill.ScoreWithinWord.String() && strings.Contains(w.Pieces, " ")
			}) {
				say("score of words: within-word, each piece beside all others but the later ones of its word")
			}
			if rec.Windows > 0 {
				say("the text is longer than the model takes: each piece is scored with as many around it " +
					"as fit")
			}
			for _, d := range rec.Doubts {
				say(doubtNote(d, f.Name))
			}
			_, err = io.WriteString(std.Out, f.lines(std.Out, rec))
			return err
		})
}

// scoreFile works through a file, resumably.
func (f *scoreFlags) scoreFile(c *cli.Context, std console.IO) (err error) {
	f.lists = true
	f.ranking.Words = f.ranking.Words || f.Per == settings.PerWord || f.Sentence != ""
	in, err := f.input(c.Context, f.file, std, energies.Files(f.ranking.Energy)...)
	if err != nil {
		return err
	}
	layout, err := f.layout()
	if err != nil {
		return errors.Join(err, in.Close())
	}
	defer func() { err = errors.Join(err, in.Close()) }()
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
	layout.Scores, layout.Pairs = true, f.ranking.Pairs != nil
	layout.Energies = len(f.ranking.Energy) > 0 || in.Format().JSON()
	man := &output.Manifest{
		Version: version(),
		Model:   modelHash(s.Model), Settings: recorded,
	}
	seen := &doubted{model: f.Name}
	s.Doubted = seen.add
	d := &differences{pairs: layout.Pairs, by: f.by, groups: map[string][]float64{}}
	s.Scored = d.add
	to := std
	switch {
	case layout.Pairs && f.output == "":
		to.Out = io.Discard // the table alone is asked for
	case f.output == "" || f.output == "-":
		std.Out = std.Err
	}
	err = f.work(c, to, fileWork{in: in, manifest: man, form: layout, doubted: seen,
		workers: records.InFlight(s.Model.Streams(), 0), do: s.Record, known: d.add,
		advised: advice.OfRanking,
		meant:   meantBy(settings.RankTable())})
	if err == nil || errors.Is(err, errSomeFailed) {
		if !layout.Pairs && f.quiet {
			return err
		}
		_, print := io.WriteString(std.Out, d.table())
		err = errors.Join(err, print)
	}
	return err
}

// recorded is what the manifest has of the flags. Scores are in float32 whatever the precision.
func (f *scoreFlags) recorded() (map[string]string, error) {
	out, err := settings.RankTable().Recorded(&f.ranking)
	if err != nil {
		return nil, err
	}
	ofModel, err := settings.ModelTable().Recorded(&f.Model)
	delete(ofModel, "precision")
	maps.Copy(out, ofModel)
	return out, err
}

// open opens the model and the parts of the energy, and makes a scorer on them.
func (f *scoreFlags) open(ctx context.Context) (*records.Scorer, error) {
	f.forward() // no part of a score asks for a gradient
	// Scores are of the model itself, so that a rounded one would be opened for nothing.
	switch f.Options.Precision {
	case mlm.BFloat16, mlm.Int8:
		f.Options.Device, f.Options.Precision = mlm.CPUDevice, mlm.Float32
	case mlm.Float16:
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

// lines are a score record as people read it.
func (f *scoreFlags) lines(out io.Writer, r *jsonl.Record) string {
	var b strings.Builder
	if r.Score != nil {
		fmt.Fprintf(&b, "%8.2f  %s%s\n", *r.Score, besides(r.Energies), shown(out, r.Text))
		for _, w := range r.Words {
			score, pieces := *w.Score, ""
			if f.bits {
				score = *w.Surprisal
			}
			if f.pieces {
				pieces = "  " + w.Pieces
			}
			fmt.Fprintf(&b, "  %8.2f  %s%s\n", score, shown(out, w.Word), pieces)
		}
		return b.String()
	}
	// The mean stands where the number of tokens may decide and has no part in the score.
	open := r.Candidates[0].Length == 0 && slices.ContainsFunc(r.Candidates,
		func(c infill.Candidate) bool { return len(c.Tokens) != len(r.Candidates[0].Tokens) })
	for _, c := range r.Candidates {
		fmt.Fprintf(&b, "%8.2f  ", c.Score)
		if open {
			fmt.Fprintf(&b, "%6.2f per token  ", c.ScorePerToken)
		}
		fmt.Fprintf(&b, "%s  %s%s\n", percent(c.Share), besides(c.Energies), shown(out, c.Candidate))
	}
	return b.String()
}
