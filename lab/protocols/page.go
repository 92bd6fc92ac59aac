package protocols

import (
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"infill/lab/internal/runlog"
)

// The page's first lines, which say how to read it.
//
//go:embed page.txt
var pageHead string

// What stands between the first tables and the sections.
//
//go:embed guide.txt
var pageGuide string

// pageCommand makes the runs that are missing and writes the page of a model's runs of the file.
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
	all, _, err := runlog.Read[record](*runs)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(r record) bool { return r.Model != j.name() })
	if len(all) == 0 {
		return fmt.Errorf("%s has no runs of the model %s", *runs, j.name())
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

// write prints what came of all groups in one table, and then a section for each set of sentences,
// protocol and budget.
func (p *pager) write(w io.Writer, all []record) error {
	names := strings.Fields(p.job.samplers)
	all = slices.DeleteFunc(slices.Clone(all), func(r record) bool {
		return !slices.Contains(names, r.Sampler)
	})
	slices.SortStableFunc(all, func(a, b record) int { // R before A before B, steps first
		return cmp.Or(strings.Compare(first(a.Protocol), first(b.Protocol)),
			cmp.Compare(a.MaskRate, b.MaskRate), strings.Compare(a.Data, b.Data),
			strings.Compare(a.Vocab, b.Vocab), strings.Compare(a.Precision, b.Precision),
			strings.Compare(a.Protocol+steps(a.Budget), b.Protocol+steps(b.Budget)),
			cmp.Compare(a.Of, b.Of), cmp.Compare(a.Steps, b.Steps))
	})
	var order []key
	members := map[key][]record{}
	for _, r := range all {
		g := r.group()
		if members[g] == nil {
			order = append(order, g)
		}
		members[g] = append(members[g], r)
	}
	var groups []*measured
	for _, g := range order {
		m, err := p.measure(g, members[g], names)
		if err != nil {
			return err
		}
		if m != nil {
			groups = append(groups, m)
		}
	}
	if len(groups) == 0 {
		return fmt.Errorf("no two samplers have runs of the same sentences and seeds")
	}
	random := slices.ContainsFunc(groups, func(m *measured) bool { return m.Protocol == fromRandom })
	fmt.Fprint(w, headOf(groups[0].Model, random))
	series, groups := bySteps(groups)
	p.summary(w, groups, names)
	p.series(w, series)
	fmt.Fprint(w, pageGuide)
	p.commands(w, slices.Concat(groups, longer(series)))
	for _, m := range groups {
		p.details(w, m)
	}
	return nil
}

// headOf is the head of a model's page. Random says that it has chains from random words.
func headOf(model string, random bool) string {
	found := "Runs from random words (R) are on other pages. From these starts the others are " +
		"hardly more varied than Gibbs:"
	if random {
		found = "From random words the others are more varied than Gibbs, for fillings that are less " +
			"likely. From other starts they hardly are:"
	}
	return strings.NewReplacer("{model}", model, "{found}", found).Replace(pageHead)
}

// first sorts the paper's protocol before the others.
func first(protocol string) string {
	if protocol == fromRandom {
		return ""
	}
	return "others"
}

// steps sorts equal steps before the other budgets.
func steps(budget string) string {
	if budget == "steps" {
		return ""
	}
	return budget
}

// measured is a group of runs with its numbers.
type measured struct {
	key
	*cells
	sets  [len(countings)]numbers // by counting
	early []int                   // steps before the last whose states were kept
}

// numbers are the numbers in a counting's columns, see [tabler.measure].
type numbers struct {
	used           []column
	whole, without [][][]float64
}

// measure makes the numbers of runs that can be compared, or nil where no two samplers can.
func (p *pager) measure(g key, rs []record, names []string) (*measured, error) {
	m := &measured{key: g}
	m.cells = newCells(rs, slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return !slices.ContainsFunc(rs, func(r record) bool { return r.Sampler == n })
	}))
	if len(m.sentences) == 0 || len(m.samplers) < 2 && g.Of == 0 {
		return nil, nil
	}
	for i := range m.sets {
		t := &tabler{samplers: m.samplers, top: p.top, counting: counting(i)}
		if t.counting == merged && g.Of == 0 { // to index references takes the most time
			t.references = p.references
		}
		set := &m.sets[i]
		set.used = slices.DeleteFunc(t.columns(), func(col column) bool {
			return i > 0 && col.key != "self_bleu" || col.title == "rows" || col.title == "CPU seconds" ||
				col.title == "steps" && g.Budget == "steps" || !col.of(g)
		})
		var err error
		if set.whole, set.without, err = t.measure(m.cells, set.used); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// details prints the tables of a group, equal fillings merged: the levels beside the paper's, and
// the differences from the first sampler. The paper's protocol has the other columns of its table.
func (p *pager) details(w io.Writer, m *measured) {
	chains := fmt.Sprintf("%d chains", m.Chains)
	if m.Protocol == "C" {
		chains = "one chain"
	}
	fmt.Fprintf(w, "\n## Protocol %s, equal %s%s\n\n", m.Protocol, m.Budget, m.about())
	as := ""
	if m.Budget != "steps" {
		as = "as many " + m.Budget + " as GWG makes in "
	}
	fmt.Fprintf(w, "%s of %s%d steps, sentences: %d of %s, seeds: %d.\n\n",
		strings.ToUpper(chains[:1])+chains[1:], as, m.Steps, len(m.sentences), m.Data, len(m.seeds))
	set := &m.sets[merged]
	p.levels(w, m.cells, set, false)
	detailed := slices.ContainsFunc(set.used, func(c column) bool { return c.detail })
	if m.Protocol == fromRandom && detailed {
		fmt.Fprint(w, "\nThe other columns of the paper's table. Each is the share of n-grams, in %, "+
			"that are once among the\nfillings, or in no sentence of the file:\n\n")
		p.levels(w, m.cells, set, true)
	}
}

// levels prints a row for each sampler: mean over the seeds, the paper's number, and the difference
// from the first sampler. It has the columns of the first tables, or those in detail.
func (p *pager) levels(w io.Writer, c *cells, n *numbers, detail bool) {
	var heads []string
	for _, col := range n.used {
		if col.detail != detail {
			continue
		}
		heads = append(heads, col.title)
		if publishedAt(col.key) >= 0 {
			heads = append(heads, "paper")
		}
	}
	fmt.Fprintf(w, "| | %s |\n|---|%s\n", strings.Join(heads, " | "),
		strings.Repeat("--:|", len(heads)))
	row := func(name string, ours func(i int) string, theirs func(at int) string) {
		fmt.Fprintf(w, "| %s |", name)
		for i, col := range n.used {
			if col.detail != detail {
				continue
			}
			fmt.Fprintf(w, " %s |", ours(i))
			if at := publishedAt(col.key); at >= 0 {
				fmt.Fprintf(w, " %s |", theirs(at))
			}
		}
		fmt.Fprintln(w)
	}
	for s, name := range c.samplers {
		row(name, func(i int) string { return n.used[i].mean(n.whole[s][i]) },
			func(at int) string { return paperNumber(name, at) })
	}
	for s, name := range c.samplers[1:] {
		row(name+" − "+c.samplers[0], func(i int) string {
			return n.used[i].difference(pair(n.whole[s+1][i], n.whole[0][i], n.without[s+1][i],
				n.without[0][i]))
		}, func(at int) string { return paperDifference(name, c.samplers[0], at) })
	}
}
