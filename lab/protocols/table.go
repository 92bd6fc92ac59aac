package protocols

import (
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"infill/infill"
	"infill/lab/internal/runlog"
	"infill/report/measure"
	"infill/report/read"
)

// A tabler makes tables.
type tabler struct {
	references []string
	samplers   []string // the first is what the others are compared with
	top        int
	counting   counting
}

// A counting is which fillings of a sentence count. Self-BLEU falls where some sentences have fewer
// fillings than others, so that a chain that is stuck looks varied.
type counting int

const (
	merged   counting = iota // equal ones once
	repeated                 // equal ones as often as chains ended in them
	alike                    // merged, and of every sampler as many as of that with the fewest
)

// countings are their names.
var countings = [...]string{"merged", "repeated", "alike"}

// fewestAlike is how many fillings of a sentence all samplers must have for it to count.
const fewestAlike = 2

func tableCommand(args []string, w io.Writer) error {
	var t tabler
	f := flag.NewFlagSet("table", flag.ContinueOnError)
	refs := f.String("references", "", "files of reference sentences for corpus BLEU, comma separated")
	names := f.String("samplers", "",
		"samplers, the first the measure of the others; empty: all of the file")
	f.IntVar(&t.top, "top", 5, "fillings of a sentence that count, best first")
	count := f.String("count", countings[merged], "what counts: merged, equal fillings once; "+
		"repeated, as often as they came; alike, merged, and of every sampler as many")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fmt.Errorf("table needs one file of runs")
	}
	t.references = strings.FieldsFunc(*refs, func(r rune) bool { return r == ',' })
	t.samplers = strings.Fields(*names)
	if t.counting = counting(slices.Index(countings[:], *count)); t.counting < 0 {
		return fmt.Errorf("-count %s: want %s", *count, strings.Join(countings[:], ", "))
	}
	all, _, err := runlog.Read[record](f.Arg(0))
	if err != nil {
		return err
	}
	return t.write(w, all)
}

// write prints the tables of every model, protocol and budget.
func (t *tabler) write(w io.Writer, all []record) error {
	var groups []key
	for _, r := range all {
		if g := r.group(); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		var rs []record
		for _, r := range all {
			if r.group() == g && (len(t.samplers) == 0 || slices.Contains(t.samplers, r.Sampler)) {
				rs = append(rs, r)
			}
		}
		if err := t.group(w, g, rs); err != nil {
			return err
		}
	}
	return nil
}

// group is what runs must share to be compared.
func (r record) group() key {
	k := r.key
	k.Sampler, k.Sentence, k.Seed = "", "", 0
	return k
}

// group prints the tables of runs that can be compared.
func (t *tabler) group(w io.Writer, g key, rs []record) error {
	c := newCells(rs, t.samplers)
	fmt.Fprintf(w, "%s, protocol %s, %d chains, %d steps (budget: %s), sentences: %d%s, "+
		"seeds: %d.\n\n", g.Model, g.Protocol, g.Chains, g.Steps, g.Budget, len(c.sentences),
		g.about(), len(c.seeds))
	if len(c.sentences) == 0 || len(c.seeds) == 0 {
		fmt.Fprint(w, "No sentence has a run of every sampler.\n\n")
		return nil
	}
	used := slices.DeleteFunc(t.columns(), func(c column) bool { return c.detail || !c.of(g) })
	whole, without, err := t.measure(c, used)
	if err != nil {
		return err
	}
	head(w, "sampler", used)
	for s, name := range c.samplers {
		fmt.Fprintf(w, "| %s |", name)
		for i, col := range used {
			fmt.Fprintf(w, " %s |", col.mean(whole[s][i]))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nDifferences from %s on the same sentences, with 95 %% intervals over them:\n\n",
		c.samplers[0])
	head(w, "sampler", used)
	for s, name := range c.samplers[1:] {
		fmt.Fprintf(w, "| %s |", name)
		for i, col := range used {
			d := pair(whole[s+1][i], whole[0][i], without[s+1][i], without[0][i])
			fmt.Fprintf(w, " %s |", col.difference(d))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	return nil
}

// mostBlocks bounds the work of the jackknife: more sentences are left out several at a time.
const mostBlocks = 20

// measure computes, for every sampler and column, the values of all sentences by seed, and those
// without each sentence or block of sentences, means over the seeds.
func (t *tabler) measure(c *cells, used []column) (whole, without [][][]float64, err error) {
	whole = make([][][]float64, len(c.samplers))
	without = make([][][]float64, len(c.samplers))
	for s := range c.samplers {
		whole[s], without[s] = make([][]float64, len(used)), make([][]float64, len(used))
	}
	blocks := min(len(c.sentences), mostBlocks)
	for left := -1; left < blocks; left++ {
		if left >= 0 && blocks == 1 {
			break
		}
		sums := make([][]float64, len(c.samplers))
		for s := range sums {
			sums[s] = make([]float64, len(used))
		}
		for seed := range c.seeds {
			values, err := t.values(c, used, seed, left)
			if err != nil {
				return nil, nil, err
			}
			for s := range values {
				for i, v := range values[s] {
					sums[s][i] += v / float64(len(c.seeds))
					if left < 0 {
						whole[s][i] = append(whole[s][i], v)
					}
				}
			}
		}
		for s := range sums {
			for i, v := range sums[s] {
				if left >= 0 {
					without[s][i] = append(without[s][i], v)
				}
			}
		}
	}
	return whole, without, nil
}

func head(w io.Writer, first string, used []column) {
	fmt.Fprintf(w, "| %s |", first)
	for _, c := range used {
		fmt.Fprintf(w, " %s |", c.title)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "|---|"+strings.Repeat("--:|", len(used)))
}

// pair is the difference of two samplers' values.
func pair(a, b, withoutA, withoutB []float64) difference {
	x, _ := spread(a)
	y, _ := spread(b)
	d := make([]float64, len(withoutA))
	for i := range d {
		d[i] = withoutA[i] - withoutB[i]
	}
	return jackknife(x-y, d)
}

// values are the columns of every sampler, for a seed, without one block of sentences unless left
// is −1. Every mostBlocks-th sentence is in a block.
func (t *tabler) values(c *cells, used []column, seed, left int) ([][]float64, error) {
	cmp := &measure.Comparison{Budget: infill.BudgetSteps, Seed: c.seeds[seed]}
	runs := make([][]record, len(c.samplers))
	for i, id := range c.sentences {
		if i%mostBlocks == left {
			continue
		}
		here := t.cut(c, id, c.seeds[seed])
		for s, r := range here {
			if s == 0 {
				cmp.Sources = append(cmp.Sources, read.Source{ID: id, Gold: r.Gold})
			}
			runs[s] = append(runs[s], r)
		}
	}
	if len(cmp.Sources) == 0 {
		none := slices.Repeat([]float64{math.NaN()}, len(used))
		return slices.Repeat([][]float64{none}, len(c.samplers)), nil
	}
	for s, name := range c.samplers {
		run := measure.SamplerRun{Name: name, MoveShare: math.NaN(), Acceptance: math.NaN()}
		for _, r := range runs[s] {
			run.Sentences = append(run.Sentences, t.sentence(r))
		}
		cmp.Samplers = append(cmp.Samplers, run)
	}
	p, err := measure.Prepare(cmp.Sources, read.Files(t.references, nil),
		measure.CompareOptions{Top: t.top})
	if err != nil {
		return nil, err
	}
	res, err := p.Compare(cmp)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(c.samplers))
	for s := range c.samplers {
		for _, col := range used {
			v := math.NaN()
			if col.own != nil {
				v = col.own(runs[s])
			}
			for _, m := range res.Rows[s].Metrics {
				if m.Key == col.key {
					v = m.Value
				}
			}
			out[s] = append(out[s], v)
		}
	}
	return out, nil
}

// cut is the run of every sampler for a sentence and a seed, with the fillings that count, or
// nothing where one has too few.
func (t *tabler) cut(c *cells, sentence string, seed uint64) []record {
	var out []record
	fewest := t.top
	for _, name := range c.samplers {
		r := c.runs[key{Sampler: name, Sentence: sentence, Seed: seed}]
		fewest = min(fewest, len(r.States))
		out = append(out, r)
	}
	if t.counting != alike {
		return out
	}
	if fewest < fewestAlike {
		return nil
	}
	for s := range out {
		out[s].States = out[s].States[:fewest]
	}
	return out
}

// sentence is a run as package report has it.
func (t *tabler) sentence(r record) measure.SentenceRun {
	out := measure.SentenceRun{Distinct: len(r.States)}
	for _, s := range r.States {
		n := 1
		if t.counting == repeated {
			n = s.Count
		}
		for range n {
			out.Fillings = append(out.Fillings, infill.Filling{Text: s.Text, Score: s.Score})
		}
		out.Total += s.Count
	}
	return out
}
