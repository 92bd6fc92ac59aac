package draw

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// A Plot is a drawing of lines: panels in rows of two, a title above them and notes below. A
// panel that is alone is wider.
type Plot struct {
	Title  string
	Panels []Panel
	Notes  []string
}

// A Panel has the axes of its lines. A logarithmic axis leaves out what is not above 0.
type Panel struct {
	Title      string
	X, Y       string // labels of the axes
	LogX, LogY bool
	Lines      []Line
}

// A Line has as many X as Y. Values that are not finite interrupt it.
type Line struct {
	Name   string    // beside its last point
	Series int       // colour, and from the ninth on dashes
	X, Y   []float64 // of the points
	SE     []float64 // standard errors of Y, as a band or as whiskers; nil without
	Marks  bool      // a circle at every point, and whiskers in place of the band
}

// Sizes in units of the drawing, in which text has 12.5.
const (
	panelWidth  = 480.0
	aloneWidth  = 640.0
	panelHeight = 330.0
	panelLeft   = 68.0
	panelRight  = 104.0 // room for names
	panelTop    = 34.0
	panelBottom = 50.0
	nameHeight  = 15.0
	plotTop     = 26.0
	noteHeight  = 17.0
	colours     = 8
)

// WriteSVG writes what SVG draws.
func (p Plot) WriteSVG(w io.Writer) error {
	_, err := io.WriteString(w, p.SVG())
	return err
}

// SVG draws the plot.
func (p Plot) SVG() string {
	rows := (len(p.Panels) + 1) / 2
	each, width := panelWidth, 2*panelWidth
	if len(p.Panels) < 2 {
		each, width = aloneWidth, aloneWidth
	}
	height := plotTop + panelHeight*float64(rows) + noteHeight*float64(len(p.Notes)) + 8
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" viewBox="0 0 %.0f %.0f" role="img" `+
		`aria-label="%s">`, width, width, height, Text(p.Title))
	f("<style>%s</style>", Style)
	f(`<rect width="100%%" height="100%%" fill="var(--page)"/>`)
	f(`<text class="title" x="10" y="20">%s</text>`, Text(p.Title))
	for i, panel := range p.Panels {
		panel.draw(f, float64(i%2)*each, plotTop+float64(i/2)*panelHeight, each)
	}
	for i, note := range p.Notes {
		f(`<text class="note" x="10" y="%.1f">%s</text>`,
			height-8-noteHeight*float64(len(p.Notes)-1-i), Text(note))
	}
	f("</svg>")
	return b.String()
}

// draw draws the panel with its upper left corner at (left, top).
func (p Panel) draw(f func(string, ...any), left, top, width float64) {
	x, y := p.axes()
	x.From, x.To = left+panelLeft, left+width-panelRight
	y.From, y.To = top+panelHeight-panelBottom, top+panelTop
	f(`<text class="title" x="%.1f" y="%.1f">%s</text>`, x.From, y.To-12, Text(p.Title))
	for _, v := range x.Ticks {
		f(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x.At(v), y.To, x.At(v), y.From)
		f(`<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, x.At(v), y.From+17,
			Text(x.Tick(v)))
	}
	for _, v := range y.Ticks {
		f(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x.From, y.At(v), x.To, y.At(v))
		f(`<text class="tick" x="%.1f" y="%.1f" text-anchor="end">%s</text>`, x.From-7, y.At(v)+4,
			Text(y.Tick(v)))
	}
	f(`<path class="axis" d="M%.1f %.1fV%.1fH%.1f"/>`, x.From, y.To, y.From, x.To)
	f(`<text class="title" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, (x.From+x.To)/2,
		y.From+38, Text(x.Label))
	f(`<text class="title" transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle">`+
		`%s</text>`, left+14, (y.From+y.To)/2, Text(y.Label))
	for _, l := range p.Lines {
		p.line(f, l, x, y)
	}
	for i, at := range p.names(y) {
		if l := p.Lines[i]; !math.IsNaN(at) {
			f(`<text class="name s%d" x="%.1f" y="%.1f">%s</text>`, l.Series%colours, x.To+8, at+4,
				Text(l.Name))
		}
	}
}

// line draws a line with its errors.
func (p Panel) line(f func(string, ...any), l Line, x, y Axis) {
	f(`<g class="s%d"><title>%s</title>`, l.Series%colours, Text(l.Name))
	var path, up, down []byte
	var back []string
	pen := "M"
	for i := range l.X {
		if !p.shows(l.X[i], l.Y[i]) {
			pen = "M"
			continue
		}
		path = fmt.Appendf(path, "%s%.1f %.1f", pen, x.At(l.X[i]), y.At(l.Y[i]))
		pen = "L"
		if l.SE == nil || math.IsNaN(l.SE[i]) {
			continue
		}
		hi, lo := y.Within(l.Y[i]+l.SE[i]), y.Within(l.Y[i]-l.SE[i])
		if l.Marks {
			f(`<path class="whisker" d="M%.1f %.1fV%.1f"/>`, x.At(l.X[i]), lo, hi)
			continue
		}
		up = fmt.Appendf(up, "L%.1f %.1f", x.At(l.X[i]), hi)
		back = append(back, fmt.Sprintf("L%.1f %.1f", x.At(l.X[i]), lo))
	}
	if len(back) > 1 {
		for _, s := range slices.Backward(back) {
			down = append(down, s...)
		}
		f(`<path class="band" d="M%s%sZ"/>`, up[1:], down)
	}
	f(`<path class="line dash%d" d="%s"/>`, l.Series/colours%4, path)
	if l.Marks {
		for i := range l.X {
			if p.shows(l.X[i], l.Y[i]) {
				f(`<circle class="m" cx="%.1f" cy="%.1f" r="3.6"/>`, x.At(l.X[i]), y.At(l.Y[i]))
			}
		}
	}
	f("</g>")
}

// shows reports whether a point has a place.
func (p Panel) shows(x, y float64) bool {
	ok := func(v float64, log bool) bool {
		return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !log)
	}
	return ok(x, p.LogX) && ok(y, p.LogY)
}

// axes cover all points.
func (p Panel) axes() (x, y Axis) {
	lo := [2]float64{math.Inf(1), math.Inf(1)}
	hi := [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, l := range p.Lines {
		for i := range l.X {
			if p.shows(l.X[i], l.Y[i]) {
				for j, v := range [2]float64{l.X[i], l.Y[i]} {
					lo[j], hi[j] = math.Min(lo[j], v), math.Max(hi[j], v)
				}
			}
		}
	}
	axis := func(j int, log bool, label string) Axis {
		switch {
		case lo[j] > hi[j]: // no points
			return Nice(0, 1, 5, label)
		case log:
			return Logarithmic(lo[j], hi[j], 6, label)
		}
		return Nice(lo[j], hi[j], 6, label)
	}
	return axis(0, p.LogX, p.X), axis(1, p.LogY, p.Y)
}

// names are the places of the lines' names on the y axis: those of their last points, moved
// apart. A line without points has NaN.
func (p Panel) names(y Axis) []float64 {
	at := make([]float64, len(p.Lines))
	var order []int
	for i, l := range p.Lines {
		at[i] = math.NaN()
		for j := range l.X {
			if p.shows(l.X[j], l.Y[j]) {
				at[i] = y.At(l.Y[j])
			}
		}
		if !math.IsNaN(at[i]) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case at[a] < at[b]:
			return -1
		case at[a] > at[b]:
			return 1
		}
		return 0
	})
	for range 500 { // push neighbours apart until nothing overlaps
		moved := false
		for k := 1; k < len(order); k++ {
			if d := nameHeight - (at[order[k]] - at[order[k-1]]); d > 0.01 {
				at[order[k-1]] -= d / 2
				at[order[k]] += d / 2
				moved = true
			}
		}
		if !moved {
			break
		}
	}
	ceiling, floor := y.To, y.From // that names keep to, the floor before the ceiling
	for _, i := range order {
		at[i] = math.Max(at[i], ceiling)
		ceiling = at[i] + nameHeight
	}
	for _, i := range slices.Backward(order) {
		at[i] = math.Min(at[i], floor)
		floor = at[i] - nameHeight
	}
	return at
}
