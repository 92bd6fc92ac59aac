package show

import (
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
	s = draw.Plain(s)
	ticks := "`"
	for strings.Contains(s, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

func markdownCell(m measure.Metric) string {
	if apart(m) {
		return "**" + escapeMarkdown(cell(m)) + "**"
	}
	return escapeMarkdown(cell(m))
}
