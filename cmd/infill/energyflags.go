package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"infill/infill"
)

// energiesOf writes the parts of a score, the model's first and the others by their names.
func energiesOf(parts map[string]float64) string {
	names := slices.Sorted(maps.Keys(parts))
	names = slices.DeleteFunc(names, func(n string) bool { return n == infill.ModelEnergy })
	names = slices.Insert(names, 0, infill.ModelEnergy)
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %.2f", n, parts[n])
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// besides is energiesOf with space behind it, "" for a score without parts.
func besides(parts map[string]float64) string {
	if parts == nil {
		return ""
	}
	return energiesOf(parts) + "  "
}
