package output

import (
	"os"
	"strings"
	"testing"

	"infill/infill/settings"
	"infill/infill/table"
)

// The page of records has each column that rows can have, and each member of the structures that
// only scores have.
func TestColumnsInTheReference(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../../docs/reference/records.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(b), "## Columns")
	part, _, _ = strings.Cut(part, "\n## ")
	if !found {
		t.Fatal("the page has no part on columns")
	}
	for _, l := range []Layout{{Asked: []string{"masked", "energies", "marginals"}},
		{Per: settings.PerFilling}, {Kind: Scores, Asked: []string{"energies"}}} {
		for _, c := range l.own() {
			if !strings.Contains(part, "`"+c.Name+"`") {
				t.Errorf("the page does not have the column %s", c.Name)
			}
		}
	}
	_, part, found = strings.Cut(part, "`infill score --file` has ")
	part, _, _ = strings.Cut(part, "\n\n")
	if !found {
		t.Fatal("the page does not say which columns scores have")
	}
	for _, c := range (Layout{Kind: Scores, Asked: []string{"energies"}}).own() {
		if c.Type.Kind != table.List {
			continue
		}
		for _, member := range c.Type.Elem.Fields {
			if !strings.Contains(part, "`"+member.Name+"`") {
				t.Errorf("the page does not have %s of the column %s", member.Name, c.Name)
			}
		}
	}
}
