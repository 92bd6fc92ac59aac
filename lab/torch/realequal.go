package torch

import (
	"fmt"
	"math"
	"strings"
)

// The sampler that is held against the default at equal time.
const equalProgram = "gibbs-mh"

// equal writes how far gibbs-mh is after the time that the default takes for some of its steps.
func (t *realTable) equal(p printer) {
	others := t.of(equalProgram)
	var lines []string
	for _, step := range pathShown {
		part := t.after(realDefault, step)
		cells := []string{fmt.Sprint(step)}
		for _, of := range []func(q *RealStates) float64{
			func(q *RealStates) float64 { return q.Last.Mean },
			func(q *RealStates) float64 { return q.Last.Best },
			func(q *RealStates) float64 { return q.Visited.Best },
		} {
			v := gains(others, part, func(a, b *realRun) float64 {
				return a.within(b.CPU, of) - of(b.RealStates)
			})
			if len(v) < 2 {
				return
			}
			if len(cells) == 1 {
				cells = append(cells, fmt.Sprint(len(v)))
			}
			mean, half := interval(v)
			cells = append(cells, fmt.Sprintf("%+.2f ± %.2f", mean, half))
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	p("%s at the time that %s takes for some of its steps, less what that has then, with 95 %% "+
		"intervals over the sentences. All of its %d steps count where they take less time:\n",
		realName(equalProgram), realName(realDefault), others[0].Steps)
	p("| steps of %s | sentences | mean U | five best | five best visited |", realName(realDefault))
	p("|--:|--:|--:|--:|--:|")
	for _, l := range lines {
		p("%s", l)
	}
	draws := func(of func(r *realRun) float64) string {
		return paired(gains(others, t.of(realDefault), func(a, b *realRun) float64 {
			return a.perMinute(of(a)) / b.perMinute(of(b))
		}))
	}
	p("\nEffective samples a second of %s, times those of %s: %s of U, and %s of the tokens.\n",
		realName(equalProgram), realName(realDefault),
		draws(func(r *realRun) float64 { return r.EnergyESS }),
		draws(func(r *realRun) float64 { return r.TokenESS }))
}

// within is what a run had after some seconds of the processor: between two points of its path in
// proportion to the time, and at its end after it. NaN without a path.
func (r *realRun) within(seconds float64, of func(q *RealStates) float64) float64 {
	if len(r.Path) == 0 {
		return math.NaN()
	}
	value := func(p *realPoint) float64 { return of(&RealStates{Last: p.Last, Visited: p.Visited}) }
	before := &r.Path[0]
	for i := range r.Path {
		next := &r.Path[i]
		if next.CPU >= seconds {
			if i == 0 {
				return value(next)
			}
			w := (seconds - before.CPU) / (next.CPU - before.CPU)
			return value(before)*(1-w) + value(next)*w
		}
		before = next
	}
	return value(before)
}

// interval is the mean of two numbers or more, and half of its 95 % interval if they are normal.
func interval(v []float64) (mean, half float64) {
	mean = average(v)
	sum := 0.0
	for _, x := range v {
		sum += (x - mean) * (x - mean)
	}
	n := float64(len(v))
	return mean, 1.96 * math.Sqrt(sum/(n-1)/n)
}
