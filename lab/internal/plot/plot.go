// Package plot draws the plots of the lab: panels of lines, on logarithmic axes too.
package plot

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"infill/report/draw"
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
	Lines      []draw.Line
}

// Sizes in units of the drawing.
const (
	aloneWidth = 640.0
	plotTop    = 26.0
	noteHeight = 17.0
)

// WriteSVG writes what SVG draws.
func (p Plot) WriteSVG(w io.Writer) error {
	_, err := io.WriteString(w, p.SVG())
	return err
}

// SVG draws the plot.
func (p Plot) SVG() string {
	each, width, height := draw.Width, 2*draw.Width, plotTop
	if len(p.Panels) < 2 {
		each, width = aloneWidth, aloneWidth
	}
	var panels strings.Builder
	for i, panel := range p.Panels {
		c := draw.NewChart(panel.axes())
		c.X.To += each - draw.Width
		c.F(`<text class="title" x="%.1f" y="%.1f">%s</text>`, c.X.From, c.Y.To-12,
			draw.Text(panel.Title))
		c.Axes()
		c.Lines(panel.Lines)
		fmt.Fprintf(&panels, "<g transform=\"translate(%.0f %.0f)\">\n%s</g>\n", float64(i%2)*each,
			plotTop+float64(i/2)*c.Height, c.Elements())
		height = plotTop + float64(i/2+1)*c.Height
	}
	height += noteHeight*float64(len(p.Notes)) + 8
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" viewBox="0 0 %.0f %.0f" role="img" `+
		`aria-label="%s">`, width, width, height, draw.Text(p.Title))
	f("<style>%s</style>", draw.Style)
	f(`<rect width="100%%" height="100%%" fill="var(--page)"/>`)
	f(`<text class="title" x="10" y="20">%s</text>`, draw.Text(p.Title))
	b.WriteString(panels.String())
	for i, note := range p.Notes {
		f(`<text class="note" x="10" y="%.1f">%s</text>`,
			height-8-noteHeight*float64(len(p.Notes)-1-i), draw.Text(note))
	}
	f("</svg>")
	return b.String()
}

// axes cover all points.
func (p Panel) axes() (x, y draw.Axis) {
	lo := [2]float64{math.Inf(1), math.Inf(1)}
	hi := [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, l := range p.Lines {
		for i := range l.X {
			if finite(l.X[i], p.LogX) && finite(l.Y[i], p.LogY) {
				for j, v := range [2]float64{l.X[i], l.Y[i]} {
					lo[j], hi[j] = math.Min(lo[j], v), math.Max(hi[j], v)
				}
			}
		}
	}
	axis := func(j int, log bool, label string) draw.Axis {
		switch none := lo[j] > hi[j]; {
		case none && log:
			return Logarithmic(1, 10, 5, label)
		case none:
			return draw.Nice(0, 1, 5, label)
		case log:
			return Logarithmic(lo[j], hi[j], 6, label)
		}
		return draw.Nice(lo[j], hi[j], 6, label)
	}
	return axis(0, p.LogX, p.X), axis(1, p.LogY, p.Y)
}

// finite reports whether a value has a place on an axis.
func finite(v float64, log bool) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !log)
}

// Logarithmic is an axis that covers lo to hi, both above 0, and a little more. Its ticks
// are as many as there can be up to n of one kind: powers of ten, all or every second or
// third of them, or some round numbers between them too.
func Logarithmic(lo, hi float64, n int, label string) draw.Axis {
	if !(hi > lo) {
		lo, hi = lo/2, hi*2
	}
	pad := math.Pow(hi/lo, 0.04)
	a := draw.Axis{Lo: lo / pad, Hi: hi * pad, Label: label, Name: tick}
	from, to := a.Lo, a.Hi
	a.Share = func(v float64) float64 { return math.Log(v/from) / math.Log(to/from) }
	first, last := int(math.Floor(math.Log10(a.Lo))), int(math.Ceil(math.Log10(a.Hi)))
	ticks := func(every int, factors ...float64) (out []float64) {
		for e := first; e <= last; e++ {
			for _, f := range factors {
				if v := f * math.Pow10(e); e%every == 0 && Shows(a, v) {
					out = append(out, v)
				}
			}
		}
		return out
	}
	every := 1
	for a.Ticks = ticks(1, 1); len(a.Ticks) > n; a.Ticks = ticks(every, 1) {
		every++
	}
	for _, factors := range [][]float64{{1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 5, 7},
		{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}} {
		more := ticks(1, factors...)
		if len(more) <= n || len(a.Ticks) < 2 {
			a.Ticks = more
		}
	}
	return a
}

// Shows reports whether a value has a place within an axis.
func Shows(a draw.Axis, v float64) bool { return v >= a.Lo && v <= a.Hi }

// tick is the text of a tick of a logarithmic axis.
func tick(v float64) string {
	e := int(math.Floor(math.Log10(v) + 1e-9))
	switch {
	case e >= -3 && e < 2:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case e == 2 || e == 3:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	factor := strconv.FormatFloat(v/math.Pow10(e), 'g', 2, 64) + "·"
	if factor == "1·" {
		factor = ""
	}
	return factor + "10" + raised(e)
}

// raised writes a number as an exponent.
func raised(n int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵",
		"6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
}
