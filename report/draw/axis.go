// Package draw has what the charts of this program share: axes with round ticks, and
// one style sheet for light, dark and printed pages. Charts are SVG. Their colours are CSS
// classes, so that one drawing serves all three.
package draw

import (
	_ "embed"
	"fmt"
	"html"
	"math"
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
	Lo, Hi   float64 // values at the ends; of a logarithmic axis above 0
	From, To float64 // drawing coordinates of Lo and Hi
	Ticks    []float64
	Digits   int // of the ticks of a linear axis, after the point
	Label    string
	Log      bool
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

// At is the place of a value. Values outside the axis have places outside its range, and 0
// on a logarithmic axis has none: −Inf or Inf.
func (a Axis) At(v float64) float64 {
	if a.Log {
		return a.From + math.Log(v/a.Lo)/math.Log(a.Hi/a.Lo)*(a.To-a.From)
	}
	return a.From + (v-a.Lo)/(a.Hi-a.Lo)*(a.To-a.From)
}

// Shows reports whether a value has a place within the axis.
func (a Axis) Shows(v float64) bool { return v >= a.Lo && v <= a.Hi }

// Within is the place of a value, that of the nearer end for one outside the axis.
func (a Axis) Within(v float64) float64 { return a.At(math.Min(math.Max(v, a.Lo), a.Hi)) }

// Tick is the text of a tick.
func (a Axis) Tick(v float64) string {
	if !a.Log {
		return Decimal(v, a.Digits)
	}
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
