package report

import (
	"fmt"
	"html/template"
	"math"

	"infill/report/draw"
)

// traceChart draws one line per trace. pick returns its values and, or nil, their
// errors. colour maps a sampler to its row, so that all charts agree. With percent
// the y axis runs from 0 to 100.
func traceChart(traces []Trace, colour map[string]int, pick func(Trace) (ys, es []float64),
	yLabel string, percent bool) template.HTML {
	lo, hi := math.Inf(1), math.Inf(-1)
	right := 0.0
	evaluations := true
	any := false
	for _, t := range traces {
		ys, es := pick(t)
		for k, y := range ys {
			if !finite(y) {
				continue
			}
			e := 0.0
			if es != nil && finite(es[k]) {
				e = es[k]
			}
			lo, hi = math.Min(lo, y-e), math.Max(hi, y+e)
			right = math.Max(right, t.X[k])
			any = true
		}
		evaluations = evaluations && t.Evaluations
	}
	if !any {
		return ""
	}
	if percent {
		lo, hi = 0, 100
	}
	xLabel := "step"
	if evaluations {
		xLabel = "model evaluations per chain"
	}
	c := newChart(half, labelSpace, draw.Nice(0, right, 5, xLabel), draw.Nice(lo, hi, 5, yLabel))
	c.frame()
	var tags []tag
	for _, t := range traces {
		ys, es := pick(t)
		if es != nil {
			c.band(colour[t.Sampler], t.X, ys, es)
		}
	}
	for _, t := range traces {
		ys, _ := pick(t)
		last := -1
		for k := range ys {
			if finite(ys[k]) {
				last = k
			}
		}
		if last < 0 {
			continue
		}
		i := colour[t.Sampler]
		c.line(i, t.X, ys)
		tags = append(tags, tag{i, c.x.To - 4, c.y.At(ys[last]), t.Sampler})
	}
	c.tags(tags)
	return c.svg(yLabel + " against " + xLabel)
}

// profile draws unique n-grams against the set itself over the orders, for a page
// and for a narrow screen.
func profile(rows []Row, orders []int) template.HTML {
	if len(orders) < 2 {
		return ""
	}
	return profileOf(rows, orders, broad) + profileOf(rows, orders, slim)
}

func profileOf(rows []Row, orders []int, s size) template.HTML {
	value := func(r Row, n int) (float64, bool) {
		m, ok := r.Get(fmt.Sprintf("unique.self.%d", n))
		return m.Value, ok && m.OK()
	}
	var all []float64
	for _, r := range rows {
		for _, n := range orders {
			if v, ok := value(r, n); ok {
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	lo, hi := padded(all)
	x := draw.Axis{Lo: float64(orders[0]), Hi: float64(orders[len(orders)-1]),
		Label: "n-gram order n"}
	y := draw.Nice(lo, math.Min(hi, 100), 5, "n-grams that occur once (%)")
	c := newChart(s, labelSpace, x, y)
	for _, n := range orders {
		c.x.Ticks = append(c.x.Ticks, float64(n))
	}
	c.frame()
	var tags []tag
	for i, r := range rows {
		var xs, ys []float64
		for _, n := range orders {
			if v, ok := value(r, n); ok {
				xs, ys = append(xs, float64(n)), append(ys, v)
			}
		}
		if len(ys) == 0 {
			continue
		}
		c.line(i, xs, ys)
		for k := range ys {
			c.marker(i, c.x.At(xs[k]), c.y.At(ys[k]), 4)
		}
		tags = append(tags, tag{i, c.x.To, c.y.At(ys[len(ys)-1]), r.Name})
	}
	c.tags(tags)
	return c.svg("n-grams that occur once, by order")
}
