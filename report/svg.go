package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"infill/report/draw"
)

// svgText escapes text for an SVG's elements and attributes.
func svgText(s string) string { return draw.Text(s) }

// chart is an SVG under construction. Its colours are CSS classes, so that one
// drawing serves light, dark and print.
type chart struct {
	size
	b                        strings.Builder
	left, right, top, bottom float64 // margins
	x, y                     draw.Axis
}

// A size is that of a chart. Text has 12.5 units, so that the width says how
// large it is on a page.
type size struct {
	class         string // of the SVG, for the style sheet
	width, height float64
	ticks         int // of the x axis, about
}

var (
	broad = size{"broad", 960, 440, 8} // for a page
	slim  = size{"slim", 520, 420, 5}  // for a narrow screen
	half  = size{"half", 520, 340, 5}  // for two beside each other, or a narrow screen
)

// labelSpace is the room for names at the right end of lines, labelLetters the
// number of letters that fit; longer names are cut.
const (
	labelSpace   = 118
	labelLetters = 14
)

func newChart(s size, right float64, x, y draw.Axis) *chart {
	c := &chart{size: s, left: 64, right: right, top: 14, bottom: 50, x: x, y: y}
	c.x.From, c.x.To = c.left, c.width-right
	c.y.From, c.y.To = c.height-c.bottom, c.top
	return c
}

// roomAbove makes room above the frame.
func (c *chart) roomAbove(h float64) { c.top, c.y.To = h, h }

// reverse turns the y axis upside down.
func (c *chart) reverse() { c.y.From, c.y.To = c.y.To, c.y.From }

func (c *chart) f(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// frame draws grid, ticks and axis titles.
func (c *chart) frame() {
	bottom := c.height - c.bottom
	for _, v := range c.x.Ticks {
		at := c.x.At(v)
		c.f(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, at, c.top, at, bottom)
		c.f(`<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`,
			at, bottom+18, c.x.Tick(v))
	}
	for _, v := range c.y.Ticks {
		at := c.y.At(v)
		c.f(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`,
			c.left, at, c.width-c.right, at)
		c.f(`<text class="tick" x="%.1f" y="%.1f" text-anchor="end">%s</text>`,
			c.left-8, at+4, c.y.Tick(v))
	}
	c.f(`<path class="axis" d="M%.1f %.1fV%.1fH%.1f"/>`, c.left, c.top, bottom, c.width-c.right)
	c.f(`<text class="title" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`,
		(c.x.From+c.x.To)/2, c.height-10, svgText(c.x.Label))
	c.f(`<text class="title" transform="translate(15 %.1f) rotate(-90)" text-anchor="middle">`+
		`%s</text>`, (c.top+bottom)/2, svgText(c.y.Label))
}

// seriesClasses is how many colours the style sheet has.
const seriesClasses = 8

// marker draws series i's symbol; the shapes differ so that colour is not needed
// to tell them apart.
func (c *chart) marker(i int, x, y, r float64) {
	class := i % seriesClasses
	switch i % 6 {
	case 0:
		c.f(`<circle class="m s%d" cx="%.1f" cy="%.1f" r="%.1f"/>`, class, x, y, r)
	case 1:
		c.f(`<rect class="m s%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`,
			class, x-r*.9, y-r*.9, 1.8*r, 1.8*r)
	case 2:
		c.f(`<path class="m s%d" d="M%.1f %.1fl%.1f %.1fh%.1fz"/>`,
			class, x, y-1.2*r, 1.15*r, 2.1*r, -2.3*r)
	case 3:
		c.f(`<path class="m s%d" d="M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz"/>`,
			class, x, y-1.3*r, 1.3*r, 1.3*r, -1.3*r, 1.3*r, -1.3*r, -1.3*r)
	case 4:
		c.f(`<path class="m s%d" d="M%.1f %.1fl%.1f %.1fh%.1fz"/>`,
			class, x, y+1.2*r, 1.15*r, -2.1*r, -2.3*r)
	default:
		c.f(`<path class="x s%d" d="M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f"/>`,
			class, x-r, y-r, 2*r, 2*r, -2*r, -2*r, 2*r)
	}
}

// line draws a series; values that are not finite break it.
func (c *chart) line(i int, xs, ys []float64) {
	var d strings.Builder
	pen := false
	for k := range ys {
		if !finite(ys[k]) || !finite(xs[k]) {
			pen = false
			continue
		}
		op := "L"
		if !pen {
			op = "M"
		}
		fmt.Fprintf(&d, "%s%.1f %.1f", op, c.x.At(xs[k]), c.y.At(ys[k]))
		pen = true
	}
	c.f(`<path class="line s%d dash%d" d="%s"/>`, i%seriesClasses, i%4, d.String())
}

// band shades y ± e.
func (c *chart) band(i int, xs, ys, es []float64) {
	var up, down []string
	for k := range ys {
		if !finite(ys[k]) || !finite(es[k]) {
			continue
		}
		up = append(up, fmt.Sprintf("%.1f %.1f", c.x.At(xs[k]), c.y.At(ys[k]+es[k])))
		down = append(down, fmt.Sprintf("%.1f %.1f", c.x.At(xs[k]), c.y.At(ys[k]-es[k])))
	}
	if len(up) < 2 {
		return
	}
	slices.Reverse(down)
	c.f(`<path class="band s%d" d="M%sZ"/>`, i%seriesClasses, strings.Join(append(up, down...), "L"))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// shorten cuts a name to n characters.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// svg closes the chart. title is its text alternative.
func (c *chart) svg(title string) template.HTML {
	return template.HTML(fmt.Sprintf( //nolint:gosec // every text in it went through html.EscapeString
		`<svg class="%s" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s</svg>`,
		c.class, c.width, c.height, svgText(title), c.b.String()))
}
