package show

import (
	"cmp"
	"io"
	"strings"

	"infill/report/draw"
	"infill/report/measure"
)

// escapeMarkdown makes text safe inside a table cell or a list item: nothing in it
// starts markup, HTML or a new cell.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range draw.Plain(s) {
		switch r {
		case '\\', '`', '*', '_', '{', '}', '[', ']', '(', ')', '#', '+', '!', '|', '~':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// codeSpan wraps text in backquotes, in as many as it needs.
func codeSpan(s string) string {
	s = strings.ReplaceAll(draw.Plain(s), "|", "\\|")
	ticks := "`"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

func (p *printer) table(t *table) {
	p.f("| %s ", t.Corner)
	for _, h := range t.Heads {
		p.f("| %s ", escapeMarkdown(h.directed()))
	}
	p.f("|\n|---%s|\n", strings.Repeat("|--:", len(t.Heads)))
	for _, l := range t.Lines {
		p.f("| %s ", escapeMarkdown(l.directed()))
		for _, c := range l.Cells {
			p.f("| %s ", markdownCell(c.Metric))
		}
		p.f("|\n")
	}
}

func (p *printer) bullets(title string, items []string) {
	if len(items) == 0 {
		return
	}
	p.f("\n## %s\n\n", title)
	for _, s := range items {
		p.f("- %s\n", escapeMarkdown(s))
	}
}

func (p *printer) markdownSignatures(sigs []signed) {
	if len(sigs) == 0 {
		return
	}
	p.f("\n## Signatures\n\n")
	for _, s := range sigs {
		p.f("- %s", escapeMarkdown(s.Heading))
		if s.Rows != "" {
			p.f(" (%s)", escapeMarkdown(s.Rows))
		}
		// A code span in a list needs no pipe escapes.
		p.f(": %s\n", strings.ReplaceAll(codeSpan(s.Signature), "\\|", "|"))
	}
}

func markdownCell(m measure.Metric) string {
	if apart(m) {
		return "**" + escapeMarkdown(cell(m)) + "**"
	}
	return escapeMarkdown(cell(m))
}

// Markdown writes the document in Markdown. In examples generated words are bold, and repeated ones
// also struck through.
func (d *Document) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.f("# %s\n\n", escapeMarkdown(d.Title))
	for _, s := range d.Facts {
		p.f("- %s: %s\n", escapeMarkdown(s[0]), escapeMarkdown(s[1]))
	}
	for _, t := range d.tables {
		p.f("\n")
		if t.heading != "" {
			p.f("## %s\n\n", escapeMarkdown(t.heading))
		}
		if t.note != "" {
			p.f("%s\n\n", escapeMarkdown(t.Caption))
		}
		p.table(t)
	}
	if d.gold != nil {
		p.f("\n%s: %s\n", escapeMarkdown(d.gold.Label), markdownCell(*d.gold))
	}
	p.markdownExamples(d.Examples, d.OfFiles)
	p.bullets("References", d.References)
	p.markdownSignatures(d.signatures)
	p.bullets("Notes", d.Notes)
	p.bullets("Warnings (*)", d.Warnings)
	return p.err
}

func (p *printer) markdownExamples(examples []measure.Example, ofFiles bool) {
	if len(examples) == 0 {
		return
	}
	p.f("\n## Examples\n\nGenerated words are **bold**")
	if !ofFiles {
		p.f("; ~~**struck**~~ ones repeat an earlier filling of the same sampler in the same place")
	}
	p.f(".\n")
	for _, e := range examples {
		p.f("\n> %s\n\n", escapeMarkdown(e.Text))
		for _, s := range e.Samplers {
			p.f("- %s", escapeMarkdown(cmp.Or(s.Sampler, "texts")))
			if s.Err != "" {
				p.f(": %s\n", escapeMarkdown(s.Err))
				continue
			}
			if s.Generated > 0 {
				p.f(" (%d of %d repeated)", s.Repeated, s.Generated)
			}
			p.f("\n")
			for _, f := range s.Texts {
				p.f("    - ")
				for _, part := range f.Parts {
					text := escapeMarkdown(part.Text)
					switch {
					case part.Repeated:
						text = "~~**" + text + "**~~"
					case part.Generated:
						text = "**" + text + "**"
					}
					p.f("%s", text)
				}
				if score := f.ScoreText(); score != "" {
					p.f(" (%s)", score)
				}
				p.f("\n")
			}
		}
	}
}
