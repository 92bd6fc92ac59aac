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
	"infill/samplers"
)

// Experiment is the one of DLP's section 7.3.1.
var Experiment = lab.Experiment{
	Name:   "isinglearn",
	Title:  "Learning an Ising model",
	Source: "Zhang, Liu and Liu, ICML 2022 (DLP), section 7.3.1, figure 5, appendix I.4",
	Takes:  "two minutes of one core",
	Run:    run,
}

//go:embed page.txt
var about string

// part is the text of one task.
//
//go:embed part.txt
var part string

// samplersOf are the samplers of the figure, with the steps of the appendix.
func samplersOf() []samplers.Sampler {
	return []samplers.Sampler{&samplers.Gibbs{}, &samplers.GWG{}, &samplers.DULA{StepSize: 0.1},
		&samplers.DMALA{StepSize: 0.15}}
}

var titles = []string{"Gibbs-1", "GWG-1", "DULA", "DMALA"}

// tasks are those of the full page or of the quick case, with the numbers of steps an iteration
// that each is done with.
func tasks(quick bool) (tasks []task, steps [][]int) {
	if quick {
		return []task{{side: 4, coupling: 0.15, rows: 1000, sweeps: 40, batch: 100, buffer: 100,
			iters: 200, rate: 0.002, l1: 0.01, every: 20}}, [][]int{{2, 8}}
	}
	return []task{
		{side: 25, coupling: 0.25, rows: 1000, sweeps: 60, batch: 64, buffer: 64, iters: 500, rate: 0.001,
			l1: 0.01, every: 10},
		{side: 10, coupling: 0.25, rows: 2000, sweeps: 400, batch: 128, buffer: 128, iters: 600,
			rate: 0.001, l1: 0.01, every: 25},
	}, [][]int{{5}, {5, 20}}
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	page := &lab.Page{Text: about, Charts: map[string]string{}}
	all, steps := tasks(o.Quick)
	for k, t := range all {
		results, err := t.compare(ctx, o, steps[k])
		if err != nil {
			return nil, err
		}
		section, chart := t.section(steps[k], results)
		page.Text += "\n" + section
		page.Charts[fmt.Sprintf("rmse%d.svg", t.side)] = chart
	}
	return page, nil
}

// compare learns with every sampler for each number of steps.
func (t task) compare(ctx context.Context, o lab.Options, steps []int) ([]*learned, error) {
	data, err := t.data(ctx, o.Seed)
	if err != nil {
		return nil, err
	}
	n := len(titles)
	results := make([]*learned, n*len(steps))
	err = lab.Parallel(o.Threads, len(results), func(i int) error {
		t := t
		t.steps = steps[i/n]
		var err error
		results[i], err = t.learn(ctx, samplersOf()[i%n], data, o.Seed)
		o.Logf("isinglearn: side %d, %s, %d steps", t.side, titles[i%n], t.steps)
		return err
	})
	return results, err
}

// section writes the results of all samplers for each number of steps.
func (t task) section(steps []int, results []*learned) (text, chart string) {
	rows := [][]string{append([]string{"steps an iteration"}, titles...)}
	p := drawing.Panel{X: "iteration", Y: "log RMSE of J, in nats"}
	for i, s := range steps {
		row := []string{fmt.Sprint(s)}
		for k, title := range titles {
			r := results[i*len(titles)+k]
			row = append(row, lab.Num(r.logRMSE[len(r.logRMSE)-1], 2))
			if i == 0 {
				p.Lines = append(p.Lines, drawing.Line{Name: title, Series: k, X: r.iter, Y: r.logRMSE})
			}
		}
		rows = append(rows, row)
	}
	plot := drawing.Plot{Panels: []drawing.Panel{p},
		Title: fmt.Sprintf("%d × %d spins, %d steps an iteration", t.side, t.side, steps[0])}
	n := float64(t.side * t.side)
	return strings.NewReplacer("{side}", fmt.Sprint(t.side), "{iters}", fmt.Sprint(t.iters),
		"{rows}", fmt.Sprint(t.rows), "{sweeps}", fmt.Sprint(t.sweeps), "{batch}", fmt.Sprint(t.batch),
		"{buffer}", fmt.Sprint(t.buffer), "{rate}", fmt.Sprint(t.rate), "{sigma}", fmt.Sprint(t.coupling),
		"{start}", lab.Num(math.Log(t.coupling*math.Sqrt(4/n)), 2), "{table}",
		lab.Table(rows...)).Replace(part), plot.SVG()
}
