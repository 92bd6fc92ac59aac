// Package isinglearn learns the couplings of an Ising model from its states, with several
// samplers for the expectation under the model.
package isinglearn

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"infill/experiments/lab"
	"infill/samplers"
)

// Experiment is the one of DLP's section 7.3.1.
var Experiment = lab.Experiment{
	Name:   "isinglearn",
	Title:  "Learning an Ising model",
	Source: "Zhang, Liu and Liu, ICML 2022 (DLP), section 7.3.1, figure 5, appendix I.4",
	Takes:  "a minute of one core",
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

// tasks are the task of the full page or of the quick case, and the numbers of steps.
func tasks(quick bool) (task, []int) {
	if quick {
		return task{side: 4, coupling: 0.15, rows: 1000, sweeps: 40, batch: 100, buffer: 100, iters: 200,
			rate: 0.002, l1: 0.01, every: 20}, []int{2, 8}
	}
	return task{side: 10, coupling: 0.25, rows: 2000, sweeps: 400, batch: 128, buffer: 128, iters: 600,
		rate: 0.001, l1: 0.01, every: 25}, []int{5, 20}
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	t, steps := tasks(o.Quick)
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
		o.Logf("isinglearn: %s, %d steps", titles[i%n], t.steps)
		return err
	})
	if err != nil {
		return nil, err
	}
	return page(t, steps, results), nil
}

// page writes the results of all samplers for each number of steps.
func page(t task, steps []int, results []*learned) *lab.Page {
	rows := [][]string{{"steps an iteration"}}
	rows[0] = append(rows[0], titles...)
	chart := lab.LineChart{Title: fmt.Sprintf("%d steps an iteration", steps[0]), X: "iteration",
		Y: "log RMSE of J, in nats"}
	for i, s := range steps {
		row := []string{fmt.Sprint(s)}
		for k, title := range titles {
			r := results[i*len(titles)+k]
			row = append(row, lab.Num(r.logRMSE[len(r.logRMSE)-1], 2))
			if i == 0 {
				chart.Lines = append(chart.Lines, lab.Line{Name: title, X: r.iter, Y: r.logRMSE})
			}
		}
		rows = append(rows, row)
	}
	text := strings.NewReplacer("{side}", fmt.Sprint(t.side), "{iters}", fmt.Sprint(t.iters),
		"{rows}", fmt.Sprint(t.rows), "{sweeps}", fmt.Sprint(t.sweeps), "{batch}", fmt.Sprint(t.batch),
		"{buffer}", fmt.Sprint(t.buffer), "{rate}", fmt.Sprint(t.rate), "{sigma}", fmt.Sprint(t.coupling),
		"{table}", lab.Table(rows...)).Replace(about)
	return &lab.Page{Text: text, Charts: map[string]string{"rmse.svg": chart.SVG()}}
}
