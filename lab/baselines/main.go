// Package baselines fills blanks in the simple ways that the search is compared with, on the lines
// and the words that infill cloze takes:
//
//		bin/lab baselines -model small FILE ...
//
//	  - alone: every blank by itself, with all blanks masked, as a fill-mask pipeline does. Fillings
//	    are ranked by the product of the probabilities.
//	  - greedy: blank after blank from the left. Each gets the likeliest word after the words before
//	    it, while later blanks are masked. The other fillings come from a beam.
//	  - confident: the surest blank first. The blank whose likeliest word is the most probable gets
//	    it, given those that are filled. So masked diffusion models are decoded (Chang and others,
//	    MaskGIT, CVPR 2022; Nie and others, LLaDA, 2025), here with one word a step and no noise. The
//	    other fillings come from a beam.
//	  - remasked: the same, after which the word that is the least probable beside the others is
//	    masked again and gets the likeliest word, as many times as there are blanks. So decoders of
//	    masked diffusion take words back (Wang and others, ReMDM, 2025; Peng and others, P2, 2025),
//	    here without noise.
//	  - fill: the search.
//
// It prints what infill cloze prints. The sections of
// lab/notebook/search.md about them are of these runs.
package baselines

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"infill/infill"
	"infill/infill/open"
	"infill/infill/text"
	"infill/lab/internal/fanout"
	"infill/metrics/cloze"
	"infill/mlm"
	"infill/report/measure"
	"infill/report/show"
)

type options struct {
	words, sample, least, most, threads int
	ways                                []way
	seed                                uint64
}

// top is how many fillings of a line count.
const top = 5

// Command is the command baselines: args are its flags and the files. The tables go to out.
func Command(ctx context.Context, args []string, _ io.Reader, out, errs io.Writer) error {
	fs := flag.NewFlagSet("baselines", flag.ContinueOnError)
	fs.SetOutput(errs)
	model := fs.String("model", "default", "folder or name of the model")
	var o options
	fs.IntVar(&o.words, "words", 3, "adjacent words of a line that are blanked out")
	fs.IntVar(&o.sample, "sample", 100, "lines")
	fs.IntVar(&o.least, "min-words", 8, "words of a line at least")
	fs.IntVar(&o.most, "max-words", 20, "and at most")
	ways := fs.String("ways", "fill,pll,alone,greedy,confident,remasked",
		"the ways, separated by commas; the others are compared with the first")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the lines and the words")
	fs.IntVar(&o.threads, "threads", 2, "threads")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() == 0 {
		return errors.New("want files of sentences, one a line")
	}
	for name := range strings.SplitSeq(*ways, ",") {
		if !slices.Contains(known, way(name)) {
			return fmt.Errorf("-ways %s: want some of %v", name, known)
		}
		o.ways = append(o.ways, way(name))
	}
	m, err := open.Model(ctx, *model, mlm.Options{Threads: o.threads, Forward: true,
		Precision: mlm.Auto})
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	var all *measure.ClozeResult
	for _, name := range fs.Args() {
		file, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		test, err := run(ctx, m, strings.Split(strings.TrimSpace(string(file)), "\n"), o)
		if err != nil {
			return err
		}
		test.Models = []string{*model}
		if all == nil {
			clone := *test
			all, all.Runs = &clone, slices.Clone(test.Runs)
		} else {
			for i, r := range test.Runs {
				sum := &all.Runs[i]
				sum.Lines = slices.Concat(sum.Lines, r.Lines)
				sum.Rows, sum.Asked = sum.Rows+r.Rows, sum.Asked+r.Asked
			}
		}
		if err := print(out, test, name); err != nil {
			return err
		}
	}
	if fs.NArg() == 1 {
		return nil
	}
	return print(out, all, "all files")
}

// print writes the table of the lines of a file.
func print(out io.Writer, test *measure.ClozeResult, name string) error {
	if err := measure.Cloze(test); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%s: ", name)
	return show.Cloze(test).Text(out)
}

// A line has words blanked out.
type line struct {
	id       string
	template *text.Template
	original []string
}

// take blanks out words of lines in random order, as infill cloze does.
func take(e *infill.Engine, texts []string, o options) []line {
	masking := text.Masking{Words: o.words, Adjacent: true,
		Fits: func(text string, word [2]int) bool { return e.Reaches(text, word, infill.Options{}) }}
	rng := rand.New(rand.NewPCG(o.seed, 0x636c6f7a65)) //nolint:gosec // a sample, no secret
	var out []line
	for _, i := range rng.Perm(len(texts)) {
		if n := text.CountWords(texts[i]); len(out) == o.sample || n < o.least || n > o.most {
			continue
		}
		id := strconv.Itoa(i + 1)
		t, original, err := masking.Template(e.Tokenizer(), texts[i], o.seed, id)
		if err == nil { // others have too few words that can come back, or blanks
			out = append(out, line{id, t, original})
		}
	}
	return out
}

// run fills the lines in all ways.
func run(ctx context.Context, m *mlm.Model, texts []string, o options) (*measure.ClozeResult,
	error) {
	e := infill.New(m)
	lines := take(e, texts, o)
	test := &measure.ClozeResult{Seed: o.seed, Among: top, Protocol: fmt.Sprintf(
		"%d words of each blanked out, next to each other, lines of %d to %d words", o.words, o.least,
		o.most)}
	may := slices.DeleteFunc(slices.Clone(m.Tokenizer().WholeWords()), func(id int32) bool {
		word := m.Tokenizer().Token(id)
		return !e.Reaches("the "+word+" is", [2]int{4, 4 + len(word)}, infill.Options{})
	})
	for _, way := range o.ways {
		r := measure.ClozeRun{Name: string(way), Lines: make([]cloze.Counts, len(lines))}
		rows := make([]int, len(lines))
		err := fanout.Each(o.threads, len(lines), func(i int) error {
			l := &lines[i]
			var words [][]string
			var err error
			if way == search || way == pll {
				words, rows[i], err = l.search(ctx, e, o.seed, way)
			} else {
				t := newText(m, l.template, may)
				words, err = t.fill(ctx, way)
				rows[i] = len(t.known)
			}
			if err != nil {
				return fmt.Errorf("%s, line %s: %w", way, l.id, err)
			}
			same := func(filled, original string) bool { return strings.EqualFold(filled, original) }
			r.Lines[i], err = cloze.Count(l.original, words, top, same)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, n := range rows {
			r.Rows += int64(n)
		}
		r.Asked = r.Rows
		test.Runs = append(test.Runs, r)
	}
	return test, nil
}

// search fills a line with the search.
func (l *line) search(ctx context.Context, e *infill.Engine, seed uint64, by way) (
	words [][]string, rows int, err error) {
	results := infill.ResultOptions{Top: top}
	if by == pll {
		results.Score = infill.ScorePLL
	}
	res, err := e.Fill(ctx, l.template, infill.Options{Seed: seed, ID: l.id,
		Results: results, Words: infill.WordOptions{Original: l.original}})
	if err != nil {
		return nil, 0, err
	}
	for _, f := range res.Fillings {
		words = append(words, f.Tokens)
	}
	return words, res.Evaluated, nil
}
