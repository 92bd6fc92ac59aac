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

// A tally has lists of texts by pairs of keys, in the order in which these came.
type tally struct {
	keys [][2]string
	of   map[[2]string][]string
}

func (t *tally) add(a, b, text string) {
	k := [2]string{a, b}
	if t.of == nil {
		t.of = map[[2]string][]string{}
	}
	if t.of[k] == nil {
		t.keys = append(t.keys, k)
	}
	t.of[k] = append(t.of[k], text)
}

// warnings collects the metrics' warnings, each once, with where it applies: the rows, unless it is
// all of them, and the metrics. A word for the rows stands before their names.
func warnings(rows []measure.Row, word string) (out []string) {
	var names, headings tally
	for _, r := range rows {
		for _, m := range r.Metrics {
			for _, w := range m.Warnings {
				names.add(w, heading(m.Group, m.Label, m.Unit), r.Name)
			}
		}
	}
	for _, k := range names.keys {
		who := ""
		if of := names.of[k]; word != "" || len(of) < len(rows) {
			who = word + strings.Join(of, ", ") + ": "
		}
		headings.add(who, k[0], k[1])
	}
	for _, k := range headings.keys {
		out = append(out, fmt.Sprintf("%s%s: %s", k[0], strings.Join(headings.of[k], ", "), k[1]))
	}
	return out
}
