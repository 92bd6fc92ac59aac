package batch

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
)

// Arrow was read once. Under its names, and of a pipe, it is refused with what to do, and so is a
// folder that has some.
func TestArrowIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"x.arrow", "x.ARROWS", "x.feather", "x.ipc"} {
		_, err := Open(write(t, filepath.Join(dir, name), "ARROW1\x00\x00"), nil, InputOptions{})
		if !errors.Is(err, table.ErrTable) || !strings.Contains(err.Error(), "write_parquet") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("input %s: %v", name, err)
		}
		if _, err := (Layout{}).Found(name); !errors.Is(err, ErrLayout) {
			t.Errorf("output %s: %v", name, err)
		}
	}
	_, err := Open("-", strings.NewReader("ARROW1\x00\x00\xff\xff\xff\xff"), InputOptions{})
	if !errors.Is(err, ErrNotLines) || !strings.Contains(err.Error(), "as Parquet first") {
		t.Errorf("a pipe: %v", err)
	}
	write(t, filepath.Join(dir, "a.txt"), "the [MASK]")
	if _, _, err := (Layout{}).Folder(dir, dir+"-out", settings.FormatAuto); !errors.Is(err, table.ErrTable) ||
		!strings.Contains(err.Error(), "write_parquet") {
		t.Errorf("a folder: %v", err)
	}
}

// An array of JSON has the items of its elements as JSON lines.
func TestArrayInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := `{"text":"` + strings.Repeat("x", jsonl.MaxInput) + `"}`
	elements := []string{`{"text":"a [MASK]","id":7,"top":2}`, `{"k":[1,{"d":"]"}]}`, `{"text":"x",}`, long,
		`7`, `{"text":"\\ud800"}`, `{"sentence":"b","text":1}`, `{"text":"last"}`}
	want, err := items(t, write(t, filepath.Join(dir, "a.jsonl"), strings.Join(elements, "\n")), InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	array := write(t, filepath.Join(dir, "a.json"), "[\n "+strings.Join(elements, "\n , ")+"\n]\n")
	got, err := items(t, array, InputOptions{})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%.400q, %v; want %.400q", got, err, want)
	}
	texts := write(t, filepath.Join(dir, "texts.json"), `["a [MASK]\n", "\u00e9", "\ud800", "\x"]`)
	got, err = items(t, texts, InputOptions{TextField: "sentence"})
	if want := []string{`1 none "a [MASK]\n" lines`, `2 none "é" lines`, `3 none "` + "\ufffd" + `" <bad_json> lines`,
		`4 none "\"\\x\"" <bad_json> lines`}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	in, err := Open(array, nil, InputOptions{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if s, err := in.Survey(); err != nil || s.Records != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	if l, err := in.NextLine(); err != nil || l.Number != 1 || string(l.Text) != elements[0] {
		t.Errorf("%+v, %v", l, err)
	}
	cut := write(t, filepath.Join(dir, "cut.json"), "[\"a\", \"b")
	in, err = Open(cut, nil, InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if _, err := in.Survey(); !errors.Is(err, table.ErrTable) || !strings.Contains(err.Error(), "unreadable JSON: element 2: ") {
		t.Errorf("an array that was cut off: %v", err)
	}
}

// The name .json asks for an array, of the records that JSON lines have.
func TestArrayOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := write(t, filepath.Join(dir, "in.txt"), "a\nbad\n\nb\n")
	lines, array := filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "out.json")
	for _, out := range []string{lines, array} {
		if _, _, err := process(t, in, out, config{do: filled}); err != nil {
			t.Fatal(err)
		}
	}
	var got []json.RawMessage
	if err := json.Unmarshal(read(t, array), &got); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(read(t, lines))), "\n") {
		if i >= len(got) || string(got[i]) != line {
			t.Fatalf("record %d of %d is not %s", i+1, len(got), line)
		}
	}
	empty := filepath.Join(dir, "empty.json")
	if _, _, err := process(t, write(t, filepath.Join(dir, "none.txt"), "\n"), empty,
		config{do: filled}); err != nil || string(read(t, empty)) != "[]\n" {
		t.Errorf("of nothing: %q, %v", read(t, empty), err)
	}
	if err := (Layout{}).Free(array); !errors.Is(err, ErrExists) {
		t.Errorf("an output that is there: %v", err)
	}
	write(t, PartPath(filepath.Join(dir, "new.json")), "")
	if err := (Layout{}).Free(filepath.Join(dir, "new.json")); !errors.Is(err, ErrExists) {
		t.Errorf("records that wait: %v", err)
	}
	for name, packed := range map[string]bool{"x.parquet.gz": false, "x.pq.zst": false, "x.json.gz": true} {
		if _, err := (Layout{}).Found(name); (err == nil) != packed || err != nil && !errors.Is(err, ErrLayout) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(PartPath(array)); err == nil {
		t.Error("the records are left")
	}
}

// Types of columns stay: numbers stay numbers.
func TestTypedRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out := parquetFile(t, filepath.Join(dir, "in.parquet"), 3), filepath.Join(dir, "out.parquet")
	if _, _, err := process(t, in, out, config{do: filled}); err != nil {
		t.Fatal(err)
	}
	again, err := Open(out, nil, InputOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]table.Kind{}
	for _, c := range again.src.columns() {
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
