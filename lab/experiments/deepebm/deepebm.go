// Package deepebm learns an energy model with two hidden layers from small images by persistent
// contrastive divergence, with several samplers.
package deepebm

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/lab/experiments/contrast"
	"infill/lab/experiments/images"
	"infill/lab/experiments/lab"
	"infill/lab/internal/adam"
	"infill/lab/internal/fanout"
	"infill/lab/internal/kernels"
	"infill/samplers"
)

// Experiment stands for the deep energy models of DLP's section 7.3.2, at a size for two cores.
var Experiment = lab.Experiment{
	Name:  "deepebm",
	Title: "Learning a small deep energy model",
	Source: "DLP (Zhang and others, ICML 2022), section 7.3.2, table 1. ACS (Pynadath and others, " +
		"NeurIPS 2024), table 2, figure 3, algorithm 6, appendix D.5",
	Takes: "four minutes of one core",
	Run:   run,
}

//go:embed page.txt
var about string

// plan has the sizes of the experiment.
type plan struct {
	h1, h2, iters, batch, steps int
	rate                        float64 // of Adam
	tuning                      contrast.Tuning
	repeats                     int // seeds
	chains, rungs               int // of AIS
	settle                      int // steps before those that ask for acceptance
}

func plans(quick bool) plan {
	if quick {
		return plan{h1: 12, h2: 6, iters: 150, batch: 40, steps: 5, rate: 0.005, repeats: 1, chains: 40,
			rungs: 600, settle: 200, tuning: contrast.Tuning{Period: 62, Budget: 200}}
	}
	return plan{h1: 32, h2: 16, iters: 600, batch: 100, steps: 10, rate: 0.002, repeats: 5,
		chains: 100, rungs: 6000, settle: 2000, tuning: contrast.Tuning{Period: 62, Budget: 200}}
}

// methods are the samplers of DLP's table 1 and that of ACS's table 2.
var methods = []string{"Gibbs-1", "GWG-1", "DULA", "DMALA", "ACS"}

// samplerOf is one of them, but for ACS. The step sizes come from DLP's appendix I.4.
func samplerOf(method string) samplers.Sampler {
	switch method {
	case "Gibbs-1":
		return &kernels.ExactGibbs{}
	case "GWG-1":
		return &samplers.GWG{}
	case "DULA":
		return &samplers.DULA{StepSize: 0.1}
	}
	return &samplers.DMALA{StepSize: 0.15}
}

// negative makes chains that follow a model with one of the methods. They begin at random pixels.
func (p plan) negative(ctx context.Context, method string, m *net, seed uint64) (contrast.Negative,
	error) {
	start := images.Random(samplers.NewStream(seed, "buffer", 0), p.batch, m.n, 2)
	o := samplers.Options{Seed: seed, ID: "chains"}
	if method == "ACS" {
		return contrast.Cyclic(ctx, m, start, p.steps, p.tuning, o)
	}
	return contrast.Persistent(ctx, m, samplerOf(method), start, p.steps, o)
}

// learned is a model and what it is worth.
type learned struct {
	m           *net
	z           *kernels.AISResult
	train, test float64   // mean log-likelihoods, in nats
	buffer      [][]int32 // persistent chains
}

// learn climbs the log-likelihood of data. Its gradient is a mean over a mini-batch less one over
// the states of neg. It returns the last of these.
func (p plan) learn(ctx context.Context, neg contrast.Negative, m *net, data [][]int32,
	seed uint64) (x [][]int32, err error) {
	rng := samplers.NewStream(seed, "batches", 0)
	climb := adam.Optimiser{Rate: p.rate}
	batch, grad := make([][]int32, p.batch), make([]float64, len(m.theta))
	for it := range p.iters {
		for k := range batch {
			batch[k] = data[rng.IntN(len(data))]
		}
		if x, err = neg(ctx, it, batch); err != nil {
			return nil, err
		}
		clear(grad)
		m.addGradient(batch, 1, grad)
		m.addGradient(x, -1, grad)
		climb.Ascend(m.theta, grad)
	}
	return x, nil
}

// logShares are the logarithms of the pixels' frequencies, where annealing begins.
func logShares(x [][]int32) [][]float64 {
	q := images.Shares(x, 2)
	for _, row := range q {
		for v := range row {
			row[v] = math.Log(row[v])
		}
	}
	return q
}

// newModel is a network for images, whose law without hidden layers has their frequencies.
func (p plan) newModel(set *images.Set, seed uint64) *net {
	var base []float64
	for _, q := range logShares(set.Train) {
		base = append(base, q[1]-q[0])
	}
	return newNet(len(base), p.h1, p.h2, base, samplers.NewStream(seed, "weights", 0))
}

// judge estimates a model's log-likelihoods.
func (p plan) judge(ctx context.Context, m *net, set *images.Set, seed uint64) (*learned, error) {
	l := &learned{m: m}
	var err error
	if l.z, err = kernels.AIS(ctx, m, logShares(set.Train), kernels.AISOptions{Chains: p.chains,
		Rungs: p.rungs, Seed: seed, ID: "AIS"}); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		x   [][]int32
		sum *float64
	}{{set.Train, &l.train}, {set.Test, &l.test}} {
		u := make([]float64, len(part.x))
		if err := m.Energy(ctx, part.x, u); err != nil {
			return nil, err
		}
		for _, v := range u {
			*part.sum += (v - l.z.LogZ) / float64(len(u))
		}
	}
	return l, nil
}

// rowNames are the names of the table's rows.
func rowNames() []string { return append(slices.Clone(methods), "before learning") }

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	p, set := plans(o.Quick), images.Digits(2)
	n := len(methods)
	results := make([]*learned, (n+1)*p.repeats) // the last of each seed has learned nothing
	err := fanout.Each(o.Threads, len(results), func(i int) error {
		k, seed := i%(n+1), o.Seed+uint64(i/(n+1))
		m := p.newModel(set, seed)
		var buffer [][]int32
		if k < n {
			neg, err := p.negative(ctx, methods[k], m, seed)
			if err != nil {
				return err
			}
			if buffer, err = p.learn(ctx, neg, m, set.Train, seed); err != nil {
				return err
			}
		}
		l, err := p.judge(ctx, m, set, seed)
		if err == nil {
			l.buffer, results[i] = buffer, l
			o.Logf("deepebm: seed %d, %s: %.2f", seed, rowNames()[k], l.test)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	dmala := results[slices.Index(methods, "DMALA")]
	figures, err := p.figures(ctx, set, dmala, o.Seed)
	if err != nil {
		return nil, err
	}
	return p.page(set, results, figures), nil
}

// figures are the acceptance by step size of two models: one that learned for a quarter of the
// iterations, and the one that has learned all.
func (p plan) figures(ctx context.Context, set *images.Set, all *learned, seed uint64) ([]figure,
	error) {
	early, m := p, p.newModel(set, seed)
	early.iters /= 4
	neg, err := p.negative(ctx, "DMALA", m, seed)
	if err != nil {
		return nil, err
	}
	buffer, err := early.learn(ctx, neg, m, set.Train, seed)
	if err != nil {
		return nil, err
	}
	out := []figure{{iters: early.iters}, {iters: p.iters}}
	if out[0].rates, err = p.stepSizes(ctx, m, buffer, seed); err != nil {
		return nil, err
	}
	out[1].rates, err = p.stepSizes(ctx, all.m, all.buffer, seed)
	return out, err
}

// papers has log-likelihoods of test images of static and dynamic MNIST, Omniglot and Caltech, by
// row: DLP's table 1 and ACS's table 2.
var papers = []struct {
	of, method string
	test       []float64
}{
	{"second-hand in DLP", "Gibbs-1", []float64{-117.17, -121.19, -142.06, -163.50}},
	{"second-hand in DLP", "GWG-1", []float64{-80.01, -80.51, -94.72, -96.20}},
	{"DLP, 40 steps", "DULA", []float64{-80.71, -81.29, -145.68, -100.52}},
	{"DLP, 40 steps", "DMALA", []float64{-79.46, -79.54, -91.11, -87.82}},
	{"ACS, 10 steps, Caltech 30", "DMALA", []float64{-79.93, -80.13, -100.08, -99.35}},
	{"ACS, 10 steps, Caltech 30", "ACS", []float64{-79.76, -79.70, -91.32, -88.34}},
}

// theirs is the table of the papers.
func theirs() string {
	rows := [][]string{{"paper", "sampler", "static MNIST", "dynamic MNIST", "Omniglot", "Caltech"}}
	for _, p := range papers {
		row := []string{p.of, p.method}
		for _, v := range p.test {
			row = append(row, lab.Num(v, 2))
		}
		rows = append(rows, row)
	}
	return lab.Table(rows...)
}

func (p plan) page(set *images.Set, results []*learned, figures []figure) *lab.Page {
	rows := [][]string{{"sampler", "training images", "test images", "error of log Z"}}
	strips := []images.Strip{{Title: "images", X: set.Train[:12]}}
	all := rowNames()
	for k, method := range all {
		var train, test, se []float64
		for i := k; i < len(results); i += len(all) {
			train, test = append(train, results[i].train), append(test, results[i].test)
			se = append(se, results[i].z.Error)
		}
		rows = append(rows, []string{method, lab.Over(train).Format(2), lab.Over(test).Format(2),
			"± " + lab.Num(lab.Over(se).Mean, 2)})
		if x := results[k].buffer; x != nil {
			strips = append(strips, images.Strip{Title: method, X: x[:12]})
		}
	}
	text := strings.NewReplacer("{n}", fmt.Sprint(len(set.Train)), "{h1}", fmt.Sprint(p.h1), "{h2}",
		fmt.Sprint(p.h2), "{iters}", fmt.Sprint(p.iters), "{batch}", fmt.Sprint(p.batch), "{steps}",
		fmt.Sprint(p.steps), "{rate}", fmt.Sprint(p.rate), "{period}", fmt.Sprint(p.tuning.Period),
		"{budget}", fmt.Sprint(p.tuning.Budget),
		"{repeats}", fmt.Sprint(p.repeats), "{chains}", fmt.Sprint(p.chains), "{rungs}",
		fmt.Sprint(p.rungs), "{table}", lab.Table(rows...),
		"{settle}", fmt.Sprint(p.settle), "{kept}", fmt.Sprint(p.settle/10), "{early}",
		fmt.Sprint(p.iters/4), "{acceptance}", tableOf(figures), "{verdict}", verdict(figures),
		"{papers}", theirs()).Replace(about)
	return &lab.Page{Text: text, Charts: map[string]string{
		"samples.svg": images.Pictures(set.Side, set.Levels, strips)}}
}
