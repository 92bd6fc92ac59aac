package report

import (
	"html/template"
	"math"

	"infill/report/draw"
)

// planePoint is a row's place in the diversity–quality plane.
type planePoint struct {
	name string
	x, y Metric
}

func (p planePoint) ok() bool { return p.x.OK() && p.y.OK() }

// plane draws quality against diversity, one point per row with its intervals.
// gold is a reference line, nil for none. There are two drawings. The style sheet
// shows the one that fits the screen. It returns "" if no row has a point.
func plane(points []planePoint, gold *Metric, xLabel string) template.HTML {
	drawn := planeOf(points, gold, xLabel, broad)
	if drawn == "" {
		return ""
	}
	return drawn + planeOf(points, gold, xLabel, slim)
}

func planeOf(points []planePoint, gold *Metric, xLabel string, s size) template.HTML {
	var xs, ys []float64
	for _, p := range points {
		if p.ok() {
			xs, ys = append(xs, p.x.Value, p.x.Low, p.x.High), append(ys, p.y.Value, p.y.Low, p.y.High)
		}
	}
	if len(xs) == 0 {
		return ""
	}
	// The axes fit the points. BLEU has no values below 0.
	x0, x1 := padded(xs)
	y0, y1 := padded(ys)
	yLabel := "self-BLEU (reversed: more diverse is up)"
	c := newChart(s, 30, draw.Nice(x0, x1, s.ticks, xLabel), draw.Nice(y0, y1, 6, yLabel))
	c.roomAbove(42)
	c.reverse()
	c.frame()
	c.f(`<text class="note" x="%.1f" y="14" text-anchor="end">better ↗</text>`, c.x.To)
	var o obstacles
	if gold != nil && gold.OK() {
		c.reference(gold.Value, "original sentences: "+gold.Text())
		at := c.x.At(gold.Value)
		o.add(box{at - 2, c.top, at + 2, c.height - c.bottom})
	}
	for i, p := range points {
		if p.ok() {
			c.point(i, p, &o)
		}
	}
	for i, p := range points {
		if p.ok() {
			c.beside(i, c.x.At(p.x.Value), c.y.At(p.y.Value), shorten(p.name, 18), &o)
		}
	}
	return c.svg("Diversity and quality: one point per row with its interval")
}

// padded is the range of the values that are finite, and a little more.
func padded(v []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, x := range v {
		if finite(x) {
			lo, hi = math.Min(lo, x), math.Max(hi, x)
		}
	}
	d := (hi - lo) * 0.06
	if lo >= 0 {
		return math.Max(0, lo-d), hi + d
	}
	return lo - d, hi + d
}

// reference draws a vertical line at a value of the x axis, its name above the
// frame. A value outside of the axis has its name at that end and an arrow.
func (c *chart) reference(v float64, name string) {
	at, y := c.x.At(v), c.top-8
	text := func(x float64, anchor, s string) {
		c.f(`<text class="note" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor, svgText(s))
	}
	switch {
	case v < c.x.Lo:
		text(c.x.From, "start", "← "+name)
		return
	case v > c.x.Hi:
		text(c.x.To, "end", name+" →")
		return
	}
	c.f(`<line class="gold" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`,
		at, c.top, at, c.height-c.bottom)
	if at > (c.x.From+c.x.To)/2 {
		text(at+4, "end", name)
	} else {
		text(at-4, "start", name)
	}
}

// point draws a marker with its intervals and enters them as obstacles.
func (c *chart) point(i int, p planePoint, o *obstacles) {
	x, y := c.x.At(p.x.Value), c.y.At(p.y.Value)
	class := i % seriesClasses
	c.f(`<g><title>%s: %s %s%s, %s %s%s</title>`, svgText(p.name),
		svgText(p.x.Label), p.x.Text(), bracket(p.x), p.y.Label, p.y.Text(), bracket(p.y))
	if p.x.HasInterval() {
		a, b := c.x.At(p.x.Low), c.x.At(p.x.High)
		c.f(`<path class="whisker s%d" d="M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8"/>`,
			class, a, y, b, a, y-4, b, y-4)
		o.add(box{a, y - 4, b, y + 4})
	}
	if p.y.HasInterval() {
		a, b := c.y.At(p.y.Low), c.y.At(p.y.High)
		c.f(`<path class="whisker s%d" d="M%.1f %.1fV%.1fM%.1f %.1fh8M%.1f %.1fh8"/>`,
			class, x, a, b, x-4, a, x-4, b)
		o.add(box{x - 4, math.Min(a, b), x + 4, math.Max(a, b)})
	}
	c.marker(i, x, y, 6)
	o.add(box{x - 8, y - 8, x + 8, y + 8})
	c.f(`</g>`)
}

func bracket(m Metric) string {
	if s := m.Interval(); s != "" {
		return " [" + s + "]"
	}
	return ""
}
