// Package draw has what the charts of this program share: axes with round ticks, and
// one style sheet for light, dark and printed pages. Charts are SVG. Their colours are CSS
// classes, so that one drawing serves all three.
package draw

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Style is the style sheet of drawings: the colours as variables, and the classes grid,
// axis, tick, title, note, name, error, whisker, m, open and s0 to s7.
//
//go:embed style.css
var Style string

// An Axis maps values to a range of the chart.
type Axis struct {
	Lo, Hi   float64 // values at the ends
	From, To float64 // drawing coordinates of Lo and Hi
	Ticks    []float64
	Digits   int // of the ticks, after the point
	Label    string
	// Share is how far a value lies from Lo to Hi, from 0 to 1, and Name the text of a tick, where the
	// axis is not linear. A value that has no finite share has no place.
	Share func(v float64) float64
	Name  func(v float64) string
}

// Nice is a linear axis that covers lo to hi, and a little more, with round ticks, about n of them.
func Nice(lo, hi float64, n int, label string) Axis {
	if !(hi > lo) {
		pad := math.Max(1, math.Abs(lo)*0.05)
		lo, hi = lo-pad, hi+pad
	}
	raw := (hi - lo) / float64(n)
	step := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, k := range []float64{1, 2, 2.5, 5, 10} {
		if step*k >= raw*0.999 {
			step *= k
			break
		}
	}
	a := Axis{Lo: math.Floor(lo/step+1e-9) * step, Hi: math.Ceil(hi/step-1e-9) * step, Label: label}
	for k := 0; ; k++ {
		v := a.Lo + float64(k)*step
		if v > a.Hi+step/2 || k > 50 {
			break
		}
		a.Ticks = append(a.Ticks, v)
	}
	for a.Digits = 0; a.Digits < 6; a.Digits++ {
		scaled := step * math.Pow(10, float64(a.Digits))
		if math.Abs(scaled-math.Round(scaled)) < 1e-6*scaled {
			break
		}
	}
	return a
}

// At is the place of a value. Values outside the axis have places outside its range.
func (a Axis) At(v float64) float64 {
	share := (v - a.Lo) / (a.Hi - a.Lo)
	if a.Share != nil {
		share = a.Share(v)
	}
	return a.From + share*(a.To-a.From)
}

// has reports whether a value has a place.
func (a Axis) has(v float64) bool { return finite(v) && (a.Share == nil || finite(a.Share(v))) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Within is the place of a value, that of the nearer end for one outside the axis.
func (a Axis) Within(v float64) float64 { return a.At(math.Min(math.Max(v, a.Lo), a.Hi)) }

// Tick is the text of a tick.
func (a Axis) Tick(v float64) string {
	if a.Name != nil {
		return a.Name(v)
	}
	return Decimal(v, a.Digits)
}

// Decimal prints a value with digits after the point and a real minus sign.
func Decimal(v float64, digits int) string {
	if math.Abs(v) < 1e-12 {
		v = 0
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', digits, 64), "-", "−", 1)
}

// Text escapes text for an SVG's elements and attributes. Control characters, which XML
// forbids, become replacement characters, and line ends spaces.
func Text(s string) string { return html.EscapeString(Plain(s)) }

// Plain is text of one line that cannot command a terminal or turn the text around it.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return '\ufffd'
		}
		return r
	}, s)
}

// Whisker is the path of an interval of values along an x axis, at y, with ends of height 8. What
// is outside the axis is cut off.
func (a Axis) Whisker(low, high, y float64) string {
	from, to := a.Within(low), a.Within(high)
	return fmt.Sprintf("M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8", from, y, to, from, y-4, to, y-4)
}

// The size of a chart, in units of the drawing, in which text has 12.5. Two stand beside each other
// on a page, and one fills a narrow screen.
const (
	Width  = 480.0
	height = 330.0
)

// Margins between a chart and the frame of its axes.
const (
	marginLeft   = 68.0
	marginRight  = 104.0 // room for names
	marginTop    = 34.0
	marginBottom = 50.0
)

// NameLetters is how many letters of a line's name fit beside it.
const NameLetters = 13

// LineHeight is the height of a name.
const LineHeight = 15.0

const colours = 8 // of the style sheet

// A Chart is drawn into a frame of two axes. Its axes have the places of the frame, which may be
// changed before anything is drawn.
type Chart struct {
	X, Y   Axis
	Height float64 // of the whole drawing

	out strings.Builder
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

// NewChart is a chart of [Width] and of the height that all have at first.
func NewChart(x, y Axis) *Chart {
	x.From, x.To = marginLeft, Width-marginRight
	y.From, y.To = height-marginBottom, marginTop
	return &Chart{X: x, Y: y, Height: height}
}

// F writes an element of the drawing. Texts in it go through [Text].
func (c *Chart) F(format string, args ...any) { fmt.Fprintf(&c.out, format+"\n", args...) }

// Frame is where the upper and the lower end of the frame are. The y axis may be reversed.
func (c *Chart) Frame() (top, bottom float64) {
	return math.Min(c.Y.From, c.Y.To), math.Max(c.Y.From, c.Y.To)
}

// Axes draws the grid, the axes with their ticks, and their labels.
func (c *Chart) Axes() {
	x, y := c.X, c.Y
	top, bottom := c.Frame()
	for _, v := range x.Ticks {
		c.F(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x.At(v), top, x.At(v), bottom)
		c.F(`<text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, x.At(v), bottom+17,
			Text(x.Tick(v)))
	}
	for _, v := range y.Ticks {
		c.F(`<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x.From, y.At(v), x.To,
			y.At(v))
		c.F(`<text class="tick" x="%.1f" y="%.1f" text-anchor="end">%s</text>`, x.From-7, y.At(v)+4,
			Text(y.Tick(v)))
	}
	c.F(`<path class="axis" d="M%.1f %.1fV%.1fH%.1f"/>`, x.From, top, bottom, x.To)
	c.F(`<text class="title" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, (x.From+x.To)/2,
		bottom+38, Text(x.Label))
	c.F(`<text class="title" transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle">`+
		`%s</text>`, 14.0, (top+bottom)/2, Text(y.Label))
}

// Lines draws lines, and their names beside their last points.
func (c *Chart) Lines(lines []Line) {
	for _, l := range lines {
		c.line(l)
	}
	for i, at := range c.names(lines) {
		if l := lines[i]; !math.IsNaN(at) {
			c.F(`<text class="name %s" x="%.1f" y="%.1f">%s</text>`, Colour(l.Series), c.X.To+8, at+4,
				Text(l.Name))
		}
	}
}

// line draws a line with its errors.
func (c *Chart) line(l Line) {
	c.F(`<g class="%s"><title>%s</title>`, Colour(l.Series), Text(l.Name))
	var path, up []byte
	var back []string
	pen := "M"
	for i := range l.X {
		if !c.shows(l, i) {
			pen = "M"
			continue
		}
		x, v := c.X.At(l.X[i]), l.Y[i]
		path = fmt.Appendf(path, "%s%.1f %.1f", pen, x, c.Y.At(v))
		pen = "L"
		if l.SE == nil || math.IsNaN(l.SE[i]) {
			continue
		}
		hi, lo := c.Y.Within(v+l.SE[i]), c.Y.Within(v-l.SE[i])
		if l.Marks {
			c.F(`<path class="whisker" d="M%.1f %.1fV%.1f"/>`, x, lo, hi)
			continue
		}
		up = fmt.Appendf(up, "L%.1f %.1f", x, hi)
		back = append(back, fmt.Sprintf("L%.1f %.1f", x, lo))
	}
	if len(back) > 1 {
		slices.Reverse(back)
		c.F(`<path class="band" d="M%s%sZ"/>`, up[1:], strings.Join(back, ""))
	}
	c.F(`<path class="line dash%d" d="%s"/>`, (l.Dashes+l.Series/colours)%4, path)
	for i := range l.X {
		if l.Marks && c.shows(l, i) {
			c.Mark(l.Shape, "m", c.X.At(l.X[i]), c.Y.At(l.Y[i]), 3.6)
		}
	}
	c.F("</g>")
}

// Mark draws a mark of a radius around (x, y). There are six shapes, so that colour is not needed
// to tell them apart. The class says how it is filled.
func (c *Chart) Mark(shape int, class string, x, y, r float64) {
	switch shape % 6 {
	case 0:
		c.F(`<circle class="%s" cx="%.1f" cy="%.1f" r="%.1f"/>`, class, x, y, r)
	case 1:
		c.F(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`,
			class, x-r*.9, y-r*.9, 1.8*r, 1.8*r)
	case 2:
		c.F(`<path class="%s" d="M%.1f %.1fl%.1f %.1fh%.1fz"/>`, class, x, y-1.2*r, 1.15*r, 2.1*r, -2.3*r)
	case 3:
		c.F(`<path class="%s" d="M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz"/>`,
			class, x, y-1.3*r, 1.3*r, 1.3*r, -1.3*r, 1.3*r, -1.3*r, -1.3*r)
	case 4:
		c.F(`<path class="%s" d="M%.1f %.1fl%.1f %.1fh%.1fz"/>`,
			class, x, y+1.2*r, 1.15*r, -2.1*r, -2.3*r)
	default:
		c.F(`<path class="x" d="M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f"/>`,
			x-r, y-r, 2*r, 2*r, -2*r, -2*r, 2*r)
	}
}

// shows reports whether point i of a line has a place.
func (c *Chart) shows(l Line, i int) bool { return c.X.has(l.X[i]) && c.Y.has(l.Y[i]) }

// names are the places of the lines' names on the y axis: those of their last points, moved
// apart. A line without points has NaN.
func (c *Chart) names(lines []Line) []float64 {
	at := make([]float64, len(lines))
	var order []int
	for i, l := range lines {
		at[i] = math.NaN()
		for j := range l.X {
			if c.shows(l, j) {
				at[i] = c.Y.At(l.Y[j])
			}
		}
		if !math.IsNaN(at[i]) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	for range 500 { // push neighbours apart until nothing overlaps
		moved := false
		for k := 1; k < len(order); k++ {
			if d := LineHeight - (at[order[k]] - at[order[k-1]]); d > 0.01 {
				at[order[k-1]] -= d / 2
				at[order[k]] += d / 2
				moved = true
			}
		}
		if !moved {
			break
		}
	}
	ceiling, floor := c.Frame() // that names keep to, the floor before the ceiling
	for _, i := range order {
		at[i] = math.Max(at[i], ceiling)
		ceiling = at[i] + LineHeight
	}
	for _, i := range slices.Backward(order) {
		at[i] = math.Min(at[i], floor)
		floor = at[i] - LineHeight
	}
	return at
}

// Elements are what has been drawn, for a drawing that has more in it.
func (c *Chart) Elements() string { return c.out.String() }

// SVG is the drawing, as an element of a page that has [Style]. title is its text alternative.
func (c *Chart) SVG(title string) string {
	return fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s</svg>`,
		Width, c.Height, Text(title), c.Elements())
}

// Colour is the class of a series.
func Colour(series int) string { return fmt.Sprintf("s%d", series%colours) }

// Shorten cuts a name to n letters.
func Shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
