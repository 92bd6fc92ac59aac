// Package facility looks for cheap plans of a facility location problem with random demands, by
// sampling at falling temperatures.
package facility

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/lab/experiments/lab"
	"infill/lab/internal/plot"
	"infill/report/draw"
)

// Experiment is the one of SGDLD's section 6.3.
var Experiment = lab.Experiment{
	Name:   "facility",
	Title:  "Facility location with random demands",
	Source: "SGDLD (anonymous authors, under review), section 6.3, table 1, appendix C.3",
	Takes:  "an hour of one core",
	Run:    run,
}

//go:embed page.txt
var about string

// highsJSON is what highs.py printed, a line for each run.
//
//go:embed highs.json
var highsJSON string

// A solution is a line of highs.json.
type solution struct {
	Sites     int     `json:"sites"`
	Customers int     `json:"customers"`
	Instance  int     `json:"instance"`
	Lots      int     `json:"lots"`
	What      string  `json:"what"` // exact, or the number of demands that stood for all
	Seconds   float64 `json:"seconds"`
	Proved    bool    `json:"proved"` // within HiGHS's gap of 0.01 %
	Objective float64 `json:"objective"`
	Bound     float64 `json:"bound"` // no plan has a lower objective
	Plan      []int32 `json:"plan"`
}

// solutions reads highs.json.
func solutions() ([]solution, error) {
	var all []solution
	for line := range strings.Lines(highsJSON) {
		var s solution
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return nil, fmt.Errorf("highs.json, line %d: %w", len(all)+1, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// A size of problems, with the costs that the paper reports for it.
type size struct {
	settings
	paper map[string]reported
}

// reported is the mean cost of 5 instances in the paper, the standard deviation, and the time.
type reported struct{ mean, deviation, seconds float64 }

func sizes(quick bool) []size {
	if quick {
		return []size{{settings: settings{sites: 15, customers: 30, instances: 1, chains: 5, steps: 1500,
			tau: 200, minJump: .3, judges: 1000}}}
	}
	paper := func(costs ...reported) map[string]reported {
		m := map[string]reported{}
		for i, name := range []string{"Gurobi (8)", "Gurobi (1024)", "SLS", "SGDLD-noC", "SGDLD"} {
			m[name] = costs[i]
		}
		return m
	}
	three := []size{
		{settings{sites: 15, customers: 30, chains: 100, tau: 200}, paper(reported{10418, 499, 2},
			reported{10152, 494, 103}, reported{9981, 480, 16}, reported{9870, 487, 15},
			reported{9792, 515, 15})},
		{settings{sites: 40, customers: 120, chains: 100, tau: 500}, paper(reported{29390, 3018, 256},
			reported{26137, 2428, 3342}, reported{26514, 2283, 25}, reported{25773, 2576, 25},
			reported{25398, 2366, 26})},
		{settings{sites: 100, customers: 400, chains: 1, tau: 1000}, paper(reported{73342, 3436, 3502},
			reported{68924, 4727, 3621}, reported{73849, 3036, 91}, reported{67532, 2983, 96},
			reported{66395, 3181, 98})},
	}
	var all []size
	for _, s := range three {
		s.instances, s.steps, s.minJump, s.judges = 5, 10000, .3, 10000
		for _, lots := range []int{0, 4} {
			s.lots = lots
			all = append(all, s)
		}
	}
	return all
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	known, err := solutions()
	if err != nil {
		return nil, err
	}
	var tables []string
	chart := plot.Plot{Title: "Mean cost of the chains"}
	for _, s := range sizes(o.Quick) {
		c, times, panel, err := s.compare(ctx, known, o)
		if err != nil {
			return nil, err
		}
		tables = append(tables, s.table(c, times))
		chart.Panels = append(chart.Panels, panel)
	}
	text := strings.ReplaceAll(about, "{tables}", strings.Join(tables, "\n\n"))
	return &lab.Page{Text: text, Charts: map[string]string{"cost.svg": chart.SVG()}}, nil
}

// values has a value of each instance by the name of a row, and NaN where there is none.
type values map[string][]float64

// set notes the value of instance n.
func (c values) set(row string, instances, n int, v float64) {
	for len(c[row]) < instances {
		c[row] = append(c[row], math.NaN())
	}
	c[row][n] = v
}

// of are the values of a row that are there.
func (c values) of(row string) []float64 {
	return slices.DeleteFunc(slices.Clone(c[row]), math.IsNaN)
}

// compare runs all methods on all instances of a size. It returns costs and seconds. The panel has
// the mean over instances.
func (s size) compare(ctx context.Context, known []solution, o lab.Options,
) (c, times values, panel plot.Panel, err error) {
	c, times = values{}, values{}
	panel = plot.Panel{Title: s.name(), X: "step", Y: "cost, thousands"}
	for m := range methods {
		panel.Lines = append(panel.Lines, draw.Line{Name: methodNames[m], Series: int(m)})
	}
	for n := range s.instances {
		in := Draw(s.sites, s.customers, n)
		in.Lots = s.lots
		for _, h := range known {
			if h.Sites == s.sites && h.Customers == s.customers && h.Lots == s.lots && h.Instance == n {
				c.set(h.row(), s.instances, n, in.Expected(h.Plan))
				times.set(h.row(), s.instances, n, h.Seconds)
				if h.What == "exact" {
					c.set(bound, s.instances, n, h.Bound)
				}
			}
		}
		for m := range methods {
			f, err := lab.Kept(o, s.part(m, n), fmt.Sprintf("%+v", s.settings), func() (*found, error) {
				return s.search(ctx, in, m, o)
			})
			if err != nil {
				return nil, nil, panel, err
			}
			last := f.Path[len(f.Path)-1]
			c.set(methodNames[m], s.instances, n, f.Cost)
			times.set(methodNames[m], s.instances, n, f.Seconds)
			c.set(chains(m), s.instances, n, last)
			add(&panel.Lines[m], f.Path, s.instances)
			o.Logf("facility: %s, instance %d, %s: best %.0f, chains %.0f, %.1f s", s.name(), n,
				methodNames[m], f.Cost, last, f.Seconds)
		}
	}
	return c, times, panel, nil
}

// add adds the path of one of several instances to their mean, in thousands. The first tenth, which
// is far above all else, is left out.
func add(l *draw.Line, path []float64, instances int) {
	first := len(path) / 10
	for i, v := range path[first:] {
		if len(l.X) == i {
			l.X, l.Y = append(l.X, float64((first+i)*pathEvery)), append(l.Y, 0)
		}
		l.Y[i] += v / 1000 / float64(instances)
	}
}

// name says what problems these are.
func (s size) name() string {
	demands := "Poisson demands"
	if s.lots > 0 {
		demands = fmt.Sprintf("demands in lots of %d", s.lots)
	}
	return fmt.Sprintf("%d × %d, %s", s.sites, s.customers, demands)
}

// part names what a method gives on instance n.
func (s size) part(m method, n int) string {
	return fmt.Sprintf("facility-%d-%d-lots%d-%s-%d", s.sites, s.customers, s.lots, methodNames[m], n)
}

const bound = "no plan is below (HiGHS)"

// row is the row of a solution in the table.
func (h solution) row() string {
	if h.What == "exact" {
		return "HiGHS, exact mean"
	}
	return "HiGHS (" + h.What + ")"
}

// chains is the row of the last states of all chains of a method.
func chains(m method) string { return methodNames[m] + ofChains }

const ofChains = ", mean of the chains"

// table has the mean costs over instances with their deviations, as the paper has, the mean of
// the ratios to SGDLD's, and mean seconds. The mean of several chains is compared with that of
// SGDLD's chains.
func (s size) table(c, times values) string {
	rows := [][]string{{"", "cost", "above SGDLD, %", "seconds", "paper's cost",
		"paper's, above SGDLD, %", "paper's seconds"}}
	names := []string{bound, "HiGHS, exact mean", "HiGHS (8)", "HiGHS (64)"}
	for m := methods - 1; m >= 0; m-- {
		names = append(names, methodNames[m])
		if s.chains > 1 {
			names = append(names, chains(m))
		}
	}
	names = append(names, "Gurobi (8)", "Gurobi (1024)")
	for _, name := range names {
		cost, above := c.of(name), values{}
		for i, v := range c[name] {
			best := c[methodNames[withCache]][i]
			if strings.HasSuffix(name, ofChains) {
				best = c[chains(withCache)][i]
			}
			above.set(name, s.instances, i, 100*(v/best-1))
		}
		paper := s.paper[name]
		if len(cost) == 0 && paper.mean == 0 {
			continue
		}
		row := []string{name, "–", "–", "–", "–", "–", "–"}
		if len(cost) > 0 {
			mean := lab.Over(cost)
			row[1], row[2] = lab.Num(mean.Mean, 0), lab.Over(above.of(name)).Format(2)
			if len(cost) > 1 {
				row[1] += " ± " + lab.Num(mean.SE*math.Sqrt(float64(len(cost))), 0)
			}
		}
		if len(cost) > 0 && len(cost) < s.instances {
			row[0] += fmt.Sprintf(", %d of %d instances", len(cost), s.instances)
		}
		if t := times.of(name); len(t) > 0 {
			row[3] = lab.Num(lab.Over(t).Mean, 1)
		}
		if paper.mean > 0 {
			row[4] = fmt.Sprintf("%.0f ± %.0f", paper.mean, paper.deviation)
			row[5] = lab.Num(100*(paper.mean/s.paper["SGDLD"].mean-1), 2)
			row[6] = lab.Num(paper.seconds, 0)
		}
		rows = append(rows, row)
	}
	return fmt.Sprintf("%s, chains: %d, steps: %d, τ₀ = %g, instances: %d\n\n%s", s.name(), s.chains,
		s.steps, s.tau, s.instances, lab.Table(rows...))
}
