// Package facility looks for cheap plans of a facility location problem with random demands, by
// sampling at falling temperatures.
package facility

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"infill/experiments/lab"
	"infill/internal/drawing"
)

// Experiment is the one of SGDLD's section 6.3.
var Experiment = lab.Experiment{
	Name:   "facility",
	Title:  "Facility location with random demands",
	Source: "SGDLD (anonymous authors, under review), section 6.3, table 1, appendix C.3",
	Takes:  "three minutes of one idle core",
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

// reported is the mean cost of 5 instances in the paper, and the standard deviation.
type reported struct{ mean, deviation float64 }

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
	small := size{settings{sites: 15, customers: 30, instances: 5, chains: 20, steps: 10000, tau: 200,
		minJump: .3, judges: 10000}, paper(reported{10418, 499}, reported{10152, 494},
		reported{9981, 480}, reported{9870, 487}, reported{9792, 515})}
	inLots := small
	inLots.lots = 4
	return []size{
		small,
		inLots,
		{settings{sites: 40, customers: 120, instances: 2, chains: 4, steps: 10000, tau: 500,
			minJump: .3, judges: 10000}, paper(reported{29390, 3018}, reported{26137, 2428},
			reported{26514, 2283}, reported{25773, 2576}, reported{25398, 2366})},
		{settings{sites: 100, customers: 400, instances: 1, chains: 1, steps: 10000, tau: 1000,
			minJump: .3, judges: 10000}, paper(reported{73342, 3436}, reported{68924, 4727},
			reported{73849, 3036}, reported{67532, 2983}, reported{66395, 3181})},
	}
}

func run(ctx context.Context, o lab.Options) (*lab.Page, error) {
	known, err := solutions()
	if err != nil {
		return nil, err
	}
	var tables []string
	var chart string
	for _, s := range sizes(o.Quick) {
		costs := map[string][]float64{}
		for n := range s.instances {
			in := Draw(s.sites, s.customers, n)
			in.Lots = s.lots
			for _, h := range known {
				if h.Sites == s.sites && h.Customers == s.customers && h.Lots == s.lots &&
					h.Instance == n {
					costs[h.row()] = append(costs[h.row()], in.Expected(h.Plan))
					if h.What == "exact" {
						costs[bound] = append(costs[bound], h.Bound)
					}
				}
			}
			var lines []drawing.Line
			for m := range methods {
				begin := time.Now()
				f, err := s.search(ctx, in, m, o)
				if err != nil {
					return nil, err
				}
				costs[methodNames[m]] = append(costs[methodNames[m]], f.cost)
				last := f.path[len(f.path)-1]
				costs[chains(m)] = append(costs[chains(m)], last)
				lines = append(lines, line(m, f.path))
				o.Logf("facility: %d×%d, instance %d, %s: best %.0f, chains %.0f, %v", s.sites, s.customers, n,
					methodNames[m], f.cost, last, time.Since(begin).Round(100*time.Millisecond))
			}
			if chart == "" {
				chart = drawing.Plot{Title: fmt.Sprintf("%d×%d, instance %d", s.sites, s.customers, n),
					Panels: []drawing.Panel{{X: "step", Y: "mean cost of the chains", LogY: true,
						Lines: lines}}}.SVG()
			}
		}
		tables = append(tables, s.table(costs))
	}
	text := strings.ReplaceAll(about, "{tables}", strings.Join(tables, "\n\n"))
	return &lab.Page{Text: text, Charts: map[string]string{"cost.svg": chart}}, nil
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
func chains(m method) string { return methodNames[m] + ", mean of the chains" }

// line leaves out the start, which is far above all else.
func line(m method, path []float64) drawing.Line {
	l := drawing.Line{Name: methodNames[m], Series: int(m)}
	for i, v := range path[1:] {
		l.X, l.Y = append(l.X, float64((i+1)*pathEvery)), append(l.Y, v)
	}
	return l
}

// table has the mean costs over instances, and the mean of the ratios to SGDLD's.
func (s size) table(costs map[string][]float64) string {
	rows := [][]string{{"", "cost", "above SGDLD, %", "paper's cost", "paper's, above SGDLD, %"}}
	names := []string{bound, "HiGHS, exact mean", "HiGHS (8)", "HiGHS (64)"}
	for m := methods - 1; m >= 0; m-- {
		names = append(names, methodNames[m], chains(m))
	}
	names = append(names, "Gurobi (8)", "Gurobi (1024)")
	ours := costs["SGDLD"]
	for _, name := range names {
		c, paper := costs[name], s.paper[name]
		if len(c) == 0 && paper.mean == 0 {
			continue
		}
		row := []string{name, "–", "–", "–", "–"}
		if len(c) == len(ours) {
			var above []float64
			for i := range c {
				above = append(above, 100*(c[i]/ours[i]-1))
			}
			row[1], row[2] = lab.Num(lab.Over(c).Mean, 0), lab.Over(above).Format(2)
		}
		if paper.mean > 0 {
			row[3] = fmt.Sprintf("%.0f ± %.0f", paper.mean, paper.deviation)
			row[4] = lab.Num(100*(paper.mean/s.paper["SGDLD"].mean-1), 2)
		}
		rows = append(rows, row)
	}
	demands := "Poisson demands"
	if s.lots > 0 {
		demands = fmt.Sprintf("demands in lots of %d", s.lots)
	}
	return fmt.Sprintf("%d × %d, %s, chains: %d, steps: %d, τ₀ = %g, instances: %d\n\n%s", s.sites,
		s.customers, demands, s.chains, s.steps, s.tau, s.instances, lab.Table(rows...))
}
