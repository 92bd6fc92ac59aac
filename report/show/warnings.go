package show

import (
	"fmt"
	"strings"

	"infill/report/measure"
)

// warnings collects the metrics' warnings, each once, with where it applies.
func warnings(rows []measure.Row) []string {
	type where struct{ text, heading string }
	names := map[where][]string{}
	var order []where
	for _, r := range rows {
		for _, m := range r.Metrics {
			for _, w := range m.Warnings {
				k := where{w, heading(m.Group, m.Label, m.Unit)}
				if names[k] == nil {
					order = append(order, k)
				}
				names[k] = append(names[k], r.Name)
			}
		}
	}
	var out []string
	for _, k := range order {
		who := ""
		if len(rows) > 1 && len(names[k]) < len(rows) {
			who = strings.Join(names[k], ", ") + ": "
		}
		out = append(out, fmt.Sprintf("%s%s: %s", who, k.heading, k.text))
	}
	return out
}

// differenceWarnings are the warnings of a table of differences, each once for a row, because most
// of its numbers have the same.
func differenceWarnings(rows []measure.Row) []string {
	var out []string
	for _, r := range rows {
		of := map[string][]string{}
		var order []string
		for _, m := range r.Metrics {
			for _, w := range m.Warnings {
				if of[w] == nil {
					order = append(order, w)
				}
				of[w] = append(of[w], heading(m.Group, m.Label, m.Unit))
			}
		}
		for _, w := range order {
			which := strings.Join(of[w], ", ")
			out = append(out, fmt.Sprintf("differences of %s (%s): %s", r.Name, which, w))
		}
	}
	return out
}
