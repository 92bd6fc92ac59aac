package draw

import (
	"fmt"
	"io"
	"math"
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
	Series int       // colour, and from the ninth on other dashes
	Dashes int       // 0 to 3, none to many
	X, Y   []float64 // of the points
	SE     []float64 // standard errors of Y, as a band or as whiskers; nil without
	Marks  bool      // a mark at every point, and whiskers in place of the band
	Shape  int       // of the marks, see [Chart.Mark]
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
	rows := (len(p.Panels) + 1) / 2
	each, width := Width, 2*Width
	if len(p.Panels) < 2 {
		each, width = aloneWidth, aloneWidth
	}
	height := plotTop + Height*float64(rows) + noteHeight*float64(len(p.Notes)) + 8
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" viewBox="0 0 %.0f %.0f" role="img" `+
		`aria-label="%s">`, width, width, height, Text(p.Title))
	f("<style>%s</style>", Style)
	f(`<rect width="100%%" height="100%%" fill="var(--page)"/>`)
	f(`<text class="title" x="10" y="20">%s</text>`, Text(p.Title))
	for i, panel := range p.Panels {
		x, y := panel.axes()
		c := newChart(&b, x, y, float64(i%2)*each, plotTop+float64(i/2)*Height, each)
		f(`<text class="title" x="%.1f" y="%.1f">%s</text>`, c.X.From, c.Y.To-12, Text(panel.Title))
		c.Axes()
		c.Lines(panel.Lines)
	}
	for i, note := range p.Notes {
		f(`<text class="note" x="10" y="%.1f">%s</text>`,
			height-8-noteHeight*float64(len(p.Notes)-1-i), Text(note))
	}
	f("</svg>")
	return b.String()
}

// axes cover all points.
func (p Panel) axes() (x, y Axis) {
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
	axis := func(j int, log bool, label string) Axis {
		switch none := lo[j] > hi[j]; {
		case none && log:
			return Logarithmic(1, 10, 5, label)
		case none:
			return Nice(0, 1, 5, label)
		case log:
			return Logarithmic(lo[j], hi[j], 6, label)
		}
		return Nice(lo[j], hi[j], 6, label)
	}
	return axis(0, p.LogX, p.X), axis(1, p.LogY, p.Y)
}
