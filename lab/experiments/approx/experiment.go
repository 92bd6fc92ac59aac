// Package approx places approximate arithmetic units in a computation so that its result suffers
// least, by sampling at falling temperatures.
package approx

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/lab/experiments/anneal"
	"infill/lab/experiments/lab"
	"infill/lab/internal/fanout"
	"infill/samplers"
)

// Experiment is the one of SGDLD's section 6.4.
var Experiment = lab.Experiment{
	Name:   "approx",
	Title:  "Approximate computing",
	Source: "SGDLD (anonymous authors, under review), section 6.4, table 2, appendix C.4",
	Takes:  "one minute of two idle cores",
	Run:    run,
}

//go:embed page.txt
var about string

// settings of a run.
type settings struct {
	graphs int
	steps  int
	draws  int // that judge a set of units
	// Draws of a step's estimates. The paper does not say how many an evaluation of f takes.
	batches []int
}

// The settings of appendix C.4: τ = 5·0.96^t in percent, 200 steps. With 50 neighbours these are
// its 10,000 evaluations of f.
func chosen(quick bool) settings {
	if quick {
		return settings{graphs: 3, steps: 200, draws: 100, batches: []int{1, 20}}
	}
	return settings{graphs: 120, steps: 200, draws: 1000, batches: []int{1, 100}}
}

const tau, cooling = 5, 0.96

// columns are the numbers of approximate units.
var columns = []int{3, 5, 8}

// A figure of the paper: errors in percent by column, of a method of that name.
type figure struct {
	name   string
	errors []float64
}

// learned are the methods that the paper compares with, and opt its optimum.
var (
	learned = []figure{
		{"RL", []float64{7.68, 10.15, 12.83}},
		{"GS-Tr+S", []float64{4.87, 8.03, 12.65}},
		{"GS-Tr+R", []float64{3.24, 5.86, 10.62}},
		{"CON", []float64{3.18, 5.13, 10.17}},
		{"AFF", []float64{3.10, 5.38, 10.04}},
	}
	sampled = map[string][]float64{"SGDLD-noC": {3.34, 5.26, 9.93},
		"SGDLD": {2.95, 5.13, 9.81}}
	opt = figure{"OPT", []float64{2.77, 4.74, 8.56}}
)

// methods are those that run here.
var methods = []string{"SLS", "SGDLD-noC", "SGDLD"}

// row is the name of a method with mini-batches.
func row(method string, batch int) string {
	if batch == 1 {
		return method + ", 1 draw"
	}
	return fmt.Sprintf("%s, %d draws", method, batch)
}

const meanOfAll = "mean of all sets"

// placed are the errors of a graph in percent, by method.
type placed map[string]float64

// place has each method place k units in a graph, and judges the sets by common draws, which no
// method has seen. The optimum is that by these draws, over all sets.
func (s settings) place(ctx context.Context, g graph, k int, seed uint64, number int,
) (placed, error) {
	id := fmt.Sprintf("approx %d", k)
	judges := make([]draw, s.draws)
	rng := samplers.NewStream(seed, id+" judges", number)
	for i := range judges {
		judges[i].fill(rng)
	}
	all := subsets(k)
	errors := g.errors(judges, all)
	p := placed{"OPT": slices.Min(errors)}
	for _, e := range errors {
		p[meanOfAll] += e / float64(len(errors))
	}
	start := samplers.NewStream(seed, id+" start", number).Perm(nodes)[:k]
	for _, batch := range s.batches {
		for _, method := range methods {
			x := [][]int32{make([]int32, k)}
			for c, v := range start {
				x[0][c] = int32(v)
			}
			t := newTarget(g, k, tau)
			o := samplers.Options{Seed: seed, ID: id + row(method, batch), First: number}
			var err error
			if method == "SLS" {
				err = anneal.Descend(ctx, t, x, batch, s.steps, o, nil)
			} else {
				// h_t = √(3/(10+t)), at least 0.1 (appendix C).
				sampler := &samplers.SGDLD{JumpScale: math.Sqrt(3), MinJump: .1, Batch: batch,
					NoCache: method == "SGDLD-noC"}
				x, err = anneal.Sample(ctx, sampler, t, x, s.steps, cooling, o, nil)
			}
			if err != nil {
				return nil, err
			}
			set, _ := units(x[0])
			at, _ := slices.BinarySearch(all, set)
			p[row(method, batch)] = errors[at]
		}
	}
	return p, nil
}

// graphOf is graph number n of a seed.
func graphOf(seed uint64, n int) graph {
	return drawGraph(samplers.NewStream(seed, "approx graph", n))
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	s := chosen(o.Quick)
	results := make([]placed, s.graphs*len(columns))
	err := fanout.Each(o.Threads, len(results), func(i int) error {
		var err error
		n, k := i/len(columns), columns[i%len(columns)]
		results[i], err = s.place(ctx, graphOf(o.Seed, n), k, o.Seed, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	var tables []string
	for c, k := range columns {
		tables = append(tables, fmt.Sprintf("%d units:\n\n%s", k, s.table(results[c:], c)))
	}
	text := strings.NewReplacer("{tables}", strings.Join(tables, "\n\n"),
		"{graphs}", fmt.Sprint(s.graphs), "{draws}", fmt.Sprint(s.draws),
		"{batches}", fmt.Sprintf("%d and for %d", s.batches[0], s.batches[1])).Replace(about)
	return &lab.Page{Text: text}, nil
}

// table is the table of a column, which is at every third place of results, from the first on.
func (s settings) table(results []placed, c int) string {
	rows := [][]string{{"", "error, %", "above OPT, %", "against noC", "paper's error, %",
		"paper's, above OPT, %"}}
	over := func(of func(p placed) float64) lab.Spread {
		var errors []float64
		for i := 0; i < len(results); i += len(columns) {
			errors = append(errors, of(results[i]))
		}
		return lab.Over(errors)
	}
	mean := func(name string) lab.Spread { return over(func(p placed) float64 { return p[name] }) }
	add := func(name, against string, paper []float64) {
		row := []string{name, "–", "–", "–", "–", "–"}
		if _, ours := results[0][name]; ours {
			row[1] = mean(name).Format(2)
			row[2] = lab.Num(100*(mean(name).Mean/mean(opt.name).Mean-1), 1)
		}
		if against != "" && against != name {
			row[3] = over(func(p placed) float64 { return p[name] - p[against] }).Format(2)
		}
		if paper != nil {
			row[4], row[5] = lab.Num(paper[c], 2), lab.Num(100*(paper[c]/opt.errors[c]-1), 1)
		}
		rows = append(rows, row)
	}
	for _, l := range learned {
		add(l.name, "", l.errors)
	}
	add(meanOfAll, "", nil)
	for _, batch := range s.batches {
		for _, method := range methods {
			add(row(method, batch), row("SGDLD-noC", batch), sampled[method])
		}
	}
	add(opt.name, "", opt.errors)
	return lab.Table(rows...)
}
