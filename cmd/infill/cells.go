package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"infill/cmd/infill/internal/console"
	"infill/infill"
	"infill/internal/textline"
)

// What tables for people are made of.

// percent is a share as a column of a table.
func percent(share float64) string {
	if share > 0 && share < .0005 {
		return " <0.1 %"
	}
	return fmt.Sprintf("%5.1f %%", 100*share)
}

// plusMinus is a standard error as a column of a table, in percent.
func plusMinus(e *float64) string {
	switch {
	case e == nil:
		return "±   ?"
	case *e > 0 && *e < .0005:
		return "± 0.1"
	}
	return fmt.Sprintf("±%4.1f", 100**e)
}

// besides are the parts of a score, the model's first and the others by their names, with space
// behind them; "" for a score without parts.
func besides(parts map[string]float64) string {
	if parts == nil {
		return ""
	}
	names := slices.Sorted(maps.Keys(parts))
	names = slices.DeleteFunc(names, func(n string) bool { return n == infill.ModelEnergy })
	names = slices.Insert(names, 0, infill.ModelEnergy)
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %.2f", n, parts[n])
	}
	return "(" + strings.Join(names, ", ") + ")  "
}

// shown is a text as it may be printed on a writer.
func shown(out io.Writer, text string) string {
	if console.IsTerminal(out) {
		return textline.Printable(text)
	}
	return text
}
