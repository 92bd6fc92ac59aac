package torch

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/infill"
)

// A realTarget is one of the project's own for a real model: a figure of a sampler against another
// program, in pairs.
type realTarget struct {
	what   string
	than   string // prefix of the other program
	least  float64
	values func(sampler, other []*realRun) []float64
	write  func(v float64) string
}

// realTargets are the targets for runs on a number of threads. Seconds of the clock come with
// several only: what else the machine did has less part in them where a program has all processors.
func realTargets(threads int) []realTarget {
	faster := func(s, other []*realRun) []float64 { return slower(other, s) }
	draws := func(of func(r *realRun) float64) func(s, o []*realRun) []float64 {
		return func(s, other []*realRun) []float64 {
			return gains(s, other, func(a, b *realRun) float64 {
				if of(a) == 0 { // after a part of the steps effective draws are not known
					return math.NaN()
				}
				return a.perMinute(of(a)) / b.perMinute(of(b))
			})
		}
	}
	byClock := func(s, other []*realRun) []float64 { return slowerByClock(other, s) }
	out := []realTarget{
		{"times as fast as straightforward PyTorch in float32", "torch", 20, faster, short},
		{"times as fast as it under bfloat16 autocast", "torch:bfloat16", 5, faster, short},
		{"times as fast as infill before", realBefore, 8, faster, short},
		{"mean U of the five best, less that before", realBefore, 0,
			func(s, other []*realRun) []float64 {
				return gains(s, other, func(a, b *realRun) float64 { return a.Last.Best - b.Last.Best })
			}, func(v float64) string { return fmt.Sprintf("%+.2f", v) }},
		{"distinct fillings, less those before", realBefore, 0,
			func(s, other []*realRun) []float64 {
				return gains(s, other, func(a, b *realRun) float64 {
					return float64(a.Last.Distinct - b.Last.Distinct)
				})
			}, func(v float64) string { return fmt.Sprintf("%+.1f", v) }},
		{"effective draws of U a CPU second, times those before", realBefore, 8,
			draws(func(r *realRun) float64 { return r.EnergyESS }), short},
		{"effective draws of the tokens, times those before", realBefore, 8,
			draws(func(r *realRun) float64 { return r.TokenESS }), short},
	}
	if threads > 1 {
		out = slices.Insert(out, 3,
			realTarget{"the same, seconds of the clock", realBefore, 8, byClock, short})
	}
	return out
}

// targets writes what was aimed at beside what the samplers without a backward pass reach.
func (t *realTable) targets(p printer) {
	rows, one := realDefault, equalProgram
	candidates := [][]*realRun{
		t.after(rows, infill.DefaultSteps), t.after(one, infill.DefaultSteps),
		t.after(one, infill.DefaultSteps/2), t.of(rows), t.of(one),
	}
	var lines []string
	for _, g := range realTargets(t.runs[0].Threads) {
		other, ok := t.like(g.than)
		if !ok {
			continue
		}
		cells := []string{g.what, fmt.Sprintf("≥ %g", g.least)}
		met := false
		for _, s := range candidates {
			v := g.values(s, t.of(other))
			cell := unknown
			if len(v) > 0 {
				cell = fmt.Sprintf("%s (%d)", g.write(median(v)), len(v))
				met = met || median(v) >= g.least
			}
			cells = append(cells, cell)
		}
		yes := "no"
		if met {
			yes = "yes"
		}
		lines = append(lines, "| "+strings.Join(append(cells, yes), " | ")+" |")
	}
	if len(lines) == 0 {
		return
	}
	p("Medians over sentences, whose number is in parentheses, and whether one of the settings " +
		"reaches the target:\n")
	p("| | target | %[3]s, %[1]d steps, the default | %[4]s, %[1]d steps | "+
		"%[4]s, %[2]d steps | %[3]s | %[4]s | met |", infill.DefaultSteps, infill.DefaultSteps/2,
		realName(rows), realName(one))
	p("|---|--:|--:|--:|--:|--:|--:|---|")
	for _, l := range lines {
		p("%s", l)
	}
	p("")
}

// like is the program of the table that is a name, or the name with a part of the work.
func (t *realTable) like(name string) (string, bool) {
	for _, p := range t.programs {
		rest, ok := strings.CutPrefix(p, name)
		if ok && (rest == "" || strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, ":bfloat16")) {
			return p, true
		}
	}
	return "", false
}

// paired writes a ratio of pairs: the median and the range of several.
func paired(v []float64) string {
	switch len(v) {
	case 0:
		return unknown
	case 1:
		return short(v[0])
	}
	r := ratioOf(v)
	return fmt.Sprintf("%s (%s–%s)", short(r.Median), short(r.Low), short(r.High))
}
