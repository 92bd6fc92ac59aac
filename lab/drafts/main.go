// Package drafts measures whether a small model is worth asking before a large one: whether
// surrogate transitions (see drafts) move more than the sampler rows for each row that the large
// model evaluates.
//
//	bin/lab drafts -large models/default -small models/small
//
// All samplers of a sentence begin with the same states, those of chains of rows that have gone on
// for -burnin steps, and end with the first step after which -rows rows of the large model were
// evaluated. A row of the small model is charged by its share of processor time, measured at
// the start. It prints a table in Markdown, for each sentence and for all.
//
// docs/reference/rows.md has such a table and says what it shows.
package drafts

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"infill/infill/text"
	"infill/lab/internal/chains"
	"infill/mlm"
)

// sentences have two to four blanks that depend on each other.
var sentences = []string{
	"He put the [MASK] on the [MASK] and left.",
	"She [MASK] her [MASK] because she was [MASK] of the dark.",
	"The [MASK] opened the [MASK] and gave the [MASK] to his [MASK].",
}

type options struct {
	chains, burnin, steps, rows int
	seed                        uint64
	ks, blanks                  []int
	temps                       []float64
	price                       float64 // of a row of the small model, in rows of the large one
}

// Command is the command drafts: args are its flags. Tables go to standard output.
func Command(ctx context.Context, args []string, _ io.Reader, _, errs io.Writer) error {
	fs := flag.NewFlagSet("drafts", flag.ContinueOnError)
	fs.SetOutput(errs)
	large := fs.String("large", "models/default", "folder of the large model")
	small := fs.String("small", "models/small", "folder of the small one, of the same vocabulary")
	ks := fs.String("k", "1 2 3 4", "steps of the small model")
	blanks := fs.String("blanks", "1 2", "blanks that each of them draws again")
	temps := fs.String("temperatures", "1 1.5", "temperatures of the small model")
	var o options
	fs.IntVar(&o.chains, "chains", 10, "chains")
	fs.IntVar(&o.burnin, "burnin", 50, "steps of rows before the comparison")
	fs.IntVar(&o.steps, "steps", 400, "steps at most")
	fs.IntVar(&o.rows, "rows", 120, "rows of the large model, after which a run ends")
	fs.Uint64Var(&o.seed, "seed", 1, "seed")
	threads := fs.Int("threads", 1, "threads")
	if err := fs.Parse(args); err != nil {
		return err
	}
	err := parse(*ks, &o.ks, strconv.Atoi)
	if err == nil {
		err = parse(*blanks, &o.blanks, strconv.Atoi)
	}
	if err == nil {
		err = parse(*temps, &o.temps, func(s string) (float64, error) {
			return strconv.ParseFloat(s, 64)
		})
	}
	if err != nil {
		return err
	}
	return run(ctx, *large, *small, *threads, o)
}

// parse reads a list of positive numbers.
func parse[T int | float64](list string, to *[]T, read func(string) (T, error)) error {
	for _, s := range strings.Fields(list) {
		v, err := read(s)
		above := v > 0 // NaN is not
		if err != nil || !above {
			return fmt.Errorf("%q in %q: want numbers above 0", s, list)
		}
		*to = append(*to, v)
	}
	return nil
}

func run(ctx context.Context, largeDir, smallDir string, threads int, o options) error {
	large, err := mlm.OpenDir(ctx, largeDir, mlm.Options{Threads: threads, Forward: true})
	if err != nil {
		return err
	}
	defer func() { _ = large.Close() }()
	small, err := mlm.OpenDir(ctx, smallDir, mlm.Options{Threads: threads, Forward: true})
	if err != nil {
		return err
	}
	defer func() { _ = small.Close() }()
	for id := range int32(large.VocabSize()) {
		if a, b := large.Tokenizer(), small.Tokenizer(); large.VocabSize() != small.VocabSize() ||
			a.Token(id) != b.Token(id) {
			return fmt.Errorf("%s and %s have different vocabularies: "+
				"a draft needs the same pieces under the same ids", largeDir, smallDir)
		}
	}
	sums := map[string]*tally{}
	var names []string
	for n, sentence := range sentences {
		t, err := text.Parse(large.Tokenizer(), sentence)
		if err != nil {
			return err
		}
		if n == 0 {
			if o.price, err = price(ctx, t, large, small); err != nil {
				return err
			}
			fmt.Println(header)
		}
		all, err := compare(ctx, t, large, small, o)
		if err != nil {
			return fmt.Errorf("%q: %w", sentence, err)
		}
		fmt.Printf("| “%s” %s\n", sentence, strings.Repeat("|", columns))
		for _, r := range all {
			fmt.Println(r.line(o.price))
			if sums[r.name] == nil {
				sums[r.name] = &tally{name: r.name}
				names = append(names, r.name)
			}
			sums[r.name].add(r)
		}
	}
	fmt.Printf("| all sentences %s\n", strings.Repeat("|", columns))
	for _, name := range names {
		fmt.Println(sums[name].line(o.price))
	}
	return nil
}

// price is the processor time of a row of the small model in rows of the large one.
func price(ctx context.Context, t *text.Template, large, small *mlm.Model) (float64, error) {
	const rows = 8
	var cost [2]time.Duration
	for i, m := range []*mlm.Model{large, small} {
		in := newText(m, t)
		at, x, out := make([]int, rows), make([][]int32, rows), make([][]float32, rows)
		for c := range out {
			x[c], out[c] = make([]int32, len(in.in.Blanks)), make([]float32, m.VocabSize())
			for j := range x[c] {
				x[c][j] = in.words[97*c+j] // different contexts: equal rows are evaluated once
			}
		}
		for pass := range 4 { // the first sets things up
			begin := chains.CPU()
			if err := m.Conditional(ctx, in.in, x, at, out); err != nil {
				return 0, err
			}
			if pass > 0 {
				cost[i] += chains.CPU() - begin
			}
		}
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / (3 * rows) }
	fmt.Printf("A row takes %.1f ms of the large model, %.2f of the small one.\n\n",
		ms(cost[0]), ms(cost[1]))
	return float64(cost[1]) / float64(cost[0]), nil
}
