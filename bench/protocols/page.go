package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// The page's first lines, which say how to read it.
//
//go:embed page.txt
var pageHead string

// published are the numbers of BERT-base in Table 3 of DLP, by sampler: self-BLEU, unique 2-grams
// against the sentences themselves, corpus BLEU.
var published = map[string][3]float64{
	"gibbs": {86.84, 10.98, 23.82},
	"gwg":   {81.97, 15.12, 22.84},
	"dula":  {72.37, 23.33, 21.82},
	"dmala": {72.59, 23.26, 21.85},
}

// publishedKeys are the columns of published.
var publishedKeys = [3]string{"self_bleu", "unique.self.2", "bleu"}

// pageCommand makes the runs that are missing and writes the page of all runs of the file.
func pageCommand(ctx context.Context, args []string) error {
	var j job
	f := flag.NewFlagSet("page", flag.ContinueOnError)
	j.flags(f, "gibbs gwg dula dmala", "C B A", "steps evaluations")
	refs := f.String("references", "", "files of reference sentences for corpus BLEU, comma separated")
	runs := f.String("runs", "", "file that runs are kept in")
	stored := f.Bool("stored", false, "write the page of the runs that are there")
	top := f.Int("top", 5, "fillings of a sentence that count, best first")
	if err := f.Parse(args); err != nil {
		return err
	}
	page := j.out
	j.out = *runs
	if *runs == "" || page == "" {
		return fmt.Errorf("page needs -runs FILE and -o FILE")
	}
	if !*stored {
		if err := j.run(ctx); err != nil {
			return err
		}
	}
	all, _, err := readRecords(*runs)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s has no runs", *runs)
	}
	p := &pager{
		job: &j, references: strings.FieldsFunc(*refs, func(r rune) bool { return r == ',' }), top: *top,
	}
	var b strings.Builder
	if err := p.write(&b, all); err != nil {
		return err
	}
	return os.WriteFile(page, []byte(b.String()), 0o644)
}

// A pager writes the page.
type pager struct {
	job        *job // names what to compare, in order
	references []string
	top        int
}

// write prints a section for each model, and in it one for each protocol and budget.
func (p *pager) write(w io.Writer, all []record) error {
	fmt.Fprint(w, pageHead)
	names := strings.Fields(p.job.samplers)
	all = slices.DeleteFunc(slices.Clone(all), func(r record) bool {
		return !slices.Contains(names, r.Sampler)
	})
	slices.SortStableFunc(all, func(a, b record) int { // A before B before C, steps first
		if a.Model != b.Model {
			return 0
		}
		return strings.Compare(a.Protocol+steps(a.Budget), b.Protocol+steps(b.Budget))
	})
	var groups []key
	for _, r := range all {
		if g := r.group(); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	model := ""
	for _, g := range groups {
		if g.Model != model {
			model = g.Model
			fmt.Fprintf(w, "\n## %s\n", model)
		}
		var rs []record
		for _, r := range all {
			if r.group() == g {
				rs = append(rs, r)
			}
		}
		if err := p.group(w, g, rs, names); err != nil {
			return err
		}
	}
	return nil
}

// steps sorts equal steps before the other budgets.
func steps(budget string) string {
	if budget == "steps" {
		return ""
	}
	return budget
}

// group prints the runs of a model under a protocol and a budget: the levels beside the paper's,
// and the differences from the first sampler, with equal fillings merged and without.
func (p *pager) group(w io.Writer, g key, rs []record, names []string) error {
	c := newCells(rs, slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return !slices.ContainsFunc(rs, func(r record) bool { return r.Sampler == n })
	}))
	chains := fmt.Sprintf("%d chains", g.Chains)
	if g.Protocol == "C" {
		chains = "one chain"
	}
	fmt.Fprintf(w, "\n### Protocol %s, equal %s\n\n%s of %d steps, sentences: %d, seeds: %d.\n\n",
		g.Protocol, g.Budget, strings.ToUpper(chains[:1])+chains[1:], g.Steps, len(c.sentences),
		len(c.seeds))
	if len(c.sentences) == 0 || len(c.samplers) < 2 {
		fmt.Fprint(w, "There are no two samplers with runs of the same sentences and seeds.\n")
		return nil
	}
	for _, repeats := range []bool{false, true} {
		t := &tabler{references: p.references, samplers: c.samplers, top: p.top, repeats: repeats}
		used := slices.DeleteFunc(t.columns(), func(col column) bool {
			own := !slices.Contains(publishedKeys[:], col.key)
			return repeats && own || col.title == "rows" || col.title == "CPU seconds"
		})
		whole, without, err := t.measure(c, used)
		if err != nil {
			return err
		}
		if repeats {
			fmt.Fprint(w, "\nThe same, with equal fillings counted as often as they came:\n\n")
		}
		p.levels(w, c, used, whole, without, !repeats)
	}
	return nil
}

// levels prints a row for each sampler: mean over the seeds, the paper's number, and the difference
// from the first sampler.
func (p *pager) levels(
	w io.Writer, c *cells, used []column, whole, without [][][]float64, paper bool,
) {
	var heads []string
	for _, col := range used {
		heads = append(heads, col.title)
		if paper && slices.Contains(publishedKeys[:], col.key) {
			heads = append(heads, "paper")
		}
	}
	fmt.Fprintf(w, "| | %s |\n|---|%s\n", strings.Join(heads, " | "),
		strings.Repeat("--:|", len(heads)))
	for s, name := range c.samplers {
		fmt.Fprintf(w, "| %s |", name)
		for i, col := range used {
			fmt.Fprintf(w, " %s |", col.mean(whole[s][i]))
			if at := slices.Index(publishedKeys[:], col.key); at >= 0 && paper {
				fmt.Fprintf(w, " %s |", paperNumber(name, at))
			}
		}
		fmt.Fprintln(w)
	}
	for s, name := range c.samplers[1:] {
		fmt.Fprintf(w, "| %s − %s |", name, c.samplers[0])
		for i, col := range used {
			d := pair(whole[s+1][i], whole[0][i], without[s+1][i], without[0][i])
			fmt.Fprintf(w, " %s |", col.difference(d))
			if at := slices.Index(publishedKeys[:], col.key); at >= 0 && paper {
				fmt.Fprintf(w, " %s |", paperDifference(name, c.samplers[0], at))
			}
		}
		fmt.Fprintln(w)
	}
}

func paperNumber(sampler string, at int) string {
	v, ok := published[sampler]
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.2f", v[at])
}

func paperDifference(a, b string, at int) string {
	x, ok := published[a]
	y, also := published[b]
	if !ok || !also {
		return "–"
	}
	return fmt.Sprintf("%+.2f", x[at]-y[at])
}
