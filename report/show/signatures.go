package show

import (
	"fmt"
	"strings"

	"infill/report/measure"
)

// signed is one line of a list of signatures: what has it, and in which rows unless
// every row has it.
type signed struct {
	measure.Metric
	Heading, Rows string
}

// signatures lists the rows' signatures in the order of the columns. To keep the
// list short, signatures that differ in one field only are written once with the
// values in braces, as in n:{2,3} for two columns of a group or N:{60,100} for two
// rows; the JSON form and the tooltips have every signature in full.
func signatures(rows []measure.Row) []signed {
	if len(rows) == 0 {
		return nil
	}
	var out []signed
	last := "" // family of the line before
	for c, m := range rows[0].Metrics {
		var lines []signed
		for _, r := range rows {
			if sig := r.Metrics[c].Signature; sig != "" {
				lines = fold(lines, signed{r.Metrics[c], heading(m.Group, m.Label, m.Unit), r.Name}, "N")
			}
		}
		if len(lines) == 0 {
			continue
		}
		if len(lines) == 1 {
			lines[0].Rows = ""
		}
		family := m.Group
		if family == "" {
			family, _, _ = strings.Cut(m.Key, ".")
		}
		if n := len(out); family == last && len(lines) == 1 && out[n-1].Rows == "" {
			if out[n-1].Join(lines[0].Signature, "n") {
				out[n-1].Heading = m.Group
				if m.Group == "" {
					out[n-1].Heading = family
				}
				continue
			}
		}
		out = append(out, lines...)
		last = family
	}
	return out
}

// fold adds a line to the list, into a line that differs in the named field only.
func fold(list []signed, s signed, field string) []signed {
	for i := range list {
		if list[i].Join(s.Signature, field) {
			list[i].Rows += ", " + s.Rows
			return list
		}
	}
	return append(list, s)
}

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
