package settings

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the tables of the documents")

const (
	page     = "../../docs/reference/settings.md"
	tableTop = "<!-- settings: go test ./infill/settings -run Docs -update writes this table -->\n"
	tableEnd = "<!-- end of settings -->\n"
)

// The table of settings in the reference is the one that the code has.
func TestDocs(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), tableTop)
	old, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	var table strings.Builder
	table.WriteString("| field | flag | value | default | meaning |\n|---|---|---|---|---|\n")
	defaults := Defaults()
	var more strings.Builder
	more.WriteString("\nMore on their values:\n\n")
	for _, s := range FillTable() {
		table.WriteString(row(&more, s, s.Value(defaults)))
	}
	candidates := RankTable().Find("candidates")
	table.WriteString(row(&more, candidates, candidates.Value(&Ranking{})))
	table.WriteString(more.String())
	if table.String() == old {
		return
	}
	if !*update {
		t.Fatalf("%s: the table of settings differs; -update writes it", page)
	}
	text := before + tableTop + table.String() + tableEnd + after
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// row is the line of a setting. What would make it too long goes into a list of more.
func row[T any](more *strings.Builder, s *Setting[T], v *Value) string {
	field := "–"
	if s.Line {
		field = "`" + s.Field() + "`"
	}
	standard := "–"
	if text := v.String(); text != "" {
		standard = "`" + text + "`"
	}
	value := strings.NewReplacer("a whole number from ", "whole, ", "a number from ", "").
		Replace(v.WantJSON())
	value, parts, _ := strings.Cut(value, ": ")
	about, rest := s.Doc, ""
	cell := strings.NewReplacer("|", "\\|")
	line := func() string {
		return fmt.Sprintf("| %s | `--%s` | %s | %s | %s |", field, s.Name,
			cell.Replace(value), standard, cell.Replace(about))
	}
	const most = 140 // as the test of documents has it
	for _, ends := range []string{":;", ","} {
		at := strings.IndexAny(s.Doc, ends)
		if at >= 0 && utf8.RuneCountInString(line()) > most {
			about, rest = s.Doc[:at], s.Doc[at+len(", "):]
		}
	}
	for _, text := range []string{parts, rest} {
		if text == "" {
			continue
		}
		item := fmt.Sprintf("- `--%s`: %s", s.Name, text)
		if at := strings.LastIndex(item[:min(len(item), most)], " "); len(item) > most {
			item = item[:at] + "\n  " + item[at+1:]
		}
		more.WriteString(item + "\n")
	}
	return line() + "\n"
}
