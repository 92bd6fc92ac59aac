// Package isinglearn learns the couplings of an Ising model from its states, with several
// samplers for the expectation under the model.
package isinglearn

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"infill/experiments/lab"
	"infill/internal/drawing"
	"infill/internal/fanout"
	"infill/samplers"
)

// Experiment is the one of DLP's section 7.3.1.
var Experiment = lab.Experiment{
	Name:   "isinglearn",
	Title:  "Learning an Ising model",
	Source: "Zhang, Liu and Liu, ICML 2022 (DLP), section 7.3.1, figure 5, appendix I.4",
	Takes:  "ten minutes of one core",
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

// plan is a task with several numbers of steps an iteration. With the first it has more iterations.
type plan struct {
	task
	steps []int
	long  int       // iterations with the first
	goals []float64 // values of log RMSE whose times with the first are tabled
}

func plans(quick bool) plan {
	if quick {
		return plan{task{side: 4, coupling: 0.15, rows: 1000, sweeps: 40, buffer: 100, iters: 200,
			rate: 0.002, l1: 0.01, every: 20}, []int{2, 8}, 240,
			[]float64{-2.75, -3}}
	}
	return plan{task{side: 25, coupling: 0.25, rows: 2000, sweeps: 60, buffer: 32, iters: 600,
		rate: 0.001, l1: 0.01, every: 20}, []int{5, 10, 25, 50, 100}, 6000,
		[]float64{-4, -4.25, -4.5, -4.75}}
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	p := plans(o.Quick)
	results, err := p.compare(ctx, o)
	if err != nil {
		return nil, err
	}
	return p.page(results), nil
}

// compare learns with every sampler for each number of steps. Those with most steps begin first,
// so that no thread waits for a long one at the end.
func (p plan) compare(ctx context.Context, o lab.Options) ([][]*learned, error) {
	data, err := p.data(ctx, o.Seed)
	if err != nil {
		return nil, err
	}
	n := len(titles)
	results := make([][]*learned, len(p.steps))
	for i := range results {
		results[i] = make([]*learned, n)
	}
	err = fanout.Each(o.Threads, n*len(p.steps), func(i int) (err error) {
		row, k := len(p.steps)-1-i/n, n-1-i%n
		t := p.task
		if t.steps = p.steps[row]; row == 0 {
			t.iters = p.long
		}
		results[row][k], err = t.learn(ctx, samplersOf()[k], data, o)
		o.Logf("isinglearn: %s, %d steps", titles[k], t.steps)
		return err
	})
	return results, err
}

// page writes the results by number of steps and sampler.
func (p plan) page(results [][]*learned) *lab.Page {
	rows := [][]string{append([]string{"steps an iteration", "iterations"}, titles...)}
	add := func(steps, iters int, of []*learned) {
		row := []string{fmt.Sprint(steps), fmt.Sprint(iters)}
		for _, r := range of {
			row = append(row, lab.Num(r.at(iters), 2))
		}
		rows = append(rows, row)
	}
	for i, of := range results {
		add(p.steps[i], p.iters, of)
	}
	add(p.steps[0], p.long, results[0])
	last := len(results) - 1
	n := float64(p.side * p.side)
	text := strings.NewReplacer("{side}", fmt.Sprint(p.side), "{iters}", fmt.Sprint(p.iters),
		"{long}", fmt.Sprint(p.long), "{fewest}", fmt.Sprint(p.steps[0]), "{most}",
		fmt.Sprint(p.steps[last]), "{rows}", fmt.Sprint(p.rows), "{sweeps}", fmt.Sprint(p.sweeps),
		"{buffer}", fmt.Sprint(p.buffer), "{rate}", fmt.Sprint(p.rate), "{sigma}",
		fmt.Sprint(p.coupling), "{start}", lab.Num(math.Log(p.coupling*math.Sqrt(4/n)), 2), "{table}",
		lab.Table(rows...), "{times}", p.times(results[0])).Replace(about)
	title := fmt.Sprintf("Learning %d × %d spins", p.side, p.side)
	iterations := func(l *learned) []float64 { return l.iter }
	seconds := func(l *learned) []float64 { return l.seconds }
	return &lab.Page{Text: text, Charts: map[string]string{
		"rmse.svg": drawing.Plot{Title: title, Panels: []drawing.Panel{
			p.panel(results, 0, "iteration", iterations),
			p.panel(results, len(results)-1, "iteration", iterations)}}.SVG(),
		"seconds.svg": drawing.Plot{Title: title + ", by time", Panels: []drawing.Panel{
			p.panel(results, 0, "seconds of one core", seconds)}}.SVG()}}
}

// times has what an iteration with the fewest steps takes, and the time until the error is as low
// as each of the goals.
func (p plan) times(of []*learned) string {
	rows := [][]string{{"sampler", "ms an iteration", "of them the chains"}}
	for _, g := range p.goals {
		rows[0] = append(rows[0], "seconds to "+lab.Num(g, 2))
	}
	for k, l := range of {
		n := l.iter[len(l.iter)-1] / 1000
		row := []string{titles[k], lab.Num(l.total()/n, 2), lab.Num(l.chains/n, 2)}
		for _, g := range p.goals {
			row = append(row, lab.Num(l.until(g), 1))
		}
		rows = append(rows, row)
	}
	return lab.Table(rows...)
}

// panel has the errors with one number of steps, by what at gives of a run.
func (p plan) panel(results [][]*learned, i int, x string, at func(*learned) []float64,
) drawing.Panel {
	panel := drawing.Panel{Title: fmt.Sprintf("%d steps an iteration", p.steps[i]), X: x,
		Y: "log RMSE of J, in nats"}
	for k, r := range results[i] {
		panel.Lines = append(panel.Lines,
			drawing.Line{Name: titles[k], Series: k, X: at(r), Y: r.logRMSE})
	}
	return panel
}
