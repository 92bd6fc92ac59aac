package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"infill/cmd/infill/internal/advice"
	"infill/cmd/infill/internal/cmdline"
	"infill/cmd/infill/internal/console"
	"infill/infill/records"
	"infill/internal/disk"
)

// scoreNBest prints the best line of each id of an n-best list, and writes the list with its scores
// to the output.
func (f *scoreFlags) scoreNBest(c *cli.Context, std console.IO) error {
	if c.NArg() > 0 || f.file != "" || f.ranking.Pairs != nil {
		return usagef("--nbest names a file of its own: leave out texts, --file and --pairs")
	}
	to := []target{{f.outputFlag.Spelling(), f.output}}
	err := cmp.Or(cmdline.GoesWith(c, "--file FILE", append(ofFiles(), "resume", "words")...),
		cmdline.GoesWith(c, "TEXT", "json", "pieces", "bits", "candidates", "word-parts"),
		checkTargets(to, f.nbest), checkReplaced(to, f.force))
	if err != nil {
		return err
	}
	in := std.In
	if f.nbest != "-" {
		file, err := os.Open(f.nbest)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was read only
		in = file
	}
	s, err := f.open(c.Context)
	if err != nil {
		return err
	}
	defer f.closeAll()
	if f.output == "" {
		return f.rescore(c, s, in, io.Discard, std)
	}
	failed := error(nil) // which leaves the output as it is
	return cmp.Or(disk.WriteFunc(f.output, func(w io.Writer) error {
		err := f.rescore(c, s, in, w, std)
		if err == errSomeFailed {
			failed, err = err, nil
		}
		return err
	}), failed)
}

// rescore reads an n-best list, writes it with its scores, and prints the best lines.
func (f *scoreFlags) rescore(c *cli.Context, s *records.Scorer, in io.Reader, w io.Writer,
	std console.IO) error {
	var broken, failed error
	list := func(yield func(records.Hypothesis) bool) {
		for l, err := range lines(f.nbest, in) {
			if l.n == 0 {
				broken = err
				return
			}
			h := records.ReadHypothesis(l.n, l.text)
			if h.Err = cmp.Or(err, h.Err); !yield(h) {
				return
			}
		}
	}
	weight := 1.
	if f.ranking.Weight != nil {
		weight = *f.ranking.Weight
	}
	err := s.NBest(c.Context, list, weight, func(list []records.Hypothesis, best int) error {
		for i := range list {
			if h := &list[i]; h.Err != nil {
				failed = errSomeFailed
				fmt.Fprintf(std.Err, "infill: %s\n", advice.Message(atLine(h.Line, advice.OfRanking(h.Err))))
			}
			if _, err := fmt.Fprintln(w, list[i].InPlace()); err != nil {
				return err
			}
		}
		if best < 0 {
			return nil
		}
		_, err := fmt.Fprintln(std.Out, list[best].Best())
		return err
	})
	return cmp.Or(err, broken, failed)
}
