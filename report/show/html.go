package show

import (
	"embed"
	"html/template"
	"io"
	"slices"
	"strings"
	text "text/template"

	"infill/report/draw"
)

//go:embed templates
var templates embed.FS

//go:embed templates/style.css
var pageStyle string

// HTML writes the document as one self-contained page, for light and dark screens and for print.
// The template escapes texts. Only the style sheet and finished drawings are trusted.
func (d *Document) HTML(w io.Writer) error {
	page := d.page
	page.Style = template.CSS(draw.Style) + template.CSS(pageStyle) //nolint:gosec // our own files
	if page.Lede != "" {
		// They stand elsewhere on the page.
		page.Facts = slices.DeleteFunc(slices.Clone(page.Facts), func(f [2]string) bool {
			return f[0] == "protocol" || f[0] == "version"
		})
	}
	return template.Must(template.ParseFS(templates, "templates/report.html.tmpl")).Execute(w, page)
}

// Markdown writes the document in Markdown. In examples generated words are bold, and repeated ones
// also struck through.
func (d *Document) Markdown(w io.Writer) error { return d.write(w, "report.md.tmpl") }

// Text writes the document for a terminal. An asterisk marks a number that has a warning.
func (d *Document) Text(w io.Writer) error { return d.write(w, "report.txt.tmpl") }

func (d *Document) write(w io.Writer, form string) error {
	t := text.New(form).Funcs(text.FuncMap{"plain": draw.Plain, "md": escapeMarkdown, "code": codeSpan,
		"value": cell, "cell": markdownCell})
	return text.Must(t.ParseFS(templates, "templates/"+form)).Execute(w, d.page)
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
