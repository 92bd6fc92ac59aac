package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/internal/drawing"
)

// A LineChart draws lines over one pair of axes.
type LineChart struct {
	Title, X, Y string // texts of the chart and of its axes
	LogX, LogY  bool   // logarithmic axes: values of 0 or less are left out
	Lines       []Line
}

// A Line has as many values of Y as of X. Values of Y that are not finite interrupt it.
type Line struct {
	Name string
	X, Y []float64
}

// SVG draws the chart. Lines differ by colour and by dashes, and each is named at its end.
func (c LineChart) SVG() string {
	const width, height, left, right, top, bottom = 640.0, 330.0, 62.0, 120.0, 44.0, 42.0
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" viewBox="0 0 %.0f %.0f" role="img" `+
		`aria-label="%s">`, width*1.2, width, height, drawing.Text(c.Title))
	f("<style>%s</style>", drawing.Style)
	f(`<rect width="100%%" height="100%%" fill="var(--page)"/>`)
	f(`<text class="title" x="10" y="18">%s</text>`, drawing.Text(c.Title))
	f(`<text class="note" x="10" y="35">%s</text>`, drawing.Text(c.Y))
	xs, ys := c.axes()
	xs.From, xs.To, ys.From, ys.To = left, width-right, height-bottom, top
	for _, v := range ys.Ticks {
		f(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, left, ys.At(v), xs.To, ys.At(v))
		f(`<text class="tick" x="%.1f" y="%.1f" text-anchor="end">%s</text>`, left-7, ys.At(v)+4,
			drawing.Text(ys.Tick(v)))
	}
	for _, v := range xs.Ticks {
		f(`<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, xs.At(v),
			height-bottom+17, drawing.Text(xs.Tick(v)))
	}
	f(`<path class="axis" d="M%.1f %.1fV%.1fH%.1f"/>`, left, top, height-bottom, xs.To)
	f(`<text class="note" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, (left+xs.To)/2, height-8,
		drawing.Text(c.X))
	for i, l := range c.Lines {
		f(`<path class="line s%d dash%d" d="%s"><title>%s</title></path>`, i%8, i/2%4, c.path(l, xs, ys),
			drawing.Text(l.Name))
	}
	for i, y := range c.names(ys) {
		if !math.IsNaN(y) {
			f(`<text class="name s%d" x="%.1f" y="%.1f">%s</text>`, i%8, xs.To+8, y+4,
				drawing.Text(c.Lines[i].Name))
		}
	}
	f("</svg>")
	return b.String()
}

// drawn reports whether a point has a place.
func (c LineChart) drawn(x, y float64) bool {
	ok := func(v float64, log bool) bool {
		return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !log)
	}
	return ok(x, c.LogX) && ok(y, c.LogY)
}

// axes cover all points.
func (c LineChart) axes() (x, y drawing.Axis) {
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, l := range c.Lines {
		for i := range l.X {
			if c.drawn(l.X[i], l.Y[i]) {
				for j, v := range [2]float64{l.X[i], l.Y[i]} {
					lo[j], hi[j] = math.Min(lo[j], v), math.Max(hi[j], v)
				}
			}
		}
	}
	axis := func(j int, log bool, label string) drawing.Axis {
		switch {
		case math.IsInf(lo[j], 1) && log:
			return drawing.Logarithmic(1, 10, 6, label)
		case math.IsInf(lo[j], 1):
			return drawing.Nice(0, 1, 6, label)
		case log:
			return drawing.Logarithmic(lo[j], hi[j], 7, label)
		}
		return drawing.Nice(lo[j], hi[j], 6, label)
	}
	return axis(0, c.LogX, c.X), axis(1, c.LogY, c.Y)
}

// path is the line through the points that have places.
func (c LineChart) path(l Line, x, y drawing.Axis) string {
	var b strings.Builder
	pen := "M"
	for i := range l.X {
		if !c.drawn(l.X[i], l.Y[i]) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", pen, x.At(l.X[i]), y.At(l.Y[i]))
		pen = "L"
	}
	return b.String()
}

// names are the heights of the lines' names: those of their last points, moved apart. A line
// without a point has NaN.
func (c LineChart) names(y drawing.Axis) []float64 {
	const apart = 15.0
	at := make([]float64, len(c.Lines))
	var order []int
	for i, l := range c.Lines {
		at[i] = math.NaN()
		for j := range l.X {
			if c.drawn(l.X[j], l.Y[j]) {
				at[i] = y.At(l.Y[j])
			}
		}
		if !math.IsNaN(at[i]) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(math.Copysign(1, at[a]-at[b]))
	})
	for k, i := range order { // downwards, each below the one before
		if k > 0 {
			at[i] = math.Max(at[i], at[order[k-1]]+apart)
		}
	}
	floor := y.From // of the lowest name; from there upwards again
	for k := len(order) - 1; k >= 0; k-- {
		at[order[k]] = math.Min(at[order[k]], floor)
		floor = at[order[k]] - apart
	}
	return at
}
