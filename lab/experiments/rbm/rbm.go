// Package rbm samples restricted Boltzmann machines that were trained on images, and measures how
// fast the samplers get there.
package rbm

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"infill/lab/experiments/boltzmann"
	"infill/lab/experiments/images"
	"infill/lab/experiments/lab"
	"infill/lab/internal/fanout"
	"infill/lab/internal/plot"
	"infill/lab/papers"
	"infill/report/draw"
	"infill/samplers"
)

// Experiment has the figures on restricted Boltzmann machines of three papers.
var Experiment = lab.Experiment{
	Name:  "rbm",
	Title: "Sampling restricted Boltzmann machines",
	Source: "DLP (Zhang and others, ICML 2022), figures 4 and 8. ACS (Pynadath and others, NeurIPS " +
		"2024), figures 4, 6, 8 and 9. DLMC (Sun and others, AISTATS 2023), figures 9 and 10",
	Takes: "an hour of one core; needs Fashion-MNIST",
	Run:   run,
}

//go:embed page.txt
var about string

// plans has the sizes of the full page or of the quick case.
func plans(quick bool) plan {
	if quick {
		return plan{hidden: 12, fit: fit{100, 3}, rate: 0.005, chains: 30, steps: 120, burnin: 40,
			every: 20, gold: 200, settled: 40, aisChains: 30, rungs: 100, sizes: []size{{2, 6}, {4, 6}},
			few: fit{100, 3}, essChains: 4, essBurnin: 60, essSteps: 60}
	}
	return plan{hidden: 500, fit: fit{600, 10}, rate: 0.001, chains: 30, steps: 5000,
		burnin: 500, every: 40, gold: 500, settled: 5000, aisChains: 16, rungs: 500,
		sizes: []size{{2, 25}, {2, 200}, {4, 100}, {8, 100}}, few: fit{200, 2},
		essChains: 12, essBurnin: 400, essSteps: 1000}
}

// imagesOf are the first images with few levels.
func imagesOf(o lab.Options, levels int) (*images.Set, error) {
	if o.Quick {
		return images.Digits(levels), nil
	}
	return images.Fashion(o, 28, levels, 10000, 1000)
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	p := plans(o.Quick)
	two, err := imagesOf(o, 2)
	if err != nil {
		return nil, err
	}
	machine, err := p.train(ctx, two, p.hidden, p.fit, o.Seed)
	if err != nil {
		return nil, err
	}
	z, err := boltzmann.LogZ(ctx, machine, two.Train, p.aisChains, p.rungs, o.Seed)
	if err != nil {
		return nil, err
	}
	likelihood, err := boltzmann.LogLikelihood(ctx, machine, two.Test, z.LogZ)
	if err != nil {
		return nil, err
	}
	o.Logf("rbm: trained to a log-likelihood of %.2f", likelihood)
	gold, err := p.reference(ctx, o, machine, two, p.gold, "gold")
	if err != nil {
		return nil, err
	}
	stepless, err := p.stepless(ctx, machine, two, p.burnin, o.Seed)
	if err != nil {
		return nil, err
	}
	m, err := p.measure(ctx, o, machine, two, gold)
	if err != nil {
		return nil, err
	}
	e, err := p.efficiency(ctx, o, func(levels int) (*images.Set, error) {
		return imagesOf(o, levels)
	})
	if err != nil {
		return nil, err
	}
	page := &lab.Page{Charts: map[string]string{"steps.svg": m.chart("step",
		func(c *curve) []float64 { return c.Steps }),
		"seconds.svg": m.chart(fmt.Sprintf("seconds of one core for %d chains", p.chains),
			func(c *curve) []float64 { return c.Seconds }),
		"random.svg": m.pictures(two, gold, 0), "samples.svg": m.pictures(two, gold, 1)}}
	page.Text = strings.NewReplacer(
		"{set}", two.Name, "{side}", fmt.Sprint(two.Side), "{images}", fmt.Sprint(len(two.Train)),
		"{hidden}", fmt.Sprint(p.hidden), "{iters}", fmt.Sprint(p.fit.iters),
		"{k}", fmt.Sprint(p.fit.sweeps), "{batch}", fmt.Sprint(batch), "{rate}", fmt.Sprint(p.rate),
		"{chains}", fmt.Sprint(p.chains), "{steps}", fmt.Sprint(p.steps),
		"{burnin}", fmt.Sprint(p.burnin), "{gold}", fmt.Sprint(p.gold),
		"{settled}", fmt.Sprint(p.settled), "{aischains}", fmt.Sprint(p.aisChains),
		"{rungs}", fmt.Sprint(p.rungs), "{fit}", lab.Num(likelihood, 2),
		"{logz}", lab.Spread{Mean: z.LogZ, SE: z.Error}.Format(2),
		"{floor}", lab.Spread{Mean: m.floor, SE: m.spread}.Format(5), "{mmd}", m.table(),
		"{stepless}", fmt.Sprintf("%.2g", 100*stepless),
		"{near}", lab.Num(m.near(), 1), "{times}", p.times(m),
		"{essimages}", fmt.Sprint(e.images), "{essiters}", fmt.Sprint(p.few.iters),
		"{essk}", fmt.Sprint(p.few.sweeps), "{esschains}", fmt.Sprint(p.essChains),
		"{essburnin}", fmt.Sprint(p.essBurnin), "{esssteps}", fmt.Sprint(p.essSteps),
		"{evals}", e.table(func(c perCost) string {
			return lab.Spread{Mean: c.Evals, SE: c.Evals * c.Err}.Format(2)
		}),
		"{calls}", e.table(func(c perCost) string { return lab.Num(c.Calls, 2) }),
		"{seconds}", e.table(func(c perCost) string { return lab.Num(c.Second, 1) }),
		"{quotients}", e.quotients()).Replace(about)
	return page, nil
}

// startNames are where chains begin.
var startNames = []string{"random pixels", "the likeliest image"}

// fresh is how many samples of block Gibbs say what lies near it.
const fresh = 5

// measured is the distances of all samplers.
type measured struct {
	titles        []string
	curves        [2][]*curve // by start and sampler; the last is block Gibbs
	floor, spread float64     // MMD of fresh samples of block Gibbs: mean and its standard error
}

// measure runs all samplers from both starts.
func (p plan) measure(ctx context.Context, o lab.Options, r *papers.RBM, set *images.Set,
	gold [][]int32) (*measured, error) {
	mode, err := likeliest(ctx, r, set.Train)
	if err != nil {
		return nil, err
	}
	starts := [2][][]int32{images.Random(samplers.NewStream(o.Seed, "starts", 0), p.chains, r.D, r.K),
		make([][]int32, p.chains)}
	for k := range starts[1] {
		starts[1][k] = mode
	}
	ready := images.NewSample(gold, r.K)
	all := append(samplersOf(), named{"block Gibbs", papers.RBMGibbs{}})
	m := &measured{}
	for _, s := range all {
		m.titles = append(m.titles, s.title)
	}
	n := len(m.titles)
	m.curves = [2][]*curve{make([]*curve, n), make([]*curve, n)}
	err = fanout.Each(o.Threads, 2*n, func(i int) error {
		start, k := i/n, i%n
		id := fmt.Sprintf("from %s", startNames[start])
		c, err := lab.Kept(o, fmt.Sprintf("rbm-%s-%d", fileName(all[k].title), start),
			fmt.Sprintf("%+v, %s, %+v", p, set.Name, all[k].s), func() (*curve, error) {
				return p.follow(ctx, o, all[k].s, r, starts[start], ready, id)
			})
		if m.curves[start][k] = c; err == nil {
			o.Logf("rbm: %s %s, log MMD %s", m.titles[k], id, logOf(c.end()))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var floor []float64
	for k := range fresh {
		x, err := p.reference(ctx, o, r, set, p.chains, fmt.Sprintf("fresh %d", k))
		if err != nil {
			return nil, err
		}
		floor = append(floor, images.MMD(images.NewSample(x, r.K), ready))
	}
	f := lab.Over(floor)
	m.floor, m.spread = f.Mean, f.SE
	return m, nil
}

// table has the distances at the end, and how the chains moved.
func (m *measured) table() string {
	rows := [][]string{{"sampler", "log MMD from random pixels", "log MMD from the likeliest image",
		"mean probability", "pixels a step"}}
	for k, title := range m.titles {
		row := []string{title}
		for start := range startNames {
			row = append(row, logOf(m.curves[start][k].end()))
		}
		c := m.curves[0][k]
		rows = append(rows, append(row, lab.Num(c.Accepted, 2), lab.Num(c.Jump, 2)))
	}
	return lab.Table(rows...)
}

// logOf is the logarithm of an estimate of MMD, which may be 0 or less.
func logOf(v float64) string {
	if v <= 0 {
		return "below 0"
	}
	return lab.Num(math.Log(v), 2)
}

// near is the log MMD whose time the page has: the lowest half that block Gibbs, from random
// pixels, ends below by a tenth.
func (m *measured) near() float64 {
	end := math.Max(m.curves[0][len(m.titles)-1].end(), m.spread)
	return math.Ceil(2*(math.Log(end)+0.1)) / 2
}

// times has the time of computing of a step, and until log MMD is below near.
func (p plan) times(m *measured) string {
	near := m.near()
	rows := [][]string{{"sampler", fmt.Sprintf("ms for a step of %d chains", p.chains),
		fmt.Sprintf("seconds to a log MMD of %s from random pixels", lab.Num(near, 1)),
		"from the likeliest image"}}
	for k, title := range m.titles {
		steps, spent := 0.0, 0.0
		row := []string{title, ""}
		for start := range startNames {
			c := m.curves[start][k]
			steps, spent = steps+c.Steps[len(c.Steps)-1], spent+c.Seconds[len(c.Seconds)-1]
			row = append(row, lab.Num(c.until(near), 2))
		}
		row[1] = lab.Num(1000*spent/steps, 2)
		rows = append(rows, row)
	}
	return lab.Table(rows...)
}

// chart has log MMD from both starts by what at gives of a curve.
func (m *measured) chart(x string, at func(*curve) []float64) string {
	chart := plot.Plot{Title: "Distance from block Gibbs"}
	for i, start := range startNames {
		p := plot.Panel{Title: "From " + start, X: x, Y: "log MMD to block Gibbs"}
		for k, title := range m.titles {
			c := m.curves[i][k]
			p.Lines = append(p.Lines, draw.Line{Name: title, Series: k, X: at(c), Y: c.logs()})
		}
		chart.Panels = append(chart.Panels, p)
	}
	return chart.SVG()
}

// pictures shows data, block Gibbs from data, and the chains from a start.
func (m *measured) pictures(set *images.Set, gold [][]int32, start int) string {
	const n = 8
	strips := []images.Strip{{Title: "images", X: set.Train[:n]},
		{Title: "block Gibbs, data", X: gold[:n]}}
	for k, title := range m.titles {
		strips = append(strips, images.Strip{Title: title, X: m.curves[start][k].Last[:n]})
	}
	return images.Pictures(set.Side, set.Levels, strips)
}
