package output

import (
	"encoding/json"
	"errors"
	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/table"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The name .json asks for an array, of the records that JSON lines have.
func TestArrayOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), "a\nbad\n\nb\n")
	lines, array := filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "out.json")
	for _, out := range []string{lines, array} {
		if _, _, err := process(t, in, out, config{do: filled}); err != nil {
			t.Fatal(err)
		}
	}
	var got []json.RawMessage
	if err := json.Unmarshal(inputtest.Read(t, array), &got); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(inputtest.Read(t, lines))), "\n") {
		if i >= len(got) || string(got[i]) != line {
			t.Fatalf("record %d of %d is not %s", i+1, len(got), line)
		}
	}
	empty := filepath.Join(dir, "empty.json")
	if _, _, err := process(t, inputtest.Write(t, filepath.Join(dir, "none.txt"), "\n"), empty,
		config{do: filled}); err != nil || string(inputtest.Read(t, empty)) != "[]\n" {
		t.Errorf("of nothing: %q, %v", inputtest.Read(t, empty), err)
	}
	if err := (Layout{}).Free(array); !errors.Is(err, ErrExists) {
		t.Errorf("an output that is there: %v", err)
	}
	inputtest.Write(t, partPath(filepath.Join(dir, "new.json")), "")
	if err := (Layout{}).Free(filepath.Join(dir, "new.json")); !errors.Is(err, ErrExists) {
		t.Errorf("records that wait: %v", err)
	}
	for name, packed := range map[string]bool{"x.parquet.gz": false, "x.pq.zst": false, "x.json.gz": true} {
		if _, err := (Layout{}).Found(name); (err == nil) != packed || err != nil && !errors.Is(err, ErrLayout) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(partPath(array)); err == nil {
		t.Error("the records are left")
	}
}

// Types of columns stay: numbers stay numbers.
func TestTypedRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := inputtest.Parquet(t, filepath.Join(dir, "in.parquet"), 3), filepath.Join(dir, "out.parquet")
	if _, _, err := process(t, in, out, config{do: filled}); err != nil {
		t.Fatal(err)
	}
	again, err := input.Open(out, nil, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]table.Kind{}
	for _, c := range again.Columns() {
		kinds[c.Name] = c.Type.Plain().Kind
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if kinds["zeta"] != table.Whole || kinds["text"] != table.Text || kinds["input_score"] != table.JSON ||
		kinds["score"] != table.Number {
		t.Error(kinds)
	}
}
