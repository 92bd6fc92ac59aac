package lab

import (
	"fmt"
	"math"
	"strings"

	"infill/report/draw"
)

// Table is a Markdown table, without the last line end. The first row is its head.
func Table(rows ...[]string) string {
	var b strings.Builder
	for j, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
		if j == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(r)) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Num prints a number with digits after the point, and a real minus sign.
func Num(v float64, digits int) string {
	if math.IsNaN(v) {
		return "–"
	}
	return draw.Decimal(v, digits)
}

// A Spread is the mean of repetitions and its standard error, which is NaN for a single one.
type Spread struct{ Mean, SE float64 }

// Over is the spread of repetitions.
func Over(x []float64) Spread {
	n, sum, sq := float64(len(x)), 0.0, 0.0
	for _, v := range x {
		sum += v
	}
	for _, v := range x {
		sq += (v - sum/n) * (v - sum/n)
	}
	return Spread{sum / n, math.Sqrt(sq / (n - 1) / n)}
}

// Format prints the mean and, if there is one, the standard error.
func (s Spread) Format(digits int) string {
	if math.IsNaN(s.SE) {
		return Num(s.Mean, digits)
	}
	return Num(s.Mean, digits) + " ± " + Num(s.SE, digits)
}
