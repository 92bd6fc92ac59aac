package compare

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"infill/lab/internal/plot"
	"infill/report/draw"
)

// Sizes of the chart, in units of the drawing, in which text has 12.5.
const (
	chartWidth  = 560.0 // 455 pixels of it leave text of 10
	shownWidth  = 960   // of the picture where there is room, in pixels
	lineHeight  = 19.0
	letterWidth = 7.0
	panelGap    = 26.0
	panelTop    = 26.0 // room for its title
	panelBottom = 30.0 // and for its ticks
)

// A panel is one figure of all samplers.
type panel struct {
	title string
	log   bool
	of    func(Row) (value, se float64)
}

func panels(times bool) []panel {
	all := []panel{
		{"RMS error", true, func(x Row) (float64, float64) { return x.Error, x.SE.Error }},
		{"ESS per evaluation", true, func(x Row) (float64, float64) {
			return x.PerEval, x.SE.ESS * x.PerEval / x.ESS
		}},
		{"ESS per call", true, func(x Row) (float64, float64) {
			return x.PerCall, x.SE.ESS * x.PerCall / x.ESS
		}},
		{"mean probability", false, func(x Row) (float64, float64) {
			return x.MeanProb, x.SE.MeanProb
		}},
		{"jump distance", false, func(x Row) (float64, float64) { return x.Jump, x.SE.Jump }},
	}
	if times {
		all = append(all, panel{"ESS per second", true, func(x Row) (float64, float64) {
			return x.PerSecond, x.SE.ESS * x.PerSecond / x.ESS
		}})
	}
	return all
}

// WriteSVG draws one panel each for the error, ESS per evaluation and per call, the mean
// acceptance probability, jump distance and, if times is set, ESS per second, with a point for
// every sampler and its standard error as a line. The axes of the error and of ESS are
// logarithmic. Points of samplers that are not exact are open.
func (r *Result) WriteSVG(w io.Writer, times bool) error {
	var rows []Row
	longest := 0
	for _, x := range r.Rows {
		if x.Skipped == nil {
			rows = append(rows, x)
			longest = max(longest, len([]rune(x.name())))
		}
	}
	left := 14 + letterWidth*float64(min(max(longest, 8), 24))
	width := (chartWidth - left - panelGap - 16) / 2
	all := panels(times)
	band := panelTop + lineHeight*float64(len(rows)) + panelBottom
	height := 30 + band*float64((len(all)+1)/2) + 56
	var b bytes.Buffer
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	title := fmt.Sprintf("%s: %d chains of %d steps", r.Problem.Name, r.Config.Chains, r.Config.Steps)
	f(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" viewBox="0 0 %.0f %.0f" role="img" `+
		`aria-label="%s">`, shownWidth, chartWidth, height, draw.Text(title))
	f("<style>%s</style>", draw.Style)
	f(`<rect width="100%%" height="100%%" fill="var(--page)"/>`)
	f(`<text class="title" x="10" y="20">%s</text>`, draw.Text(title))
	for j, p := range all {
		x, top := left, 30+band*float64(j/2)+panelTop
		if j%2 == 1 {
			x += width + panelGap
		} else {
			for i, row := range rows {
				f(`<text x="%.1f" y="%.1f" text-anchor="end">%s</text>`, left-9,
					top+lineHeight*(float64(i)+.5)+4, draw.Text(draw.Shorten(row.name(), 24)))
			}
		}
		p.draw(f, rows, x, top, width)
	}
	notes := []string{"line: one standard error either way, from chain to chain", callNote}
	if r.inexact() {
		notes = append(notes, inexactNote)
	}
	for i, note := range notes {
		f(`<text class="note" x="10" y="%.1f">%s</text>`, height-8-16*float64(len(notes)-1-i),
			draw.Text(note))
	}
	f("</svg>")
	_, err := w.Write(b.Bytes())
	return err
}

// axis covers the panel's values and, as far as it can, their standard errors.
func (p panel) axis(rows []Row) (a draw.Axis, ok bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	note := func(v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !p.log) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	for _, x := range rows {
		v, se := p.of(x)
		note(v)
		note(v + se)
		if v-se > v/3 { // a line to 0 would take all of a logarithmic axis
			note(v - se)
		}
	}
	switch {
	case math.IsInf(lo, 1):
		return a, false
	case p.log:
		return plot.Logarithmic(lo, hi, 5, p.title), true
	}
	return draw.Nice(0, math.Max(hi, 1e-9), 4, p.title), true
}

// draw draws the panel into the rectangle of a width at (left, top).
func (p panel) draw(f func(string, ...any), rows []Row, left, top, width float64) {
	a, ok := p.axis(rows)
	scale := ""
	if p.log {
		scale = ", logarithmic"
	}
	f(`<text class="title" x="%.1f" y="%.1f">%s<tspan class="note">%s</tspan></text>`, left, top-8,
		p.title, scale)
	bottom := top + lineHeight*float64(len(rows))
	f(`<path class="axis" d="M%.1f %.1fV%.1fH%.1f"/>`, left, top, bottom, left+width)
	if !ok {
		f(`<text class="note" x="%.1f" y="%.1f">no values</text>`, left+8, top+20)
		return
	}
	a.From, a.To = left+6, left+width-6
	for _, v := range a.Ticks {
		at := a.At(v)
		f(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, at, top, at, bottom)
		f(`<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, at, bottom+16,
			draw.Text(a.Tick(v)))
	}
	for i, x := range rows {
		v, se := p.of(x)
		y := top + lineHeight*(float64(i)+.5)
		if !plot.Shows(a, v) {
			f(`<text class="note" x="%.1f" y="%.1f">%s</text>`, left+8, y+4, num(v))
			continue
		}
		f(`<g class="s0"><title>%s: %s %s ± %s</title>`, draw.Text(x.name()), p.title, num(v), num(se))
		if se > 0 && !math.IsInf(se, 0) {
			f(`<path class="whisker" d="%s"/>`, a.Whisker(v-se, v+se, y))
		}
		class := "m"
		if !x.Exact {
			class = "open"
		}
		f(`<circle class="%s" cx="%.1f" cy="%.1f" r="4.5"/></g>`, class, a.At(v), y)
	}
}
