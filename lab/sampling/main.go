// Package sampling measures samplers on text: effective samples per second, and how
// good and how different the fillings are after equal steps and after equal time.
//
//	bin/lab sampling                                  # the program's model small
//	bin/lab sampling -model /path/to/bert-base-onnx -steps 40 -chains 10
//
// Time is processor time, of all threads together, so that work beside it on the same machine
// disturbs little. It prints a table in Markdown: a line for every sampler on every text, and one
// for the texts together.
//
// docs/reference/rows.md has such tables and says what they show.
package sampling

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"infill/infill"
	"infill/infill/open"
	"infill/infill/text"
	"infill/lab/internal/chains"
	"infill/mlm"
)

// texts are sentences of two to six blanks that depend on each other.
var texts = []string{
	"He put the [MASK] on the [MASK] and left.",
	"The old [MASK] sat down and closed his [MASK] for a [MASK].",
	"She [MASK] her [MASK] because she was [MASK] of the dark.",
	"The [MASK] of the house was painted in a bright [MASK], and the old man sat in the [MASK] " +
		"and read his [MASK].",
	"In the [MASK] the [MASK] went to the [MASK] to [MASK] a [MASK] for his [MASK].",
}

// specs are the samplers that are compared, the first of them the measure of equal time.
const specs = "dmala dmala:gradient=forward dlmc gibbs-mh rows"

type options struct {
	chains, steps, long int
	memo                int64
	temperature         float64
	seed                uint64
}

// Command is the command sampling: args are its flags. Tables go to standard output.
func Command(ctx context.Context, args []string, _ io.Reader, _, errs io.Writer) error {
	fs := flag.NewFlagSet("sampling", flag.ContinueOnError)
	fs.SetOutput(errs)
	model := fs.String("model", "", "folder of the model; empty: small, of the program")
	file := fs.String("texts", "", "file of texts with blanks, one a line, or .json as the DISCS "+
		"task has them; empty: five sentences")
	only := fs.String("only", "", "numbers of the texts that are taken, as in 1,2; empty: all")
	list := fs.String("samplers", specs,
		"samplers, with parameters as in rows:rate=0.3; gradient=forward works for those with gradients")
	var o options
	fs.IntVar(&o.chains, "chains", 10, "chains")
	fs.IntVar(&o.steps, "steps", 50, "steps after which samplers are compared")
	fs.IntVar(&o.long, "long", 400, "steps that are made; effective samples are of the second half")
	fs.Float64Var(&o.temperature, "temperature", 1, "temperature")
	fs.Uint64Var(&o.seed, "seed", 1, "seed")
	fs.Int64Var(&o.memo, "memo", infill.DefaultMemo>>20,
		"MB to remember what the model said; 0: nothing")
	threads := fs.Int("threads", 2, "threads")
	if err := fs.Parse(args); err != nil {
		return err
	}
	return run(ctx, *model, *file, *only, *list, *threads, o)
}

func run(ctx context.Context, folder, file, only, list string, threads int, o options) error {
	m, err := open.Model(ctx, cmp.Or(folder, "small"), mlm.Options{Threads: threads})
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	lines, err := textsOf(file, only)
	if err != nil {
		return err
	}
	names := strings.Fields(list)
	sums := make([]summary, len(names))
	fmt.Println(header)
	for _, sentence := range lines {
		t, err := text.Parse(m.Tokenizer(), sentence)
		if err != nil {
			return err
		}
		var all []*record
		for _, name := range names {
			opt := infill.Options{
				Sampling: infill.SamplingOptions{Chains: o.chains, Steps: o.long, Temperature: o.temperature},
				Seed:     o.seed, Results: infill.ResultOptions{All: true,
					Collect: infill.CollectLast, Score: infill.ScorePLL},
			}
			if opt.Sampling.Sampler, err = chains.Sampler(name, &opt); err != nil {
				return err
			}
			r, err := record1(ctx, m, o.memo<<20, t, opt)
			if err != nil {
				return fmt.Errorf("%s: %q: %w", name, sentence, err)
			}
			all = append(all, r)
		}
		fmt.Printf("| **%s** ||||||||||||\n", sentence)
		tokens := commonest(all)
		for i, r := range all {
			l := r.line(o, all[0], tokens)
			sums[i].add(l)
			fmt.Println(l.row(names[i]))
		}
	}
	fmt.Println("| **all texts** ||||||||||||")
	for i := range names {
		fmt.Println(sums[i].line().row(names[i]))
	}
	return nil
}
