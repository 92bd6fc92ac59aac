package report

import (
	"fmt"
	"html/template"
	"math"

	"infill/infill/jsonl"
	"infill/report/draw"
)

// Probabilities are those of the words of a text's blanks and of its fillings, as its record has
// them.
type Probabilities struct {
	Text      string           `json:"text"`
	Marginals *jsonl.Marginals `json:"marginals"`
}

// The drawings of probabilities are those of the first records of each file, and of the likeliest
// texts.
const (
	drawnRecords = 3
	drawnBars    = 8
)

// bars draws probabilities as bars with their standard errors. It returns "" for none.
func bars(m *jsonl.Marginal, series int, title string) template.HTML {
	list := m.Likeliest[:min(drawnBars, len(m.Likeliest))]
	if len(list) == 0 {
		return ""
	}
	most := 0.0
	for _, e := range list {
		most = math.Max(most, 100*(e.Probability+errorOf(&e)))
	}
	const row = 40
	s := half
	s.height = row*float64(len(list)) + 64
	c := newChart(s, 66, draw.Nice(0, math.Min(most, 100), s.ticks, "probability in %"),
		draw.Axis{Hi: 1})
	c.left, c.x.From, c.y.Ticks = 18, 18, nil
	c.frame()
	for i, e := range list {
		y := c.top + row*float64(i)
		c.f(`<text x="%.1f" y="%.1f">%s</text>`, c.x.From+3, y+14, svgText(shorten(e.Text, 68)))
		to, at := c.x.At(100*e.Probability), y+26
		c.f(`<rect class="m s%d" x="%.1f" y="%.1f" width="%.1f" height="12"/>`,
			series%seriesClasses, c.x.From, at-6, math.Max(1, to-c.x.From))
		end := to
		if d := errorOf(&e); d > 0 {
			end = c.x.Within(100 * (e.Probability + d))
			c.f(`<path class="error" d="%s"/>`,
				draw.Whisker(c.x.Within(100*(e.Probability-d)), end, at))
		}
		c.f(`<text class="note" x="%.1f" y="%.1f">%s</text>`, end+7, at+4,
			draw.Decimal(100*e.Probability, 1))
	}
	return c.svg(title)
}

// errorOf is a standard error, 0 where it is not known.
func errorOf(e *jsonl.Estimate) float64 {
	if e.Error == nil {
		return 0
	}
	return *e.Error
}

// figures are the drawings of a record: a chart of each blank, and one of whole texts.
func (p *Probabilities) figures() figureRow {
	row := figureRow{Class: "pair"}
	add := func(i int, m *jsonl.Marginal, what string) {
		title := fmt.Sprintf("Probabilities of %s", what)
		if svg := bars(m, i, title); svg != "" {
			row.Items = append(row.Items, figure{svg, fmt.Sprintf("%s. %s", title, p.origin(m))})
		}
	}
	for i := range p.Marginals.Blanks {
		add(i, &p.Marginals.Blanks[i], fmt.Sprintf("blank %d of “%s”", i+1, p.Text))
	}
	add(len(p.Marginals.Blanks), &p.Marginals.Fillings, fmt.Sprintf("whole fillings of “%s”", p.Text))
	return row
}

// origin says how probabilities came about.
func (p *Probabilities) origin(m *jsonl.Marginal) string {
	rest := fmt.Sprintf("Others have %s %%.",
		draw.Decimal(100*(m.Rest+undrawn(m)), 1))
	if p.Marginals.Draws == 0 {
		return "Computed, not sampled. " + rest
	}
	return fmt.Sprintf("From %d sampled states, with one standard error to each side. %s",
		p.Marginals.Draws, rest)
}

// undrawn is the probability of texts that are listed but have no bar.
func undrawn(m *jsonl.Marginal) float64 {
	sum := 0.0
	for i := drawnBars; i < len(m.Likeliest); i++ {
		sum += m.Likeliest[i].Probability
	}
	return sum
}
