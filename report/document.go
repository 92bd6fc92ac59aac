package report

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"

	"infill/internal/count"
)

// WriteText writes the result as a table for a terminal: one row per metric, one
// column per file, then signatures, notes and warnings. An asterisk marks a number
// that has a warning.
func (r *EvalResult) WriteText(w io.Writer) error { return r.document().text(w) }

// WriteMarkdown writes the result as a Markdown document.
func (r *EvalResult) WriteMarkdown(w io.Writer) error { return r.document().markdown(w) }

// WriteJSON writes the result as one indented JSON object.
func (r *EvalResult) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteHTML writes the evaluation as one self-contained file: one column per file,
// charts and signatures.
func (r *EvalResult) WriteHTML(w io.Writer) error {
	d := r.document()
	d.Figures = r.figures()
	return d.html(w)
}

func (r *EvalResult) document() *document {
	equal := true // numbers of sentences
	for _, f := range r.Files {
		equal = equal && f.N == r.Files[0].N
	}
	var mark func(int) map[int]bool
	if equal && len(r.Differences) > 0 {
		mark = func(c int) map[int]bool { return surest(r.Rows, r.Differences, c) }
	}
	t := across("", r.Rows, columns(r.Rows), mark)
	t.Title = "Metrics"
	if mark != nil {
		t.Caption = "Underlined: best of its row, where the intervals of differences are without 0. "
	}
	t.Caption = strings.TrimSpace(t.Caption + intervalNote(r.Rows))
	d := &document{
		Title: "Evaluation of generated sentences", Facts: r.facts(),
		Tables:     []*table{t.turned("metric")},
		References: referenceLines(r.References), Notes: r.Notes, Version: r.Version,
		Signatures: signatures(r.Rows),
	}
	if len(r.Differences) > 0 {
		d.Tables = append(d.Tables, differences("", r.Differences, r.Rows, r.level).turned("metric"))
	}
	for _, f := range r.Files {
		for _, w := range f.Warnings {
			d.Warnings = append(d.Warnings, f.Name+": "+w)
		}
	}
	d.Warnings = append(d.Warnings, warnings(r.Rows)...)
	d.Warnings = append(d.Warnings, differenceWarnings(r.Differences)...)
	return d
}

// figures are the plane, the orders of n-grams, and the probabilities of the files' records.
func (r *EvalResult) figures() (out figures) {
	var points []planePoint
	for _, row := range r.Rows {
		x, ok := row.Get("bleu.all")
		if !ok {
			for _, m := range row.Metrics {
				if strings.HasPrefix(m.Key, "bleu") {
					x = m
				}
			}
		}
		y, _ := row.Get(keySelfBLEU)
		if x.Key == "" {
			x.Value = math.NaN()
		}
		points = append(points, planePoint{row.Name, x, y})
	}
	if len(points) > 1 {
		out.add(plane(points, nil, "corpus BLEU (closer to the references is right)"),
			"The diversity–quality plane, one point per file. "+intervalNote(r.Rows))
	}
	out.add(profile(r.Rows), "Share of n-grams that occur exactly once in the file, by order.")
	for _, f := range r.Files {
		for i := range f.Probabilities {
			f.Probabilities[i].figures(&out)
		}
	}
	return out
}

// WriteText writes the comparison as tables for a terminal: DLP's Table 3, the differences if there
// are any, and what the runs cost; then signatures, notes and warnings.
func (r *CompareResult) WriteText(w io.Writer) error { return r.document().text(w) }

// WriteMarkdown writes the comparison as a Markdown document: the tables, the
// examples with generated words in bold and repeated ones also struck through,
// signatures, notes and warnings.
func (r *CompareResult) WriteMarkdown(w io.Writer) error { return r.document().markdown(w) }

// WriteJSON writes the result as one indented JSON object.
func (r *CompareResult) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

// WriteHTML writes the comparison as one self-contained file: tables, charts,
// examples and signatures, for light and dark screens and for print.
func (r *CompareResult) WriteHTML(w io.Writer) error {
	d := r.document()
	d.Figures = r.figures()
	d.Facts = slices.DeleteFunc(d.Facts, func(f [2]string) bool { // they stand elsewhere on the page
		return f[0] == "protocol" || f[0] == "version"
	})
	return d.html(w)
}

func (r *CompareResult) document() *document {
	quality, run := halves(r.Rows)
	var mark func(int) map[int]bool
	if !r.unequal {
		mark = func(c int) map[int]bool { return best(r.Rows, c) }
	}
	best, cost := across("sampler", r.Rows, quality, mark), across("sampler", r.Rows, run, mark)
	for i := range min(len(r.Params), len(best.Lines)) {
		best.Lines[i].Note = r.Params[i]
	}
	best.heading, best.Title = "Diversity and quality", "Diversity and quality"
	best.Caption = "Lower self-BLEU and more unique n-grams mean more diverse fillings; " +
		"higher corpus BLEU means closer to the references. " + intervalNote(r.Rows)
	if mark != nil {
		best.Caption = "Underlined: best of its column, where the columns can be compared " +
			"and no intervals overlap. " + best.Caption
	}
	cost.heading, cost.Title = "Runs", "What the runs cost"
	cost.Caption = "Distinct fillings are counted over all chains of a sentence, " +
		"before the best are kept."
	d := &document{
		opening: []string{r.Title}, Title: r.Title, Lede: r.Protocol, Facts: r.facts(),
		Tables: []*table{best, cost}, gold: r.Gold, Examples: r.Examples,
		References: referenceLines(r.References), Notes: r.Notes, Version: r.Version,
		Signatures: signatures(r.Rows),
		Warnings:   append(warnings(r.Rows), differenceWarnings(r.Differences)...),
	}
	if r.Protocol != "" {
		d.opening = append(d.opening, r.Protocol)
	}
	if len(r.Differences) > 0 {
		t := differences("sampler", r.Differences, r.Rows, r.level)
		quality, _ := halves(r.Differences)
		t.split = len(quality)
		d.Tables = []*table{best, t, cost}
	}
	if r.Gold != nil {
		if r.Gold.Signature != "" {
			d.Signatures = append(d.Signatures, signed{Heading: r.Gold.Label, Signature: r.Gold.Signature})
		}
		for _, w := range r.Gold.Warnings {
			d.Warnings = append(d.Warnings, r.Gold.Label+": "+w)
		}
	}
	return d
}

// figures are the plane and the courses of the chains.
func (r *CompareResult) figures() (out figures) {
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
	out.add(plane(points, r.Gold, xLabel),
		"The diversity–quality plane, one point per sampler. "+intervalNote(r.Rows))
	energy := func(t trace) ([]float64, []float64) { return t.Energy, t.Error }
	out.add(traceChart(r.Traces, colour, energy, "mean energy U (nats)", false),
		"Mean energy of the chains as they run, averaged over chains "+
			"and then over sentences; shaded: ± one standard error over sentences.")
	accepted := func(t trace) ([]float64, []float64) {
		out := make([]float64, len(t.Acceptance))
		for i, a := range t.Acceptance {
			out[i] = 100 * a
		}
		return out, nil
	}
	out.add(traceChart(r.Traces, colour, accepted, "accepted moves (%)", true),
		"Share of accepted moves among those that all chains "+
			"propose at each step, for the samplers that have an acceptance step, while half of the "+
			"chains or more still run.")
	return out
}

// WriteText writes the tables for a terminal: the shares of each run, and the differences.
func (r *ClozeResult) WriteText(w io.Writer) error { return r.document().text(w) }

// WriteMarkdown writes the tables as a Markdown document.
func (r *ClozeResult) WriteMarkdown(w io.Writer) error { return r.document().markdown(w) }

// WriteJSON writes the result as one indented JSON object.
func (r *ClozeResult) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

func (r *ClozeResult) document() *document {
	d := &document{
		opening: []string{count.Of(r.Lines, "line") + ", " + r.Protocol}, Title: r.Title,
		Facts: r.facts(), Tables: []*table{across("run", r.Rows, columns(r.Rows), nil)},
		Notes: r.Notes, Warnings: append(warnings(r.Rows), differenceWarnings(r.Differences)...),
	}
	if len(r.Differences) > 0 {
		d.Tables = append(d.Tables, differences("run", r.Differences, r.Rows, r.Level))
	}
	return d
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
