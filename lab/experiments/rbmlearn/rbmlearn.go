// Package rbmlearn learns restricted Boltzmann machines from images by persistent contrastive
// divergence, with several samplers.
package rbmlearn

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"infill/lab/experiments/boltzmann"
	"infill/lab/experiments/contrast"
	"infill/lab/experiments/images"
	"infill/lab/experiments/lab"
	"infill/lab/internal/fanout"
	"infill/lab/papers"
	"infill/samplers"
)

// Experiment is the one of ACS's section 6.2.1.
var Experiment = lab.Experiment{
	Name:  "rbmlearn",
	Title: "Learning restricted Boltzmann machines",
	Source: "ACS (Pynadath and others, NeurIPS 2024), section 6.2.1, table 1, algorithm 6, appendix " +
		"D.4",
	Takes: "four hours of one core; needs Fashion-MNIST",
	Run:   run,
}

//go:embed page.txt
var about string

// plan has the sizes of the experiment.
type plan struct {
	hidden, iters, batch, steps int
	cd                          int     // sweeps of contrastive divergence
	rate                        float64 // of Adam
	repeats                     int     // seeds
	chains, rungs               int     // of AIS
}

func plans(quick bool) plan {
	if quick {
		return plan{hidden: 6, iters: 300, batch: 50, steps: 5, cd: 10, rate: 0.01, repeats: 1,
			chains: 50, rungs: 100}
	}
	return plan{hidden: 500, iters: 1000, batch: 100, steps: 40, cd: 100, rate: 0.001, repeats: 2,
		chains: 50, rungs: 2000}
}

// methods are the samplers of the table, with the steps of the appendix.
var methods = []string{"CD", "block Gibbs", "GWG-1", "DMALA", "ACS"}

// title is a method's name on the page.
func (p plan) title(method string) string {
	if method == "CD" {
		return fmt.Sprintf("CD-%d", p.cd)
	}
	return method
}

// tuning is how many iterations' steps each estimate of ACS takes.
const tuning = 5

// negative makes the states that stand for the model, with one of the methods. Persistent chains
// begin at independent pixels with the frequencies of the training images, as the paper's public
// code has them.
func (p plan) negative(ctx context.Context, method string, r *papers.RBM, set *images.Set,
	seed uint64) (contrast.Negative, error) {
	start := images.Independent(samplers.NewStream(seed, "buffer", 0), p.batch,
		images.Shares(set.Train, set.Levels))
	o := samplers.Options{Seed: seed, ID: "chains"}
	switch method {
	case "CD":
		return boltzmann.Divergence(r, p.cd, seed), nil
	case "block Gibbs":
		return contrast.Persistent(ctx, r, papers.RBMGibbs{}, start, p.steps, o)
	case "GWG-1":
		return contrast.Persistent(ctx, r, &samplers.GWG{}, start, p.steps, o)
	case "DMALA":
		return contrast.Persistent(ctx, r, &samplers.DMALA{StepSize: 0.2}, start, p.steps, o)
	}
	return contrast.Cyclic(ctx, r, start, p.steps,
		contrast.Tuning{Period: p.iters / 4, Budget: tuning * p.steps, Rise: true}, o)
}

// learned is what a machine is worth.
type learned struct {
	Train, Test float64   // mean log-likelihoods, in nats
	Error       float64   // standard error of log Z
	X           [][]int32 // some of its states, from the end of annealing
}

// shown is the number of states that the page shows of a machine.
const shown = 12

// scored are the training images whose log-likelihood counts.
func scored(set *images.Set) [][]int32 { return set.Train[:min(1000, len(set.Train))] }

// learn makes a machine and estimates its log-likelihoods.
func (p plan) learn(ctx context.Context, method string, set *images.Set, seed uint64) (*papers.RBM,
	*learned, error) {
	r, err := boltzmann.New(set, p.hidden, seed)
	if err != nil {
		return nil, nil, err
	}
	neg, err := p.negative(ctx, method, r, set, seed)
	if err != nil {
		return nil, nil, err
	}
	fit := boltzmann.Fit{Iters: p.iters, Batch: p.batch, Rate: p.rate, Seed: seed}
	if err := fit.Learn(ctx, r, set.Train, neg); err != nil {
		return nil, nil, err
	}
	z, err := boltzmann.LogZ(ctx, r, set.Train, p.chains, p.rungs, seed)
	if err != nil {
		return nil, nil, err
	}
	l := &learned{Error: z.Error, X: z.X[:shown]}
	if l.Train, err = boltzmann.LogLikelihood(ctx, r, scored(set), z.LogZ); err != nil {
		return nil, nil, err
	}
	l.Test, err = boltzmann.LogLikelihood(ctx, r, set.Test, z.LogZ)
	return r, l, err
}

// settings are what a machine depends on besides its method and seed.
func (p plan) settings(set *images.Set) string {
	p.repeats = 0
	return fmt.Sprintf("%+v, %d images of %s", p, len(set.Train), set.Name)
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	p, set := plans(o.Quick), images.Digits(2)
	if !o.Quick {
		var err error
		if set, err = images.Fashion(o, 28, 2, 60000, 10000); err != nil {
			return nil, err
		}
	}
	results := make([]*learned, len(methods)*p.repeats)
	err := fanout.Each(o.Threads, len(results), func(i int) (err error) {
		k, part := i%len(methods), o
		part.Seed += uint64(i / len(methods))
		results[i], err = lab.Kept(part, "rbmlearn-"+strings.ReplaceAll(methods[k], " ", "-"),
			p.settings(set), func() (*learned, error) {
				_, l, err := p.learn(ctx, methods[k], set, part.Seed)
				return l, err
			})
		o.Logf("rbmlearn: %s, %d", methods[k], i/len(methods)+1)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.page(set, results, o.Seed), nil
}

// independent is the mean log-likelihood of images of independent pixels with the frequencies of
// the training images, in nats. Learning begins near it.
func independent(set *images.Set, x [][]int32) float64 {
	shares, sum := images.Shares(set.Train, set.Levels), 0.0
	for _, v := range x {
		for i, s := range v {
			sum += math.Log(shares[i][s])
		}
	}
	return sum / float64(len(x))
}

// paper is table 1: the log-likelihoods of test images of MNIST, eMNIST, kMNIST, Omniglot and
// Caltech. What it calls block Gibbs is contrastive divergence in its public code.
var paper = map[string][]float64{
	"CD":    {-191.98, -317.78, -357.69, -161.73, -511.65},
	"GWG-1": {-387.34, -590.97, -681.28, -276.81, -827.45},
	"DMALA": {-278.35, -324.34, -436.3538, -222.61, -427.29},
	"ACS":   {-249.55, -304.96, -407.39, -220.71, -396.04},
}

// page has the machines of seeds from the first on.
func (p plan) page(set *images.Set, results []*learned, seed uint64) *lab.Page {
	rows := [][]string{{"sampler", "training images", "test images", "each seed", "log Z",
		"paper: MNIST", "eMNIST", "kMNIST", "Omniglot", "Caltech"}}
	first := []string{"none: independent pixels", lab.Num(independent(set, scored(set)), 2),
		lab.Num(independent(set, set.Test), 2), "", "exact"}
	rows = append(rows, append(first, "", "", "", "", ""))
	strips := []images.Strip{{Title: "images", X: set.Train[:shown]}}
	for k, method := range methods {
		var train, test, logZ []float64
		var each []string
		for i := k; i < len(results); i += len(methods) {
			train, test = append(train, results[i].Train), append(test, results[i].Test)
			logZ, each = append(logZ, results[i].Error), append(each, lab.Num(results[i].Test, 0))
			strips = append(strips, images.Strip{X: results[i].X,
				Title: fmt.Sprintf("%s, seed %d", p.title(method), seed+uint64(i/len(methods)))})
		}
		row := []string{p.title(method), lab.Over(train).Format(2), lab.Over(test).Format(2),
			strings.Join(each, ", "), "± " + lab.Num(lab.Over(logZ).Mean, 2)}
		for _, v := range paper[method] {
			row = append(row, lab.Num(v, 2))
		}
		for len(row) < len(rows[0]) { // not in the paper
			row = append(row, "")
		}
		rows = append(rows, row)
	}
	text := strings.NewReplacer("{set}", set.Name, "{side}", fmt.Sprint(set.Side), "{images}",
		fmt.Sprint(len(set.Train)), "{hidden}", fmt.Sprint(p.hidden), "{iters}", fmt.Sprint(p.iters),
		"{batch}", fmt.Sprint(p.batch), "{steps}", fmt.Sprint(p.steps), "{cd}", fmt.Sprint(p.cd),
		"{budget}", fmt.Sprint(tuning*p.steps), "{rate}", fmt.Sprint(p.rate),
		"{repeats}", fmt.Sprint(p.repeats), "{scored}", fmt.Sprint(len(scored(set))),
		"{chains}", fmt.Sprint(p.chains), "{rungs}", fmt.Sprint(p.rungs),
		"{table}", lab.Table(rows...)).Replace(about)
	return &lab.Page{Text: text, Charts: map[string]string{
		"samples.svg": images.Pictures(set.Side, set.Levels, strips)}}
}
