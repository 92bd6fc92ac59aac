package report

import (
	"fmt"
	"html/template"
	"math"
)

// planePoint is a row's place in the diversity–quality plane.
type planePoint struct {
	name string
	x, y Metric
}

// plane draws quality against diversity, one point per row with its intervals.
// gold is a reference line, nil for none. It returns "" for fewer than one point.
func plane(points []planePoint, gold *Metric, xLabel string) template.HTML {
	var usable []planePoint
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	cover := func(k int, v ...float64) {
		for _, x := range v {
			if finite(x) {
				lo[k], hi[k] = math.Min(lo[k], x), math.Max(hi[k], x)
			}
		}
	}
	for _, p := range points {
		if p.x.OK() && p.y.OK() {
			usable = append(usable, p)
			cover(0, p.x.Value, p.x.Low, p.x.High)
			cover(1, p.y.Value, p.y.Low, p.y.High)
		} else {
			usable = append(usable, planePoint{}) // keep the colour of the others
		}
	}
	if math.IsInf(lo[0], 1) {
		return ""
	}
	if gold != nil && gold.OK() {
		cover(0, gold.Value)
	}
	pad := func(k int) (float64, float64) {
		d := (hi[k] - lo[k]) * 0.06
		if lo[k] >= 0 { // BLEU has no values below 0
			return math.Max(0, lo[k]-d), hi[k] + d
		}
		return lo[k] - d, hi[k] + d
	}
	x0, x1 := pad(0)
	y0, y1 := pad(1)
	c := newChart(720, 430, 30, niceAxis(x0, x1, 7, xLabel), niceAxis(y0, y1, 6, "self-BLEU (axis reversed: more diverse is up)"))
	c.reverse()
	c.frame()
	if gold != nil && gold.OK() {
		at := c.x.at(gold.Value)
		anchor, dx := "start", 6.0
		if at > (c.x.from+c.x.to)/2 {
			anchor, dx = "end", -6
		}
		c.f(`<line class="gold" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, at, c.top, at, c.height-c.bottom)
		c.f(`<text class="note" x="%.1f" y="%.1f" text-anchor="%s">original sentences: %s</text>`, at+dx, c.height-c.bottom-10, anchor, gold.Text())
	}
	c.f(`<text class="note" x="%.1f" y="%.1f" text-anchor="end">better ↗</text>`, c.width-c.right-8, c.top+16)
	var tags []tag
	for i, p := range usable {
		if p.name == "" {
			continue
		}
		x, y := c.x.at(p.x.Value), c.y.at(p.y.Value)
		c.f(`<g><title>%s: %s %s%s, %s %s%s</title>`, svgText(p.name),
			svgText(p.x.Label), p.x.Text(), bracket(p.x), p.y.Label, p.y.Text(), bracket(p.y))
		if p.x.HasInterval() {
			a, b := c.x.at(p.x.Low), c.x.at(p.x.High)
			c.f(`<path class="whisker s%d" d="M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8"/>`, i%seriesClasses, a, y, b, a, y-4, b, y-4)
		}
		if p.y.HasInterval() {
			a, b := c.y.at(p.y.Low), c.y.at(p.y.High)
			c.f(`<path class="whisker s%d" d="M%.1f %.1fV%.1fM%.1f %.1fh8M%.1f %.1fh8"/>`, i%seriesClasses, x, a, b, x-4, a, x-4, b)
		}
		c.marker(i, x, y, 6)
		c.f(`</g>`)
		anchor := "start"
		if x > c.x.to-labelSpace {
			anchor = "end"
		}
		// Above the whisker, so that neither covers the other.
		tags = append(tags, tag{i, x, y - 10, anchor, p.name})
	}
	c.tags(tags, 16)
	return c.svg("Diversity and quality: one point per row with its interval")
}

func bracket(m Metric) string {
	if s := m.Interval(); s != "" {
		return " [" + s + "]"
	}
	return ""
}

// traceChart draws one line per trace. colour maps a sampler to its row, so that
// all charts agree.
func traceChart(traces []Trace, colour map[string]int, pick func(Trace) (ys, es []float64), yLabel string, digits0to100 bool) template.HTML {
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
	if digits0to100 {
		lo, hi = 0, 100
	}
	xLabel := "step"
	if evaluations {
		xLabel = "model evaluations per chain"
	}
	c := newChart(560, 340, labelSpace, niceAxis(0, right, 5, xLabel), niceAxis(lo, hi, 5, yLabel))
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
		tags = append(tags, tag{i, c.x.to - 4, c.y.at(ys[last]), "start", t.Sampler})
	}
	c.tags(tags, 15)
	return c.svg(yLabel + " against " + xLabel)
}

// profile draws unique n-grams against the set itself over the orders.
func profile(rows []Row, orders []int) template.HTML {
	if len(orders) < 2 {
		return ""
	}
	c := newChart(720, 340, labelSpace,
		axis{lo: float64(orders[0]), hi: float64(orders[len(orders)-1]), label: "n-gram order n"},
		niceAxis(0, 100, 5, "n-grams that occur once (%)"))
	for _, n := range orders {
		c.x.ticks = append(c.x.ticks, float64(n))
	}
	c.frame()
	var tags []tag
	for i, r := range rows {
		var xs, ys []float64
		for _, n := range orders {
			if m, ok := r.Get(fmt.Sprintf("unique.self.%d", n)); ok && m.OK() {
				xs, ys = append(xs, float64(n)), append(ys, m.Value)
			}
		}
		if len(ys) == 0 {
			continue
		}
		c.line(i, xs, ys)
		for k := range ys {
			c.marker(i, c.x.at(xs[k]), c.y.at(ys[k]), 4)
		}
		tags = append(tags, tag{i, c.x.at(xs[len(xs)-1]), c.y.at(ys[len(ys)-1]), "start", r.Name})
	}
	c.tags(tags, 15)
	return c.svg("n-grams that occur once, by order")
}
