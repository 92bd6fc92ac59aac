package table

import (
	"bytes"
	"strings"
	"testing"

	"infill/infill/settings"
)

// A row that was too short had the cells of the row before, and one too long panicked.
func TestRowsHaveACellForEachColumn(t *testing.T) {
	columns := []Column{{Name: "a"}, {Name: "b"}}
	for _, f := range []settings.Format{settings.FormatCSV, settings.FormatTSV, settings.FormatParquet, settings.FormatJSONL} {
		var out bytes.Buffer
		w, err := NewWriter(&out, f, 0, columns)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write([]any{"one", "two"}); err != nil {
			t.Fatal(err)
		}
		for _, row := range [][]any{nil, {"x"}, {"x", "y", "z"}} {
			err := w.Write(row)
			if err == nil || !strings.Contains(err.Error(), "for 2 columns") {
				t.Errorf("format %d, %d cells: %v", f, len(row), err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if f == settings.FormatCSV && out.String() != "a,b\none,two\n" {
			t.Errorf("the table is %q", out.String())
		}
	}
	for _, f := range []settings.Format{-1, settings.FormatAuto, settings.FormatText, settings.FormatParquet + 1} {
		if _, err := NewWriter(&bytes.Buffer{}, f, 0, columns); err == nil {
			t.Errorf("format %d is written", f)
		}
	}
}
