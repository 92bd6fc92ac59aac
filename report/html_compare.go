package report

import (
	"io"
	"slices"
	"strings"
)

// WriteHTML writes the comparison as one self-contained file: tables, charts,
// examples and signatures, for light and dark screens and for print.
func (r *CompareResult) WriteHTML(w io.Writer) error {
	quality, run := halves(r.Rows)
	mark := !r.unequal
	t1, t2 := tableOf(r.Rows, quality, r.Params, mark), tableOf(r.Rows, run, nil, mark)
	t1.Title = "Diversity and quality"
	t1.Caption = "Lower self-BLEU and more unique n-grams mean more diverse fillings; " +
		"higher corpus BLEU means closer to the references. " + r.intervalNote()
	if mark {
		t1.Caption = "Underlined: best of its column, where the columns can be compared " +
			"and no intervals overlap. " + t1.Caption
	}
	t2.Title = "What the runs cost"
	t2.Caption = "Distinct fillings are counted over all chains of a sentence, " +
		"before the best are kept."
	tables := []htmlTable{t1, t2}
	if len(r.Differences) > 0 {
		t3 := tableOf(r.Differences, columns(r.Differences), nil, false)
		d := r.differed()
		for i := range t3.Rows {
			t3.Rows[i].Key.Class = d.class(r.Rows, i)
		}
		t3.Title, t3.Caption = d.title(), d.caption()
		tables = []htmlTable{t1, t3, t2}
	}
	p := &page{
		Title: r.Title, Lede: r.Protocol, Tables: tables, FiguresTitle: "Charts",
		Examples: r.Examples, References: referenceLines(r.References), Notes: r.Notes,
		Warnings: r.allWarnings(), Signatures: r.signed(),
		Footer: strings.TrimSpace("Made by infill " + r.Version),
	}
	for _, f := range r.facts() {
		if f[0] != "protocol" && f[0] != "version" {
			p.Facts = append(p.Facts, f)
		}
	}
	var points []planePoint
	colour := map[string]int{}
	key, xLabel := "bleu", "corpus BLEU (closer to the references is right)"
	if !slices.ContainsFunc(metricsOf(r.Rows), func(m Metric) bool { return m.Key == key }) {
		key, xLabel = keyScore, "mean score (nats)"
	}
	for i, row := range r.Rows {
		colour[row.Name] = i
		x, _ := row.Get(key)
		y, _ := row.Get(keySelfBLEU)
		points = append(points, planePoint{row.Name, x, y})
	}
	if svg := plane(points, r.Gold, xLabel); svg != "" {
		p.wide(svg, "The diversity–quality plane, one point per sampler. "+r.intervalNote())
	}
	var pair []figure
	energy := func(t Trace) ([]float64, []float64) { return t.Energy, t.Error }
	if svg := traceChart(r.Traces, colour, energy, "mean energy U (nats)", false); svg != "" {
		pair = append(pair, figure{svg, "Mean energy of the chains as they run, averaged over chains " +
			"and then over sentences; shaded: ± one standard error over sentences."})
	}
	accepted := func(t Trace) ([]float64, []float64) {
		out := make([]float64, len(t.Acceptance))
		for i, a := range t.Acceptance {
			out[i] = 100 * a
		}
		return out, nil
	}
	if svg := traceChart(r.Traces, colour, accepted, "accepted moves (%)", true); svg != "" {
		pair = append(pair, figure{svg, "Share of accepted moves among those that all chains " +
			"propose at each step, for the samplers that have an acceptance step, while half of the " +
			"chains or more still run."})
	}
	if len(pair) > 0 {
		p.Figures = append(p.Figures, figureRow{"pair", pair})
	}
	return render(w, p)
}
