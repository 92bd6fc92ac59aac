package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"

	"infill/report/draw"
)

//go:embed templates
var templates embed.FS

// page is the data of report.html.tmpl. Texts are escaped by the template; only
// the style sheet and finished drawings are trusted.
type page struct {
	Title, Lede, Footer string
	Facts               [][2]string
	Style               template.CSS
	Tables              []htmlTable
	FiguresTitle        string
	Figures             []figureRow
	Examples            []Example
	References          []string
	Notes, Warnings     []string
	Signatures          []signed
}

type figureRow struct {
	Class string
	Items []figure
}

type figure struct {
	SVG     template.HTML
	Caption string
}

// wide adds a chart of the page's width.
func (p *page) wide(svg template.HTML, caption string) {
	p.Figures = append(p.Figures, figureRow{"wide", []figure{{svg, caption}}})
}

// render writes the page.
func render(w io.Writer, p *page) error {
	t, err := template.ParseFS(templates, "templates/report.html.tmpl")
	if err != nil {
		return fmt.Errorf("report template: %w", err)
	}
	css, err := templates.ReadFile("templates/style.css")
	if err != nil {
		return fmt.Errorf("report style: %w", err)
	}
	p.Style = template.CSS(draw.Style) + template.CSS(css) //nolint:gosec // our own files
	return t.Execute(w, p)
}
