// Package prose checks the English of the project: its documents, the comments of its Go files and
// the texts that they print. It follows the rules of CONTRIBUTING.md. The tests of this package
// hold all files of the project against them, apart from tests and generated files.
package prose

import (
	"fmt"
	"regexp"
	"strings"
)

// Finding is one place that breaks a rule.
type Finding struct {
	Line int    // of the file, from 1
	Rule string // what is wrong
	Text string // the words in question
}

func (f Finding) String() string { return fmt.Sprintf("%d: %s: %s", f.Line, f.Rule, f.Text) }

// Passage is a run of prose: a paragraph, a list item, a table cell, a comment.
type Passage struct {
	Line int // of its first line, from 1
	Text string
}

// phrase is an expression that a reader stumbles over.
type phrase struct {
	pattern *regexp.Regexp
	rule    string
	// fine reports that the match at these bytes is ordinary English after all.
	fine func(text string, from, to int) bool
}

var phrases = []phrase{
	{word(`tells? whether`), "write “reports whether” or say it directly", nil},
	{word(`anew`), "write “again”", nil},
	{word(`so[ ]many`), "name the number, or write “this many”", nil},
	{word(`of[ ]which`), "make it two sentences", nil},
	{word(`nobody's`), "name the owner", nil},
	{word(`in[ ]all`), "write “together” or “altogether”", beforeNoun},
	{word(`(is|are|was|were)[ ]no`), "write “is not a”", existence},
}

// strange are patterns that a native speaker would not write. The main module has none, in
// documents, texts and comments; the lab still does.
var strange = []phrase{
	{word(`(is|are|was|were)[ ](that|those)[ ]of`), "name the thing, or use another verb", nil},
	{word(`(is|are|was|were)[ ]looked[ ]for`), "say who looks for it", nil},
	{word(`(have|has|had)[ ](its|their)[ ]say`), "say what still counts", nil},
	{word(`turns?[ ]\w+[ ]\w+[ ]round`), "write “reverses”", nil},
	{word(`and[ ](is|are)[ ]none`), "write “only looks like one”", nil},
	{word(`take[ ]none`), "write “use no …”", nil},
	{word(`(is|are)[ ]\w+ed[ ]so`), "say in which way", nil},
	{word(`by[ ]\w+[ ]\w+[ ]rank`), "begin with the subject", nil},
}

// word makes a pattern of whole words. "[ ]" stands for white space, so that the
// table above does not break its own rules.
func word(s string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(s, "[ ]", `\s+`) + `\b`)
}

// beforeNoun reports that a noun follows, as in "in all blanks".
func beforeNoun(text string, _, to int) bool {
	rest := strings.TrimLeft(text[to:], " \n")
	if rest == "" || rest == text[to:] {
		return false
	}
	next := strings.ToLower(firstWord(rest))
	return next != "" && next != "and"
}

// existence reports that the sense is "there is none", as in "there is no file",
// or a comparison, as in "is no longer".
func existence(text string, from, to int) bool {
	switch next := strings.ToLower(firstWord(strings.TrimLeft(text[to:], " \n"))); next {
	case "longer", "more", "less", "fewer", "better", "worse", "one", "different", "":
		return true
	default:
		if strings.HasSuffix(next, "er") && strings.Contains(text[to:], " than ") {
			return true // "no larger than"
		}
	}
	before := strings.ToLower(lastWord(strings.TrimRight(text[:from], " \n")))
	return before == "there" || before == "here"
}

func firstWord(s string) string {
	return strings.TrimFunc(strings.SplitN(s+" ", " ", 2)[0], notLetter)
}

func lastWord(s string) string {
	fields := strings.Fields(s)
	if len(fields) == 0 {
		return ""
	}
	return strings.TrimFunc(fields[len(fields)-1], notLetter)
}

func notLetter(r rune) bool { return r < 'A' || r > 'Z' && r < 'a' || r > 'z' }

// Phrases finds the expressions to avoid.
func Phrases(p Passage) []Finding { return find(p, phrases) }

// Strange finds expressions that are not English as it is written.
func Strange(p Passage) []Finding { return find(p, strange) }

func find(p Passage, list []phrase) []Finding {
	var found []Finding
	for _, ph := range list {
		for _, m := range ph.pattern.FindAllStringIndex(p.Text, -1) {
			if ph.fine != nil && ph.fine(p.Text, m[0], m[1]) {
				continue
			}
			line := p.Line + strings.Count(p.Text[:m[0]], "\n")
			found = append(found, Finding{line, ph.rule, excerpt(p.Text, m[0], m[1])})
		}
	}
	return found
}

// sentenceEnd is a full stop or its kind with the white space after it.
var sentenceEnd = regexp.MustCompile(`[.!?][)"'”*_]*\s+`)

// Semicolons finds the sentences with two semicolons or more.
func Semicolons(p Passage) []Finding {
	var found []Finding
	from := 0
	for from < len(p.Text) {
		to := len(p.Text)
		if m := sentenceEnd.FindStringIndex(p.Text[from:]); m != nil {
			to = from + m[1]
		}
		if sentence := p.Text[from:to]; strings.Count(sentence, ";") > 1 {
			line := p.Line + strings.Count(p.Text[:from], "\n")
			found = append(found, Finding{line, "two semicolons in a sentence", shorten(sentence)})
		}
		from = to
	}
	return found
}

// Sentences counts the sentences of a passage and the semicolons in them.
func Sentences(p Passage) (sentences, semicolons int) {
	text := strings.TrimSpace(p.Text)
	if text == "" {
		return 0, 0
	}
	return 1 + len(sentenceEnd.FindAllString(text, -1)), strings.Count(text, ";")
}

func excerpt(text string, from, to int) string {
	from, to = max(0, from-30), min(len(text), to+30)
	return "…" + strings.ToValidUTF8(strings.Join(strings.Fields(text[from:to]), " "), "") + "…"
}

func shorten(text string) string {
	words := strings.Fields(text)
	if len(words) > 12 {
		words = append(words[:12], "…")
	}
	return strings.Join(words, " ")
}
