// Package isinglearn learns the couplings of an Ising model from its states, with several
// samplers for the expectation under the model.
package isinglearn

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"infill/lab/experiments/lab"
	"infill/lab/internal/fanout"
	"infill/lab/internal/plot"
	"infill/report/draw"
	"infill/samplers"
)

// Experiment is the one of DLP's section 7.3.1.
var Experiment = lab.Experiment{
	Name:   "isinglearn",
	Title:  "Learning an Ising model",
	Source: "Zhang, Liu and Liu, ICML 2022 (DLP), section 7.3.1, figure 5, appendix I.4",
	Takes:  "forty minutes of one core",
	Run:    run,
}

//go:embed page.txt
var about string

// samplersOf are the samplers of the figure, with the steps of the appendix.
func samplersOf() []samplers.Sampler {
	return []samplers.Sampler{&samplers.Gibbs{}, &samplers.GWG{}, &samplers.DULA{StepSize: 0.1},
		&samplers.DMALA{StepSize: 0.15}}
}

var titles = []string{"Gibbs-1", "GWG-1", "DULA", "DMALA"}

// plan is a task with several numbers of steps an iteration, and the long task: the first of them
// with more chains and iterations.
type plan struct {
	task
	steps []int
	many  int       // chains of the long task
	long  int       // its iterations
	goals []float64 // values of log RMSE whose times in the long task are tabled
}

// tasks has the long task first, and then one for each number of steps.
func (p plan) tasks() []task {
	long := p.task
	long.steps, long.buffer, long.iters = p.steps[0], p.many, p.long
	all := []task{long}
	for _, n := range p.steps {
		t := p.task
		t.steps = n
		all = append(all, t)
	}
	return all
}

func plans(quick bool) plan {
	if quick {
		return plan{task{side: 4, coupling: 0.15, rows: 1000, sweeps: 40, buffer: 100, iters: 200,
			rate: 0.002, l1: 0.01, every: 20}, []int{2, 8}, 150, 240,
			[]float64{-2.75, -3}}
	}
	return plan{task{side: 25, coupling: 0.25, rows: 2000, sweeps: 60, buffer: 32, iters: 600,
		rate: 0.001, l1: 0.01, every: 20}, []int{5, 10, 25, 50, 100}, 256, 10000,
		[]float64{-4, -4.25, -4.5, -4.75, -5}}
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	p := plans(o.Quick)
	results, err := p.compare(ctx, o)
	if err != nil {
		return nil, err
	}
	return p.page(results), nil
}

// compare learns each task with every sampler. The best samplers begin first: their steps take the
// longest, and no thread should wait for one at the end.
func (p plan) compare(ctx context.Context, o lab.Options) ([][]*learned, error) {
	data, err := p.data(ctx, o.Seed)
	if err != nil {
		return nil, err
	}
	n, tasks := len(titles), p.tasks()
	results := make([][]*learned, len(tasks))
	for i := range results {
		results[i] = make([]*learned, n)
	}
	err = fanout.Each(o.Threads, n*len(tasks), func(i int) (err error) {
		row, k := i/n, n-1-i%n
		t := tasks[row]
		results[row][k], err = lab.Kept(o, fmt.Sprintf("isinglearn-%s-%d-%d", titles[k], t.steps,
			t.buffer), fmt.Sprintf("%+v", t), func() (*learned, error) {
			return t.learn(ctx, samplersOf()[k], data, o)
		})
		o.Logf("isinglearn: %s, %d steps, %d chains", titles[k], t.steps, t.buffer)
		return err
	})
	return results, err
}

// page writes the results by task and sampler.
func (p plan) page(results [][]*learned) *lab.Page {
	rows := [][]string{append([]string{"steps an iteration", "chains", "iterations"}, titles...)}
	add := func(t task, iters int, of []*learned) {
		row := []string{fmt.Sprint(t.steps), fmt.Sprint(t.buffer), fmt.Sprint(iters)}
		for _, r := range of {
			row = append(row, lab.Num(r.at(iters), 2))
		}
		rows = append(rows, row)
	}
	tasks := p.tasks()
	for i, of := range results[1:] {
		add(tasks[i+1], p.iters, of)
	}
	add(tasks[0], p.iters, results[0])
	add(tasks[0], p.long, results[0])
	last := len(results) - 1
	n := float64(p.side * p.side)
	text := strings.NewReplacer("{side}", fmt.Sprint(p.side), "{iters}", fmt.Sprint(p.iters),
		"{long}", fmt.Sprint(p.long), "{fewest}", fmt.Sprint(p.steps[0]), "{most}",
		fmt.Sprint(tasks[last].steps), "{rows}", fmt.Sprint(p.rows), "{sweeps}", fmt.Sprint(p.sweeps),
		"{buffer}", fmt.Sprint(p.buffer), "{many}", fmt.Sprint(p.many),
		"{rate}", fmt.Sprint(p.rate), "{sigma}",
		fmt.Sprint(p.coupling), "{start}", lab.Num(math.Log(p.coupling*math.Sqrt(4/n)), 2), "{table}",
		lab.Table(rows...), "{times}", p.times(results[0])).Replace(about)
	title := fmt.Sprintf("Learning %d × %d spins", p.side, p.side)
	iterations := func(l *learned) []float64 { return l.Iter }
	seconds := func(l *learned) []float64 { return l.Seconds }
	return &lab.Page{Text: text, Charts: map[string]string{
		"rmse.svg": plot.Plot{Title: title, Panels: []plot.Panel{
			tasks[0].panel(results[0], "iteration", iterations),
			tasks[last].panel(results[last], "iteration", iterations)}}.SVG(),
		"seconds.svg": plot.Plot{Title: title + ", by time", Panels: []plot.Panel{
			tasks[0].panel(results[0], "seconds of one core", seconds)}}.SVG()}}
}

// times has what an iteration of the long task takes, and the time until the error is as low
// as each of the goals.
func (p plan) times(of []*learned) string {
	rows := [][]string{{"sampler", "ms an iteration", "of them the chains"}}
	for _, g := range p.goals {
		rows[0] = append(rows[0], "seconds to "+lab.Num(g, 2))
	}
	for k, l := range of {
		n := l.Iter[len(l.Iter)-1] / 1000
		row := []string{titles[k], lab.Num(l.total()/n, 2), lab.Num(l.Chains/n, 2)}
		for _, g := range p.goals {
			row = append(row, lab.Num(l.until(g), 1))
		}
		rows = append(rows, row)
	}
	return lab.Table(rows...)
}

// panel has the errors of a task, by what at gives of a run.
func (t task) panel(of []*learned, x string, at func(*learned) []float64) plot.Panel {
	panel := plot.Panel{X: x, Y: "log RMSE of J, in nats",
		Title: fmt.Sprintf("%d steps an iteration, %d chains", t.steps, t.buffer)}
	for k, r := range of {
		panel.Lines = append(panel.Lines,
			draw.Line{Name: titles[k], Series: k, X: at(r), Y: r.LogRMSE})
	}
	return panel
}
