package show

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"infill/report/measure"
)

// Eval is the document of an evaluation: one row per metric, one column per file, the differences
// if there are any, then signatures, notes and warnings. A page has charts too.
func Eval(r *measure.EvalResult) *Document {
	equal := true // numbers of sentences
	for _, f := range r.Files {
		equal = equal && f.N == r.Files[0].N
	}
	by := r.Differences // which are marked by
	if !equal {
		by = nil
	}
	t := across("", r.Rows, nil, by)
	t.Title = "Metrics"
	if len(by) > 0 {
		t.Caption = "Underlined: best of its row, where the intervals of differences are without 0. "
	}
	t.Caption = strings.TrimSpace(t.Caption + intervalNote(r.Rows))
	d := page{
		Title: "Evaluation of generated sentences", Facts: evalFacts(r),
		Tables:     []*table{t.turned("metric")},
		References: inWords(r.References), Notes: r.Notes, Version: r.Version,
		Signatures: signatures(r.Rows), Figures: evalFigures(r), Examples: r.Examples, OfFiles: true,
	}
	if len(r.ByLabel) > 0 {
		t := across("label", r.ByLabel, nil, nil)
		t.Note, t.Heading, t.Title = "by label", "By label", "By label"
		t.Caption = "Self-BLEU and distinct n-grams depend on the number of sentences."
		for i := range t.Lines {
			t.Lines[i].Key = "" // a line is not a file
		}
		d.Tables = append(d.Tables, t)
	}
	if len(r.Differences) > 0 {
		t := differences("", "sources", r.Differences, r.Rows, r.Level)
		d.Tables = append(d.Tables, t.turned("metric"))
	}
	var of tally
	for _, f := range r.Files {
		for _, w := range f.Warnings {
			of.add(w, "", f.Name)
		}
	}
	for _, k := range of.keys {
		d.Warnings = append(d.Warnings, strings.Join(of.of[k], ", ")+": "+k[0])
	}
	d.Warnings = slices.Concat(d.Warnings, warnings(r.Rows, ""), warnings(r.ByLabel, "label "),
		warnings(r.Differences, "differences of "))
	return &Document{d, r}
}

// evalFacts are the lines under the title.
func evalFacts(r *measure.EvalResult) [][2]string {
	var out [][2]string
	for _, f := range r.Files {
		out = append(out, [2]string{f.Name, f.String()})
	}
	return append(out, given([][2]string{
		{"command", r.Command}, {"version", r.Version}, {"date", r.Date}, {"settings", r.Settings},
		{"seed", fmt.Sprint(r.Seed)},
	})...)
}

// evalFigures are the plane, the orders of n-grams, and the probabilities of the files' records.
func evalFigures(r *measure.EvalResult) (out figures) {
	var points []planePoint
	for _, row := range r.Rows {
		x := measure.Metric{Value: math.NaN()}
		for _, m := range row.Metrics {
			if strings.HasPrefix(m.Key, "bleu") { // that of all references is the last
				x = m
			}
		}
		y, _ := row.Get("self_bleu")
		points = append(points, planePoint{row.Name, x, y})
	}
	if len(points) > 1 {
		out.add(plane(points, nil, "corpus BLEU (closer to the references is right)"),
			"The diversity–quality plane, one point per file. "+intervalNote(r.Rows))
	}
	out.add(profile(r.Rows), "Share of n-grams that occur exactly once in the file, by order.")
	for _, f := range r.Files {
		for i := range f.Probabilities {
			out.probabilities(f.Probabilities[i].Text, f.Probabilities[i].Marginals)
		}
	}
	return out
}
