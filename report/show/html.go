package show

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"infill/report/draw"
)

//go:embed templates
var templates embed.FS

// HTML writes the document as one self-contained page, for light and dark screens and for print.
// The template escapes texts. Only the style sheet and finished drawings are trusted.
func (d *Document) HTML(w io.Writer) error {
	t, err := template.ParseFS(templates, "templates/report.html.tmpl")
	if err != nil {
		return fmt.Errorf("report template: %w", err)
	}
	css, err := templates.ReadFile("templates/style.css")
	if err != nil {
		return fmt.Errorf("report style: %w", err)
	}
	page := *d
	if d.Lede != "" {
		// They stand elsewhere on the page.
		page.Facts = slices.DeleteFunc(slices.Clone(d.Facts), func(f [2]string) bool {
			return f[0] == "protocol" || f[0] == "version"
		})
	}
	style := template.CSS(draw.Style) + template.CSS(css) //nolint:gosec // our own files
	return t.Execute(w, struct {
		Document
		Tables     []*table
		Figures    figures
		Signatures []signed
		Style      template.CSS
	}{page, d.tables, d.figures, d.signatures, style})
}

// htmlGroup is a heading over several columns.
type htmlGroup struct {
	Label string
	Span  int
}

// Groups are the headings over the columns, none without a name.
func (t *table) Groups() []htmlGroup {
	var out []htmlGroup
	named := false
	for _, h := range t.Heads {
		if n := len(out); n > 0 && out[n-1].Label == h.Group {
			out[n-1].Span++
		} else {
			out = append(out, htmlGroup{h.Group, 1})
		}
		named = named || h.Group != ""
	}
	if !named {
		return nil
	}
	return out
}

// Whole is the name with its group.
func (l label) Whole() string { return heading(l.Group, l.Name, "") }

// Shown is the value with a real minus sign.
func (c tableCell) Shown() string { return strings.Replace(c.Text(), "-", "−", 1) }

// Range is the interval of a value.
func (c tableCell) Range() string {
	if !c.OK() {
		return ""
	}
	return c.Interval()
}

// Class is the cell's class in the style sheet.
func (c tableCell) Class() string {
	switch {
	case !c.OK():
		return "none"
	case c.best:
		return "best"
	case apart(c.Metric):
		return "apart"
	}
	return ""
}

// Title is what a pointer over the cell shows: definition, parts and warnings.
func (c tableCell) Title() string {
	var out []string
	for _, s := range append([]string{c.Signature, c.Detail}, c.Warnings...) {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}
