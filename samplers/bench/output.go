package bench

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"text/tabwriter"
)

// num prints a figure with three digits, "–" for NaN.
func num(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	case x != 0 && math.Abs(x) < 1e-3:
		return fmt.Sprintf("%.1e", x)
	case math.Abs(x) >= 1000:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// WriteTable prints the comparison as aligned text, one line a sampler, with
// warnings below.
func (r *Result) WriteTable(w io.Writer) error {
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "%s · %d chains × %d steps after %d of burn-in · seed %d", r.Problem.Name, r.Config.Chains, r.Config.Steps, r.Config.Burnin, r.Config.Seed)
	if r.Problem.Source != "" {
		fmt.Fprintf(&buf, " · truth by %s", r.Problem.Source)
	}
	fmt.Fprintln(&buf)
	tw := tabwriter.NewWriter(&buf, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "sampler\terror\tESS\tESS/eval\tESS/s\tR-hat\taccept\tjump\tproposed\tevals")
	for _, x := range r.Rows {
		if x.Skipped != nil {
			fmt.Fprintf(tw, "%s\tskipped: %v\n", x.Label, x.Skipped)
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\n", x.Label, num(x.Error), num(x.ESS), num(x.PerEval), num(x.PerSecond), num(x.RHat), num(x.Acceptance), num(x.Jump), num(x.Proposed), x.Evals)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, x := range r.Rows {
		if x.Zero > 0 {
			fmt.Fprintf(&buf, "note: %s: %d proposals or neighbours had probability 0 (energy −∞), and were refused\n", x.Label, x.Zero)
		}
		for _, e := range x.Warnings {
			fmt.Fprintf(&buf, "warning: %s: %v\n", x.Label, e)
		}
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// WriteMarkdown prints the comparison as a Markdown table without times, so
// that the same seed gives the same bytes.
func (r *Result) WriteMarkdown(w io.Writer) error {
	var buf bytes.Buffer
	fmt.Fprintln(&buf, "| sampler | RMS error | ESS | ESS/eval | R-hat | acceptance | jump | proposed | evaluations |")
	fmt.Fprintln(&buf, "|---|---|---|---|---|---|---|---|---|")
	for _, x := range r.Rows {
		if x.Skipped != nil {
			fmt.Fprintf(&buf, "| %s | skipped: %v ||||||||\n", x.Label, x.Skipped)
			continue
		}
		fmt.Fprintf(&buf, "| %s | %s | %s | %s | %s | %s | %s | %s | %d |\n", x.Label, num(x.Error), num(x.ESS), num(x.PerEval), num(x.RHat), num(x.Acceptance), num(x.Jump), num(x.Proposed), x.Evals)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

// WriteSVG draws one panel of horizontal bars each for the error, ESS per
// evaluation, ESS per second (if times is set), acceptance and jump distance.
// Bars of the first three are logarithmic.
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
		panels = append(panels, panel{"ESS per second (log)", true, func(x Row) float64 { return x.PerSecond }})
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
			longest = max(longest, len([]rune(x.Label)))
		}
	}
	const line, bar, gap = 20, 130, 60
	left := 7*min(longest, 40) + 16
	width := left + len(panels)*(bar+gap)
	height := 60 + line*len(rows)
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="8" y="18" font-size="14">%s: %d chains of %d steps</text>`+"\n", html.EscapeString(r.Problem.Name), r.Config.Chains, r.Config.Steps)
	for i, x := range rows {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-8, 60+line*i+4, html.EscapeString(x.Label))
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
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="12" fill="#3b6ea5"/><text x="%.1f" y="%d" font-size="10">%s</text>`+"\n", at, y-7, f*bar, float64(at)+f*bar+4, y+3, num(v))
		}
	}
	fmt.Fprintln(&b, "</svg>")
	_, err := w.Write(b.Bytes())
	return err
}
