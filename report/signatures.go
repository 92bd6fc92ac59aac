package report

import (
	"slices"
	"strings"
)

// signed is one line of a list of signatures: what has it, and in which rows unless
// every row has it.
type signed struct {
	Heading, Signature, Rows string
}

// signatures lists the rows' signatures in the order of the columns. To keep the
// list short, signatures that differ in one field only are written once with the
// values in braces, as in n:{2,3} for two columns of a group or N:{60,100} for two
// rows; the JSON form and the tooltips have every signature in full.
func signatures(rows []Row) []signed {
	if len(rows) == 0 {
		return nil
	}
	var out []signed
	last := "" // family of the line before
	for c, m := range rows[0].Metrics {
		var lines []signed
		for _, r := range rows {
			if sig := r.Metrics[c].Signature; sig != "" {
				lines = fold(lines, signed{m.Heading(), sig, r.Name}, "N")
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
			if sig, ok := merge(out[n-1].Signature, lines[0].Signature, "n"); ok {
				out[n-1].Signature = sig
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
		if sig, ok := merge(list[i].Signature, s.Signature, field); ok {
			list[i].Signature = sig
			list[i].Rows += ", " + s.Rows
			return list
		}
	}
	return append(list, s)
}

// merge joins two signatures that are equal or differ in the named field only.
func merge(a, b, field string) (string, bool) {
	if a == b {
		return a, true
	}
	x, y := strings.Split(a, "|"), strings.Split(b, "|")
	if len(x) != len(y) {
		return "", false
	}
	for i := range x {
		if x[i] == y[i] {
			continue
		}
		v, ok1 := strings.CutPrefix(x[i], field+":")
		w, ok2 := strings.CutPrefix(y[i], field+":")
		if !ok1 || !ok2 {
			return "", false
		}
		values := strings.Split(strings.Trim(v, "{}"), ",")
		if !slices.Contains(values, w) {
			values = append(values, w)
		}
		x[i] = field + ":{" + strings.Join(values, ",") + "}"
	}
	return strings.Join(x, "|"), true
}
