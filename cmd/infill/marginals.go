package main

import (
	"fmt"
	"math"
	"strings"

	"infill/infill"
)

// marginalsTable is the table of probabilities below the fillings of a text. clean makes a text fit
// for the screen.
func marginalsTable(m *infill.Marginals, clean func(string) string) string {
	var b strings.Builder
	part := func(title string, m *infill.Marginal) {
		fmt.Fprintf(&b, "\n%s, %d different\n", title, m.Distinct)
		for _, e := range m.Likeliest {
			fmt.Fprintf(&b, "%s %s  %s\n", percent(e.Probability), plusMinus(e.Error), clean(e.Text))
		}
		if rest := m.Rest(); m.Distinct > len(m.Likeliest) {
			fmt.Fprintf(&b, "%s        (others)\n", percent(rest))
		}
	}
	for i := range m.Blanks {
		part(fmt.Sprintf("blank %d", i+1), &m.Blanks[i])
	}
	part("whole texts", &m.Fillings)
	return b.String()
}

// plusMinus is a standard error as a column of a table, in percent.
func plusMinus(e float64) string {
	switch {
	case math.IsNaN(e):
		return "±   ?"
	case e > 0 && e < .0005:
		return "± 0.1"
	}
	return fmt.Sprintf("±%4.1f", 100*e)
}
