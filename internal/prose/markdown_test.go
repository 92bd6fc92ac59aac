package prose

import (
	"regexp"
	"strings"
)

var (
	codeSpan    = regexp.MustCompile("`+[^`]*`+|<code>.*?</code>")
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	linkTarget  = regexp.MustCompile(`\]\([^)\s]*\)`)
	entity      = regexp.MustCompile(`&#?\w+;`)
	listItem    = regexp.MustCompile(`^\s*([-*+]|\d+\.)\s`)
)

// Markdown returns the prose of a document: paragraphs, headings, list items and
// table cells, without code, formulas set apart by four spaces, and link targets.
func Markdown(text string) []Passage {
	text = htmlComment.ReplaceAllStringFunc(text, keepLines)
	var passages []Passage
	var current []string
	begin := 0
	flush := func() {
		if len(current) > 0 {
			passages = append(passages, Passage{begin, plain(strings.Join(current, "\n"))})
			current = nil
		}
	}
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			flush()
			fenced = !fenced
		case fenced:
		case trimmed == "" || strings.HasPrefix(line, "    ") && len(current) == 0:
			flush()
		case strings.HasPrefix(trimmed, "|"):
			flush()
			for _, cell := range strings.Split(strings.ReplaceAll(plain(trimmed), `\|`, "/"), "|") {
				passages = append(passages, Passage{i + 1, cell})
			}
		default:
			if listItem.MatchString(line) || strings.HasPrefix(trimmed, "#") {
				flush()
			}
			if len(current) == 0 {
				begin = i + 1
			}
			current = append(current, line)
			if strings.HasPrefix(trimmed, "#") {
				flush()
			}
		}
	}
	flush()
	return passages
}

// plain replaces code by a word, so that what is in it does not count.
func plain(text string) string {
	text = codeSpan.ReplaceAllStringFunc(text, func(s string) string {
		return "code" + strings.Repeat("\n", strings.Count(s, "\n"))
	})
	text = linkTarget.ReplaceAllString(text, "]")
	return entity.ReplaceAllString(text, "x")
}

func keepLines(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
