package show

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"unicode/utf8"

	"infill/report/draw"
	"infill/report/measure"
)

// planePoint is a row's place in the diversity–quality plane.
type planePoint struct {
	name string
	x, y measure.Metric
}

func (p planePoint) ok() bool { return p.x.OK() && p.y.OK() }

// plane draws quality against diversity, one point per row with its intervals.
// gold is a reference line, nil for none. It returns "" if no row has a point.
func plane(points []planePoint, gold *measure.Metric, xLabel string) template.HTML {
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
	c := scatter{Chart: draw.NewChart(draw.Nice(x0, x1, 5, xLabel),
		draw.Nice(y0, y1, 6, "self-BLEU (reversed: more diverse is up)"))}
	c.X.To = draw.Width - 30
	c.Y.From, c.Y.To = c.Y.To, c.Y.From
	c.Axes()
	c.F(`<text class="note" x="%.1f" y="12" text-anchor="end">better ↗</text>`, c.X.To)
	if gold != nil && gold.OK() {
		c.reference(gold.Value, "original sentences: "+gold.Text())
	}
	for i, p := range points {
		if p.ok() {
			c.point(i, p)
		}
	}
	for i, p := range points {
		if p.ok() {
			c.beside(i, c.X.At(p.x.Value), c.Y.At(p.y.Value), draw.Shorten(p.name, 18))
		}
	}
	return svgOf(c.Chart, "Diversity and quality: one point per row with its interval")
}

// A scatter is a chart of points with names, which lie on nothing.
type scatter struct {
	*draw.Chart
	obstacles
}

// reference draws a vertical line at a value of the x axis, its name above the
// frame. A value outside of the axis has its name at that end and an arrow.
func (c *scatter) reference(v float64, name string) {
	top, bottom := c.Frame()
	at, anchor := c.X.At(v)-4, "start"
	switch {
	case v < c.X.Lo:
		at, name = c.X.From, "← "+name
	case v > c.X.Hi:
		at, anchor, name = c.X.To, "end", name+" →"
	default:
		c.F(`<path class="gold" d="M%.1f %.1fV%.1f"/>`, at+4, top, bottom)
		c.add(box{at + 2, top, at + 6, bottom})
		if at+4 > (c.X.From+c.X.To)/2 {
			at, anchor = at+8, "end"
		}
	}
	c.F(`<text class="note" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, at, top-6, anchor,
		draw.Text(name))
}

// point draws a marker with its intervals and enters them as obstacles.
func (c *scatter) point(i int, p planePoint) {
	x, y := c.X.At(p.x.Value), c.Y.At(p.y.Value)
	said := func(m measure.Metric) string { return strings.TrimSpace(m.Text() + " " + bracket(m)) }
	c.F(`<g class="%s"><title>%s</title>`, draw.Colour(i), draw.Text(fmt.Sprintf("%s: %s %s, %s %s",
		p.name, p.x.Label, said(p.x), p.y.Label, said(p.y))))
	if p.x.HasInterval() {
		c.F(`<path class="whisker" d="%s"/>`, c.X.Whisker(p.x.Low, p.x.High, y))
		c.add(box{c.X.At(p.x.Low), y - 4, c.X.At(p.x.High), y + 4})
	}
	if p.y.HasInterval() {
		a, b := c.Y.At(p.y.Low), c.Y.At(p.y.High)
		c.F(`<path class="whisker" d="M%.1f %.1fV%.1fM%.1f %.1fh8M%.1f %.1fh8"/>`, x, a, b, x-4, a,
			x-4, b)
		c.add(box{x - 4, math.Min(a, b), x + 4, math.Max(a, b)})
	}
	c.Mark(i, "m", x, y, 6)
	c.add(box{x - 8, y - 8, x + 8, y + 8})
	c.F(`</g>`)
}

func bracket(m measure.Metric) string {
	if s := m.Interval(); s != "" {
		return "[" + s + "]"
	}
	return ""
}

// letterWidth is the width of a letter of a name, which is generous for the style sheet's font.
const letterWidth = 7.4

// beside writes a name near a point, with a thin line back from afar.
func (c *scatter) beside(series int, x, y float64, name string) {
	w := letterWidth * float64(utf8.RuneCountInString(name))
	top, bottom := c.Frame()
	at, ok := c.place(x, y, w, box{c.X.From + 2, top, draw.Width - 2, bottom})
	if !ok {
		return // wider than the drawing; the table has the name beside its colour
	}
	toX, toY := math.Min(math.Max(x, at.x0), at.x1), math.Min(math.Max(y, at.y0), at.y1)
	if math.Hypot(toX-x, toY-y) > 20 {
		c.F(`<path class="lead" d="M%.1f %.1fL%.1f %.1f"/>`, x, y, toX, toY)
	}
	c.F(`<text class="name %s" x="%.1f" y="%.1f">%s</text>`, draw.Colour(series), at.x0, at.y1-3,
		draw.Text(name))
}
