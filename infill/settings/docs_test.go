package settings

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of the documents")

const (
	guide    = "../../docs/guide/batch.md"
	tableTop = "<!-- settings: go test ./infill/settings -run Docs -update writes this table -->\n"
	tableEnd = "<!-- end of settings -->\n"
)

// The table of settings in the guide is the one that the code has.
func TestDocs(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), tableTop)
	old, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", guide)
	}
	var table strings.Builder
	table.WriteString("| field | flag | value | default | meaning |\n|---|---|---|---|---|\n")
	defaults := Defaults()
	for _, s := range FillTable() {
		table.WriteString(row(s, s.Value(defaults)))
	}
	candidates := RankTable().Find("candidates")
	table.WriteString(row(candidates, candidates.Value(&Ranking{})))
	if table.String() == old {
		return
	}
	if !*update {
		t.Fatalf("%s: the table of settings differs; -update writes it", guide)
	}
	text := before + tableTop + table.String() + tableEnd + after
	if err := os.WriteFile(guide, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func row[T any](s *Setting[T], v *Value) string {
	field := "–"
	if s.Line {
		field = "`" + s.Field() + "`"
	}
	standard := "–"
	if text := v.String(); text != "" {
		standard = "`" + text + "`"
	}
	cell := strings.NewReplacer("|", "\\|")
	return fmt.Sprintf("| %s | `--%s` | %s | %s | %s |\n", field, s.Name,
		cell.Replace(v.WantJSON()), standard,
		cell.Replace(s.Doc))
}
