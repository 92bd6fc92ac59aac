package show

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"infill/report/draw"
	"infill/report/measure"
)

// A figure is a drawing with its caption.
type figure struct {
	SVG     template.HTML
	Caption string
}

// figures are the figures of a page.
type figures []figure

// add adds a drawing; "" is none.
func (f *figures) add(svg template.HTML, caption string) {
	if svg != "" {
		*f = append(*f, figure{svg, caption})
	}
}

// svgOf closes a chart. title is its text alternative.
func svgOf(c *draw.Chart, title string) template.HTML {
	return template.HTML(c.SVG(title)) //nolint:gosec // every text in it went through draw.Text
}

// extent is the range of the values that there are, with their errors; lo is above hi without any.
func extent(lines []draw.Line) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for k, y := range l.Y {
			if math.IsNaN(y) {
				continue
			}
			e := 0.0
			if l.SE != nil && !math.IsNaN(l.SE[k]) {
				e = l.SE[k]
			}
			lo, hi = math.Min(lo, y-e), math.Max(hi, y+e)
		}
	}
	return lo, hi
}

// courses draws the courses of chains. With percent the y axis runs from 0 to 100.
func courses(lines []draw.Line, xLabel, yLabel string, percent bool) template.HTML {
	right := 0.0
	for _, l := range lines {
		for k, y := range l.Y {
			if !math.IsNaN(y) {
				right = math.Max(right, l.X[k])
			}
		}
	}
	lo, hi := extent(lines)
	if lo > hi {
		return ""
	}
	if percent {
		lo, hi = 0, 100
	}
	c := draw.NewChart(draw.Nice(0, right, 5, xLabel), draw.Nice(lo, hi, 5, yLabel))
	c.Axes()
	c.Lines(lines)
	return svgOf(c, yLabel+" against "+xLabel)
}

// profile draws unique n-grams against the set itself over the orders.
func profile(rows []measure.Row) template.HTML {
	orders := ordersOf(rows)
	if len(orders) < 2 {
		return ""
	}
	x := draw.Axis{Lo: float64(orders[0]), Hi: float64(orders[len(orders)-1]), Label: "n-gram order n"}
	for _, n := range orders {
		x.Ticks = append(x.Ticks, float64(n))
	}
	var all []float64
	lines := make([]draw.Line, len(rows))
	for i, r := range rows {
		l := draw.Line{Name: draw.Shorten(r.Name, draw.NameLetters), Series: i, Dashes: i, Shape: i,
			Marks: true}
		for _, n := range orders {
			if m, ok := r.Get(fmt.Sprintf("unique.self.%d", n)); ok && m.OK() {
				l.X, l.Y = append(l.X, float64(n)), append(l.Y, m.Value)
			}
		}
		all = append(all, l.Y...)
		lines[i] = l
	}
	if len(all) == 0 {
		return ""
	}
	lo, hi := padded(all)
	c := draw.NewChart(x, draw.Nice(lo, math.Min(hi, 100), 5, "n-grams that occur once (%)"))
	c.Axes()
	c.Lines(lines)
	return svgOf(c, "n-grams that occur once, by order")
}

// ordersOf lists the orders of unique n-grams, ascending.
func ordersOf(rows []measure.Row) []int {
	var out []int
	for _, m := range metricsOf(rows) {
		var n int
		if rest, ok := strings.CutPrefix(m.Key, "unique.self."); ok {
			if _, err := fmt.Sscanf(rest, "%d", &n); err == nil {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// padded is the range of the values that there are, and a little more.
func padded(v []float64) (lo, hi float64) {
	lo, hi = extent([]draw.Line{{Y: v}})
	d := (hi - lo) * 0.06
	if lo >= 0 {
		return math.Max(0, lo-d), hi + d
	}
	return lo - d, hi + d
}
