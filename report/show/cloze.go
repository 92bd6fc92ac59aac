package show

import (
	"fmt"

	"infill/internal/count"
	"infill/report/measure"
)

// Cloze is the document of words that came back: the shares of each run, and the differences.
func Cloze(r *measure.ClozeResult) *Document {
	d := &Document{
		opening: []string{count.Of(r.Lines, "line") + ", " + r.Protocol}, Title: r.Title,
		Facts: clozeFacts(r), tables: []*table{across("run", r.Rows, columns(r.Rows), nil)},
		Notes: r.Notes, Warnings: append(warnings(r.Rows), differenceWarnings(r.Differences)...),
		result: r,
	}
	if len(r.Differences) > 0 {
		d.tables = append(d.tables, differences("run", "lines", r.Differences, r.Rows, r.Level))
	}
	return d
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
