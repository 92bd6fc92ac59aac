package show

import (
	"fmt"
	"slices"

	"infill/internal/count"
	"infill/report/draw"
	"infill/report/measure"
)

// Compare is the document of a comparison: DLP's Table 3, the differences if there are any, and
// what the runs cost, then signatures, notes and warnings. Markdown and pages have examples too,
// with repeated words marked, and pages charts.
func Compare(r *measure.CompareResult) *Document {
	by := r.Differences // which are marked by
	if r.Unequal {
		by = nil
	}
	best, cost := across("sampler", r.Rows, isQuality, by), across("sampler", r.Rows, isCost, by)
	for i := range min(len(r.Params), len(best.Lines)) {
		best.Lines[i].Note = r.Params[i]
	}
	best.Heading, best.Title = "Diversity and quality", "Diversity and quality"
	best.Caption = "Lower self-BLEU and more unique n-grams mean more diverse fillings; " +
		"higher corpus BLEU means closer to the references. " + intervalNote(r.Rows)
	if len(by) > 0 {
		best.Caption = "Underlined: best of its column, where the intervals of differences are " +
			"without 0. " + best.Caption
	}
	cost.Heading, cost.Title = "Runs", "What the runs cost"
	cost.Caption = "Distinct fillings are counted over all chains of a sentence, " +
		"before the best are kept."
	d := page{
		Opening: []string{r.Title}, Title: r.Title, Lede: r.Protocol,
		Facts: given([][2]string{
			{"protocol", r.Protocol}, {"model", r.Model}, {"command", r.Command}, {"version", r.Version},
			{"date", r.Date}, {"settings", r.Settings}, {"seed", fmt.Sprint(r.Seed)},
		}),
		Tables: []*table{best, cost}, Gold: r.Gold, Examples: r.Examples,
		References: inWords(r.References), Notes: r.Notes, Version: r.Version,
		Signatures: signatures(r.Rows),
		Warnings:   append(warnings(r.Rows, ""), warnings(r.Differences, "differences of ")...),
		Figures:    compareFigures(r),
	}
	if r.Protocol != "" {
		d.Opening = append(d.Opening, r.Protocol)
	}
	if len(r.Differences) > 0 {
		t := differences("sampler", "sources", r.Differences, r.Rows, r.Level)
		t.split = slices.IndexFunc(metricsOf(r.Differences), isCost)
		d.Tables = []*table{best, t, cost}
	}
	if r.Gold != nil {
		if r.Gold.Signature != "" {
			d.Signatures = append(d.Signatures, signed{Metric: *r.Gold, Heading: r.Gold.Label})
		}
		for _, w := range r.Gold.Warnings {
			d.Warnings = append(d.Warnings, r.Gold.Label+": "+w)
		}
	}
	return &Document{d, r}
}

// isCost reports whether a metric stands beside DLP's table, of what the runs cost.
func isCost(m measure.Metric) bool { return m.OfRun }

func isQuality(m measure.Metric) bool { return !m.OfRun }

// compareFigures are the plane and the courses of the chains.
func compareFigures(r *measure.CompareResult) (out figures) {
	var points []planePoint
	colour := map[string]int{}
	key, xLabel := "bleu", "corpus BLEU (closer to the references is right)"
	if !slices.ContainsFunc(metricsOf(r.Rows), func(m measure.Metric) bool { return m.Key == key }) {
		key, xLabel = "score", "mean score (nats)"
	}
	for i, row := range r.Rows {
		colour[row.Name] = i
		x, _ := row.Get(key)
		y, _ := row.Get("self_bleu")
		points = append(points, planePoint{row.Name, x, y})
	}
	out.add(plane(points, r.Gold, xLabel),
		"The diversity–quality plane, one point per sampler. "+intervalNote(r.Rows))
	var energies, accepted []draw.Line
	xLabel = "model evaluations per chain"
	for _, t := range r.Traces {
		i := colour[t.Sampler]
		l := draw.Line{Name: draw.Shorten(t.Sampler, draw.NameLetters), Series: i, Dashes: i, X: t.X}
		l.Y, l.SE = t.Energy, t.Error
		energies = append(energies, l)
		l.X, l.Y, l.SE = t.X[:len(t.Acceptance)], nil, nil
		for _, a := range t.Acceptance {
			l.Y = append(l.Y, 100*a)
		}
		accepted = append(accepted, l)
	}
	out.add(courses(energies, xLabel, "mean energy U (nats)", false),
		"Mean energy of the chains as they run, averaged over chains "+
			"and then over sentences; shaded: ± one standard error over sentences.")
	out.add(courses(accepted, xLabel, "accepted moves (%)", true),
		"Share of accepted moves among those that all chains "+
			"propose at each step, for the samplers that have an acceptance step, while half of the "+
			"chains or more still run.")
	return out
}

// Cloze is the document of words that came back: the shares of each run, and the differences.
func Cloze(r *measure.ClozeResult) *Document {
	d := page{
		Opening: []string{count.Of(r.Lines, "line") + ", " + r.Protocol}, Title: r.Title,
		Facts: clozeFacts(r), Tables: []*table{across("run", r.Rows, nil, nil)}, Notes: r.Notes,
		Warnings: append(warnings(r.Rows, ""), warnings(r.Differences, "differences of ")...),
	}
	if len(r.Differences) > 0 {
		d.Tables = append(d.Tables, differences("run", "lines", r.Differences, r.Rows, r.Level))
	}
	return &Document{d, r}
}

// clozeFacts are the lines under the title.
func clozeFacts(r *measure.ClozeResult) [][2]string {
	out := [][2]string{{"protocol", count.Of(r.Lines, "line") + ", " + r.Protocol}}
	for _, m := range r.Models {
		out = append(out, [2]string{"model", m})
	}
	return append(out, given([][2]string{
		{"intervals", fmt.Sprintf("± half of one of level %g, over the lines", r.Level)},
		{"command", r.Command}, {"version", r.Version}, {"date", r.Date}, {"seed", fmt.Sprint(r.Seed)},
	})...)
}
