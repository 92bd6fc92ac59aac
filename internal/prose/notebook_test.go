package prose

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// figure is a number of a table or text: 12,490, 3.5 and .35.
var figure = regexp.MustCompile(`\d{1,3}(,\d{3})+|\d*\.?\d+`)

// TestNotebookFigures looks up every figure of the notebook's first table in the
// section of the page that its last column names.
func TestNotebookFigures(t *testing.T) {
	t.Parallel()
	const notebook = "lab/notebook/README.md"
	docs := tree(t, ".md")
	rows := 0
	for line := range strings.Lines(docs[notebook]) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.Contains(cells[5], "](") {
			continue
		}
		rows++
		target := link.FindStringSubmatch(cells[5])[1]
		file, anchor, _ := strings.Cut(target, "#")
		page := section(docs[path.Join(path.Dir(notebook), file)], anchor)
		for _, n := range figure.FindAllString(codeSpan.ReplaceAllString(cells[3], ""), -1) {
			if !holds(page, n) {
				t.Errorf("%s: %s is not in %s", strings.TrimSpace(cells[1]), n, target)
			}
		}
	}
	if rows < 15 {
		t.Errorf("%d rows", rows)
	}
}

// TestExperimentFigures looks up every figure with a decimal point that the table of experiments
// calls ours in the page of its row, or of the last row above that names one.
func TestExperimentFigures(t *testing.T) {
	t.Parallel()
	const table = "lab/notebook/experiments/README.md"
	docs := tree(t, ".md")
	rows, file := 0, ""
	for line := range strings.Lines(docs[table]) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue
		}
		if m := link.FindStringSubmatch(cells[1]); m != nil {
			file = m[1]
		}
		page, ok := docs[path.Join(path.Dir(table), file)]
		if !ok {
			continue // the head
		}
		rows++
		for _, n := range figure.FindAllString(cells[3]+cells[4], -1) {
			if strings.Contains(n, ".") && !holds(page, n) {
				t.Errorf("%s: %s is not in %s", strings.TrimSpace(cells[1]), n, file)
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d rows", rows)
	}
}

// section is the part of a page under the heading of an anchor, with its subsections, or all of
// the page without an anchor.
func section(page, anchor string) string {
	if anchor == "" {
		return page
	}
	var out strings.Builder
	level := 0 // of the heading; 0 before it
	for line := range strings.Lines(page) {
		if m := heading.FindString(line); m != "" {
			n := strings.IndexFunc(m, func(r rune) bool { return r != '#' })
			switch {
			case level == 0 && anchors(line)[anchor]:
				level = n
			case level > 0 && n <= level:
				return out.String()
			}
		}
		if level > 0 {
			out.WriteString(line)
		}
	}
	return out.String()
}

// holds looks for a whole number. A page may have it with a zero before its point.
func holds(page, n string) bool {
	return regexp.MustCompile(`(^|[^\d.,])0?` + regexp.QuoteMeta(n) + `($|[^\d.,]|[.,](\D|$))`).
		MatchString(page)
}

func TestSection(t *testing.T) {
	t.Parallel()
	page := "# A\n.1\n## B 1\n.25\n### C\n12,490.\n## D\n3\n"
	for _, c := range []struct {
		anchor, n string
		want      bool
	}{
		{"", "3", true}, {"b-1", "3", false}, {"b-1", "12,490", true}, {"b-1", ".25", true},
		{"b-1", ".2", false}, {"b-1", "490", false}, {"b-1", "25", false}, {"a", ".1", true},
		{"a", "3", true}, {"d", "3", true}, {"none", "3", false},
	} {
		if got := holds(section(page, c.anchor), c.n); got != c.want {
			t.Errorf("%s in %q: %v, want %v", c.n, c.anchor, got, c.want)
		}
	}
}
