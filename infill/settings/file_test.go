package settings

import "testing"

// Names say their format whatever they are compressed with, in any case.
func TestFormatOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Format{"a.jsonl": FormatJSONL, "a.JSONL.GZ": FormatJSONL,
		"a.csv.zst": FormatCSV, "A.Csv.Zst": FormatCSV, "a.txt.gz": FormatText, ".gz": FormatAuto,
		"a.gz": FormatAuto, "gz": FormatAuto, "": FormatAuto, "a.tab": FormatTSV, "a.pq": FormatParquet} {
		if got := FormatOf(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	if got := uncompressed("Books.CSV.GZ"); got != "Books.CSV" {
		t.Errorf("%s", got)
	}
}
