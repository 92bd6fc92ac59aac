package bench

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
)

// The bars of samplers that are exact and of those that are not.
const (
	exactFill   = `fill="#3b6ea5"`
	inexactFill = `fill="none" stroke="#3b6ea5" stroke-dasharray="3 2"`
)

// WriteSVG draws one panel of horizontal bars each for the error, ESS per
// evaluation, ESS per second (if times is set), acceptance and jump distance.
// Bars of the first three are logarithmic. Those of samplers that are not exact are
// outlined only.
func (r *Result) WriteSVG(w io.Writer, times bool) error {
	type panel struct {
		title string
		log   bool
		of    func(Row) float64
	}
	panels := []panel{
		{"RMS error (log)", true, func(x Row) float64 { return x.Error }},
		{"ESS per evaluation (log)", true, func(x Row) float64 { return x.PerEval }},
	}
	if times {
		panels = append(panels, panel{"ESS per second (log)", true,
			func(x Row) float64 { return x.PerSecond }})
	}
	panels = append(panels,
		panel{"acceptance", false, func(x Row) float64 { return x.Acceptance }},
		panel{"jump distance", false, func(x Row) float64 { return x.Jump }},
	)
	var rows []Row
	longest := 8
	for _, x := range r.Rows {
		if x.Skipped == nil {
			rows = append(rows, x)
			longest = max(longest, len([]rune(x.name())))
		}
	}
	const line, bar, gap = 20, 130, 60
	left := 7*min(longest, 40) + 16
	width := left + len(panels)*(bar+gap)
	height := 60 + line*len(rows)
	if r.inexact() {
		height += line
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" `, width, height)
	fmt.Fprintf(&b, `viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="8" y="18" font-size="14">%s: %d chains of %d steps</text>`+"\n",
		html.EscapeString(r.Problem.Name), r.Config.Chains, r.Config.Steps)
	for i, x := range rows {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-8, 60+line*i+4,
			html.EscapeString(x.name()))
	}
	for j, p := range panels {
		at := left + j*(bar+gap)
		fmt.Fprintf(&b, `<text x="%d" y="40" fill="#555555">%s</text>`+"\n", at, p.title)
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, x := range rows {
			if v := p.of(x); v > 0 && !math.IsInf(v, 0) {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
			}
		}
		for i, x := range rows {
			v := p.of(x)
			y := 60 + line*i
			f := 0.0
			switch {
			case !(v > 0) || math.IsInf(v, 0):
			case p.log && hi > lo: // the smallest keeps a twentieth
				f = 0.05 + 0.95*math.Log(v/lo)/math.Log(hi/lo)
			case hi > 0:
				f = v / hi
			}
			fill := exactFill
			if !x.Exact {
				fill = inexactFill
			}
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="12" %s/>`, at, y-7, f*bar, fill)
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" font-size="10">%s</text>`+"\n", float64(at)+f*bar+4, y+3,
				num(v))
		}
	}
	if r.inexact() {
		fmt.Fprintf(&b, `<text x="8" y="%d" fill="#555555">%s</text>`+"\n", height-10,
			html.EscapeString(inexactNote))
	}
	fmt.Fprintln(&b, "</svg>")
	_, err := w.Write(b.Bytes())
	return err
}
