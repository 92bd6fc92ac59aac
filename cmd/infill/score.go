package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"infill/infill"
	"infill/infill/batch"
	"infill/infill/jsonl"
	"infill/mlm"
)

type scoreFlags struct {
	modelFlags
	fileFlags
	json       bool
	file       string
	candidates *cli.StringSliceFlag
	normalize  *choice
	casing     *choice
	long       *choice
}

func scoreCommand(std stdio) *cli.Command {
	f := &scoreFlags{
		normalize: &choice{"none", []string{"none", "tokens"}},
		casing:    &choice{"auto", []string{"auto", "model"}},
		long:      &choice{"window", []string{"window", "error"}},
	}
	j := boolFlag("json", "print one JSON object a line")
	j.Destination = &f.json
	file := stringFlag("file", "score the texts of a `FILE`, lines or JSON lines, to --output, as infill batch works", "")
	file.Destination = &f.file
	f.candidates = &cli.StringSliceFlag{Name: "candidates", Usage: "`WORDS` or phrases to rank for the blank of TEXT, comma separated; repeatable", EnvVars: env("candidates")}
	flags := append(f.modelFlags.flags(), j, f.candidates,
		valueFlag("normalize", "candidates are ranked by the sum over their pieces: none; or by the mean: tokens", f.normalize),
		valueFlag("case", "auto: capitalise at the start of a sentence; model: as given", f.casing),
		valueFlag("long", "a text with a blank longer than the model takes: window: it sees the part around the blank; error: refuse", f.long),
		file)
	return &cli.Command{
		Name:      "score",
		Usage:     "pseudo-log-likelihood of complete sentences; candidates for a blank",
		ArgsUsage: "TEXT… | -",
		Description: "Prints, for every text, the sum over its word pieces of log f(piece | the rest, that\n" +
			"piece masked), in nats: nearer to 0 is likelier. With - or without TEXT, reads\n" +
			"standard input, one text a line.\n" +
			"A text with a blank is not scored; its candidates are: those of --candidates, or those\n" +
			"that the blank lists, [MASK|red|green]. Printed are the sum over a candidate's pieces, the\n" +
			"mean, and the share of the candidate among all.",
		Flags:  append(flags, f.fileFlags.flags()...),
		Action: func(c *cli.Context) error { return f.run(c, std) },
	}
}

func (f *scoreFlags) run(c *cli.Context, std stdio) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.file != "" && c.NArg() > 0 {
		return usagef("--file and %d texts: give one of them", c.NArg())
	}
	if f.file == "" && f.output != "" {
		return usagef("--output goes with --file FILE")
	}
	s := &scorer{normalize: f.normalize.v == "tokens", words: splitLists(c.StringSlice("candidates"))}
	if f.casing.v == "model" {
		s.casing = infill.CaseModel
	}
	if f.long.v == "error" {
		s.long = infill.LongError
	}
	if f.file != "" {
		return f.scoreFile(c, std, s)
	}
	texts, err := manyTexts(c.Args().Slice(), std.in)
	if err != nil {
		return err
	}
	if err := s.open(c.Context, &f.modelFlags); err != nil {
		return err
	}
	defer s.close()
	return eachText(std, texts, f.json, c.NArg() == 1 && c.Args().First() != "-", f.strict, func(n int, text string) error {
		rec, err := s.score(c.Context, text, s.words)
		if err != nil {
			return err
		}
		if f.json {
			rec.Line = n
			return jsonl.Write(std.out, rec)
		}
		_, err = io.WriteString(std.out, scoreLines(std.out, rec))
		return err
	})
}

// scoreFile works through a file, resumably.
func (f *scoreFlags) scoreFile(c *cli.Context, std stdio, s *scorer) (err error) {
	in, err := f.input(f.file, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := s.open(c.Context, &f.modelFlags); err != nil {
		return err
	}
	defer s.close()
	man := &batch.Manifest{
		Format: batch.ManifestFormat, Version: version(), Model: "sha256:" + s.model.Info().SHA256,
		Settings: map[string]string{
			"command": "score", "candidates": strings.Join(s.words, ","), "normalize": f.normalize.v, "case": f.casing.v, "long": f.long.v,
			"format":     map[bool]string{true: "jsonl", false: "text"}[in.JSON()],
			"low-memory": strconv.FormatBool(f.lowMemory), "platform": runtime.GOOS + "/" + runtime.GOARCH,
		},
	}
	return f.work(c, std, in, man, inFlight(int(f.threads.v)), s.record)
}

// scorer scores texts, and candidates for the blanks of those that have one.
type scorer struct {
	model     *mlm.Model
	engine    *infill.Engine
	words     []string
	normalize bool
	casing    infill.Case
	long      infill.Long
}

func (s *scorer) open(ctx context.Context, f *modelFlags) error {
	m, err := f.open(ctx)
	if err != nil {
		return err
	}
	s.model, s.engine = m, infill.New(m)
	return nil
}

func (s *scorer) close() { _ = s.model.Close() }

func (s *scorer) score(ctx context.Context, text string, words []string) (*jsonl.Record, error) {
	var rec *jsonl.Record
	t, err := infill.Parse(s.model.Tokenizer(), text)
	switch {
	case err == nil && (words != nil || t.Blanks[0].Words != nil):
		o := infill.CandidateOptions{PerToken: s.normalize, Case: s.casing, Long: s.long}
		list, err := s.engine.Candidates(ctx, t, words, o)
		if err != nil {
			return nil, err
		}
		rec = jsonl.Ranked(text, list)
	case words != nil:
		return nil, err
	default:
		score, err := s.engine.Score(ctx, text)
		if err != nil {
			return nil, err
		}
		rec = jsonl.Scored(score)
	}
	rec.Model = "sha256:" + s.model.Info().SHA256
	return rec, nil
}

// record is what infill score --file makes of an item; a field "candidates" of
// a JSON line goes before the flag.
func (s *scorer) record(ctx context.Context, it *batch.Item) (batch.Record, error) {
	words, err := s.words, it.Err
	for _, f := range it.Fields {
		if f.Name == "candidates" && err == nil {
			words = nil
			_, err = listField(f, func(w []string) (*infill.WordList, error) {
				words = w
				return nil, nil
			})
		}
	}
	var rec *jsonl.Record
	if err == nil {
		rec, err = s.score(ctx, it.Text, words)
	}
	return encoded(it, rec, err)
}

// scoreLines is a score record as people read it.
func scoreLines(out io.Writer, r *jsonl.Record) string {
	var b strings.Builder
	if r.Score != nil {
		fmt.Fprintf(&b, "%8.2f  %s\n", *r.Score, shown(out, r.Text))
		for _, p := range r.Pieces {
			fmt.Fprintf(&b, "  %8.2f  %s\n", p.LogProb, p.Piece)
		}
		return b.String()
	}
	for _, c := range r.Candidates {
		fmt.Fprintf(&b, "%8.2f  %8.2f  %5.1f %%  %s\n", c.Score, c.ScorePerToken, 100*c.Share, shown(out, c.Candidate))
	}
	return b.String()
}

// splitLists takes comma separated lists apart.
func splitLists(lists []string) []string {
	var out []string
	for _, list := range lists {
		for _, w := range strings.Split(list, ",") {
			if w = strings.TrimSpace(w); w != "" {
				out = append(out, w)
			}
		}
	}
	return out
}

// shown is a text as it may be printed on a writer.
func shown(out io.Writer, text string) string {
	if isTerminal(out) {
		return printable(text)
	}
	return text
}
