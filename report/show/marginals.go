package show

import (
	"fmt"
	"html/template"
	"math"

	"infill/infill"
	"infill/report/draw"
)

// drawnBars bounds the likeliest texts that are drawn.
const drawnBars = 8

// bars draws probabilities as bars with their standard errors. It returns "" for none.
func bars(m *infill.Marginal, series int, title string) template.HTML {
	list := m.Likeliest[:min(drawnBars, len(m.Likeliest))]
	if len(list) == 0 {
		return ""
	}
	most := 0.0
	for _, e := range list {
		most = math.Max(most, 100*(e.Probability+errorOf(&e)))
	}
	const row = 33
	c := draw.NewChart(draw.Nice(0, math.Min(most, 100), 5, "probability in %"), draw.Axis{Hi: 1})
	c.X.From, c.X.To = 18, draw.Width-58
	c.Y.To = 10
	c.Y.From = c.Y.To + row*float64(len(list))
	c.Height = c.Y.From + 50
	c.Axes()
	for i, e := range list {
		y := c.Y.To + row*float64(i)
		c.F(`<text x="%.1f" y="%.1f">%s</text>`, c.X.From+3, y+13, draw.Text(draw.Shorten(e.Text, 62)))
		to, at := c.X.At(100*e.Probability), y+23
		c.F(`<rect class="m %s" x="%.1f" y="%.1f" width="%.1f" height="12"/>`,
			draw.Colour(series), c.X.From, at-6, math.Max(1, to-c.X.From))
		end := to
		if d := errorOf(&e); d > 0 {
			end = c.X.Within(100 * (e.Probability + d))
			c.F(`<path class="error" d="%s"/>`,
				c.X.Whisker(100*(e.Probability-d), 100*(e.Probability+d), at))
		}
		c.F(`<text class="note" x="%.1f" y="%.1f">%s</text>`, end+7, at+4,
			draw.Decimal(100*e.Probability, 1))
	}
	return svgOf(c, title)
}

// errorOf is a standard error, 0 where it is not known.
func errorOf(e *infill.Estimate) float64 {
	if e.Error == nil {
		return 0
	}
	return *e.Error
}

// probabilities adds the drawings of a record: a chart of each blank, and one of whole texts.
func (f *figures) probabilities(text string, of *infill.Marginals) {
	add := func(i int, m *infill.Marginal, what string) {
		title := fmt.Sprintf("Probabilities of %s", what)
		f.add(bars(m, i, title), fmt.Sprintf("%s. %s", title, origin(of, m)))
	}
	for i := range of.Blanks {
		add(i, &of.Blanks[i], fmt.Sprintf("blank %d of “%s”", i+1, text))
	}
	add(len(of.Blanks), &of.Fillings, fmt.Sprintf("whole fillings of “%s”", text))
}

// origin says how probabilities came about.
func origin(of *infill.Marginals, m *infill.Marginal) string {
	rest := fmt.Sprintf("Others have %s %%.", draw.Decimal(100*(m.Rest+undrawn(m)), 1))
	if of.Draws == 0 {
		return "Computed, not sampled. " + rest
	}
	return fmt.Sprintf("From %d sampled states, with one standard error to each side. %s",
		of.Draws, rest)
}

// undrawn is the probability of texts that are listed but have no bar.
func undrawn(m *infill.Marginal) float64 {
	sum := 0.0
	for i := drawnBars; i < len(m.Likeliest); i++ {
		sum += m.Likeliest[i].Probability
	}
	return sum
}
