// Package masked measures how well a model guesses pieces that are masked, as the cards of the
// models have it:
//
//	bin/lab masked -model small shared/data/eval/tbc.5k.txt
//
// Of each line it masks 15 % of the pieces, one at least, all at once and the same ones for the
// same seed. It prints how often the right piece is the likeliest (top-1), how often it is among
// the five likeliest (top-5), and the perplexity.
package masked

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"infill/infill/open"
	"infill/lab/internal/fanout"
	"infill/mlm"
)

// rate is the share of the pieces of a line that is masked, and atOnce the lines in work, whose
// rows fill the batches.
const rate, atOnce = .15, 64

// A tally sums up guesses. What a line cannot give has none.
type tally struct {
	masked, top1, top5 int
	nll                float64
}

// Command is the command masked: args are its flags and the file. The figures go to out.
func Command(ctx context.Context, args []string, _ io.Reader, out, errs io.Writer) error {
	fs := flag.NewFlagSet("masked", flag.ContinueOnError)
	fs.SetOutput(errs)
	name := fs.String("model", "default", "folder or name of the model")
	seed := fs.Uint64("seed", 0, "seed of the pieces")
	threads := fs.Int("threads", 2, "threads")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return errors.New("want one file of sentences, one a line")
	}
	file, err := os.ReadFile(fs.Arg(0))
	if err != nil {
		return err
	}
	m, err := open.Model(ctx, *name, mlm.Options{Threads: *threads, Forward: true})
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	tallies := make([]tally, len(lines))
	if err := fanout.Each(atOnce, len(lines), func(i int) error {
		if err := tallies[i].guess(ctx, m, lines[i], *seed, i+1); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		return nil
	}); err != nil {
		return err
	}
	var all tally
	measured := 0
	for _, t := range tallies {
		if t.masked > 0 {
			measured++
		}
		all = tally{all.masked + t.masked, all.top1 + t.top1, all.top5 + t.top5, all.nll + t.nll}
	}
	if measured == 0 {
		return fmt.Errorf("%s has no line with a piece to mask that the model can take", fs.Arg(0))
	}
	n := float64(all.masked)
	_, err = fmt.Fprintf(out, "%d of %d lines, %d masked pieces: top-1 %.2f %%, top-5 %.2f %%, "+
		"perplexity %.2f\n", measured, len(lines), all.masked, 100*float64(all.top1)/n,
		100*float64(all.top5)/n, math.Exp(all.nll/n))
	return err
}

// guess masks pieces of a line and counts the right guesses. A line that is empty or too long for
// the model has none.
func (t *tally) guess(ctx context.Context, m *mlm.Model, text string, seed uint64, line int) error {
	enc, err := m.Tokenizer().Encode(text)
	if err != nil {
		return err
	}
	var places []int
	for p := range enc.IDs {
		if !enc.Special[p] {
			places = append(places, p)
		}
	}
	if limit := m.Info().MaxLength; len(places) == 0 || limit > 0 && len(enc.IDs) > limit {
		return nil
	}
	s := &mlm.Sentence{IDs: enc.IDs, Blanks: choose(places, seed, line)}
	logProb := make([][]float32, len(s.Blanks))
	for i := range logProb {
		logProb[i] = make([]float32, m.VocabSize())
	}
	if err := m.Independent(ctx, s, logProb); err != nil {
		return err
	}
	for i, p := range s.Blanks {
		right, likelier := logProb[i][enc.IDs[p]], 0
		for _, v := range logProb[i] {
			if v > right {
				likelier++
			}
		}
		t.masked++
		t.nll -= float64(right)
		if likelier < 1 {
			t.top1++
		}
		if likelier < 5 {
			t.top5++
		}
	}
	return nil
}

// choose picks the share of the places, at least one, in ascending order.
func choose(places []int, seed uint64, line int) []int {
	n := max(1, int(math.Round(rate*float64(len(places)))))
	rng := rand.New(rand.NewPCG(seed, uint64(line))) //nolint:gosec // a sample, no secret
	picked := make([]int, n)
	for i, j := range rng.Perm(len(places))[:n] {
		picked[i] = places[j]
	}
	slices.Sort(picked)
	return picked
}
