package report

import (
	"io"
	"strings"
)

// escapeMarkdown makes text safe inside a table cell or a list item: nothing in it
// starts markup, HTML or a new cell.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
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
	s = strings.ReplaceAll(plain(s), "|", "\\|")
	ticks := "`"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

func (p *printer) table(head []string, rows [][]string) {
	p.f("| %s |\n|---%s|\n", strings.Join(head, " | "), strings.Repeat("|--:", len(head)-1))
	for _, r := range rows {
		p.f("| %s |\n", strings.Join(r, " | "))
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

func markdownCell(m Metric) string {
	if m.apart() {
		return "**" + escapeMarkdown(cell(m)) + "**"
	}
	return escapeMarkdown(cell(m))
}

// markdownFiles prints a table with a column for each file.
func (p *printer) markdownFiles(rows []Row) {
	head := []string{"metric"}
	for _, row := range rows {
		head = append(head, escapeMarkdown(row.Name))
	}
	var table [][]string
	for c, m := range metricsOf(rows) {
		line := []string{escapeMarkdown(m.directed())}
		for _, row := range rows {
			line = append(line, markdownCell(row.Metrics[c]))
		}
		table = append(table, line)
	}
	p.table(head, table)
}

// markdownDifferences heads a table of differences.
func (p *printer) markdownDifferences(t *differenceTable) {
	p.f("\n## %s\n\n%s\n\n", escapeMarkdown(t.title()), escapeMarkdown(t.caption()))
}

// WriteMarkdown writes the result as a Markdown document.
func (r *EvalResult) WriteMarkdown(w io.Writer) error {
	p := &printer{w: w}
	p.f("# Evaluation of generated sentences\n\n")
	for _, s := range r.facts() {
		p.f("- %s: %s\n", escapeMarkdown(s[0]), escapeMarkdown(s[1]))
	}
	p.f("\n")
	p.markdownFiles(r.Rows)
	if len(r.Differences) > 0 {
		p.markdownDifferences(r.differed())
		p.markdownFiles(r.Differences)
	}
	p.bullets("References", referenceLines(r.References))
	p.markdownSignatures(signatures(r.Rows))
	p.bullets("Notes", r.Notes)
	p.bullets("Warnings (*)", r.allWarnings())
	return p.err
}

// WriteMarkdown writes the comparison as a Markdown document: the tables, the
// examples with generated words in bold and repeated ones also struck through,
// signatures, notes and warnings.
func (r *CompareResult) WriteMarkdown(w io.Writer) error {
	p := &printer{w: w}
	p.f("# %s\n", escapeMarkdown(r.Title))
	p.f("\n")
	for _, s := range r.facts() {
		p.f("- %s: %s\n", escapeMarkdown(s[0]), escapeMarkdown(s[1]))
	}
	quality, run := halves(r.Rows)
	p.f("\n## Diversity and quality\n\n")
	p.markdownSamplers(r.Rows, quality)
	if len(r.Differences) > 0 {
		p.markdownDifferences(r.differed())
		p.markdownSamplers(r.Differences, columns(r.Differences))
	}
	p.f("\n## Runs\n\n")
	p.markdownSamplers(r.Rows, run)
	if r.Gold != nil {
		p.f("\n%s: %s\n", escapeMarkdown(r.Gold.Label), markdownCell(*r.Gold))
	}
	p.markdownExamples(r.Examples)
	p.bullets("References", referenceLines(r.References))
	p.markdownSignatures(r.signed())
	p.bullets("Notes", r.Notes)
	p.bullets("Warnings (*)", r.allWarnings())
	return p.err
}

// markdownSamplers prints columns of a table with a row for each sampler.
func (p *printer) markdownSamplers(rows []Row, cols []int) {
	p.markdownAcross("sampler", rows, cols)
}

// markdownAcross prints columns of a table with a row for each thing of a kind.
func (p *printer) markdownAcross(kind string, rows []Row, cols []int) {
	head := []string{kind}
	for _, c := range cols {
		head = append(head, escapeMarkdown(rows[0].Metrics[c].directed()))
	}
	var table [][]string
	for _, row := range rows {
		line := []string{escapeMarkdown(row.Name)}
		for _, c := range cols {
			line = append(line, markdownCell(row.Metrics[c]))
		}
		table = append(table, line)
	}
	p.table(head, table)
}

func (p *printer) markdownExamples(examples []Example) {
	if len(examples) == 0 {
		return
	}
	p.f("\n## Examples\n\nGenerated words are **bold**; ~~**struck**~~ ones repeat an earlier " +
		"filling of the same sampler in the same place.\n")
	for _, e := range examples {
		p.f("\n> %s\n\n", escapeMarkdown(e.Text))
		for _, s := range e.Samplers {
			p.f("- %s", escapeMarkdown(s.Sampler))
			if s.Err != "" {
				p.f(": %s\n", escapeMarkdown(s.Err))
				continue
			}
			p.f(" (%d of %d repeated)\n", s.Repeated, s.Generated)
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
				p.f(" (%s)\n", f.ScoreText())
			}
		}
	}
}
