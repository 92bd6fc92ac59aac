package prose

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestNotebookFigures looks up every figure of the notebook's first table in the
// page that its last column names.
func TestNotebookFigures(t *testing.T) {
	t.Parallel()
	const notebook = "docs/notebook/README.md"
	docs := tree(t, ".md")
	number := regexp.MustCompile(`\d*\.?\d+`)
	rows := 0
	for line := range strings.Lines(docs[notebook]) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.Contains(cells[5], "](") {
			continue
		}
		rows++
		target := link.FindStringSubmatch(cells[5])[1]
		file, _, _ := strings.Cut(target, "#")
		page := strings.ReplaceAll(docs[path.Join(path.Dir(notebook), file)], "−", "-")
		for _, n := range number.FindAllString(codeSpan.ReplaceAllString(cells[3], ""), -1) {
			if !regexp.MustCompile(`(^|[^\d.])0?` + regexp.QuoteMeta(n)).MatchString(page) {
				t.Errorf("%s: %s is not in %s", strings.TrimSpace(cells[1]), n, file)
			}
		}
	}
	if rows < 15 {
		t.Errorf("%d rows", rows)
	}
}
