package input

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"infill/infill/batch/input/inputtest"
	"infill/infill/jsonl"
	"infill/infill/table"
)

// An array of JSON has the items of its elements as JSON lines.
func TestArrayInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := `{"text":"` + strings.Repeat("x", jsonl.MaxInput) + `"}`
	elements := []string{`{"text":"a [MASK]","id":7,"top":2}`, `{"k":[1,{"d":"]"}]}`, `{"text":"x",}`, long,
		`7`, `{"text":"\\ud800"}`, `{"sentence":"b","text":1}`, `{"text":"last"}`}
	want, err := items(t, inputtest.Write(t, filepath.Join(dir, "a.jsonl"), strings.Join(elements, "\n")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	array := inputtest.Write(t, filepath.Join(dir, "a.json"), "[\n "+strings.Join(elements, "\n , ")+"\n]\n")
	got, err := items(t, array, Options{})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%.400q, %v; want %.400q", got, err, want)
	}
	texts := inputtest.Write(t, filepath.Join(dir, "texts.json"), `["a [MASK]\n", "\u00e9", "\ud800", "\x"]`)
	got, err = items(t, texts, Options{TextField: "sentence"})
	if want := []string{`1 none "a [MASK]\n" lines`, `2 none "é" lines`, `3 none "` + "\ufffd" + `" <bad_json> lines`,
		`4 none "\"\\x\"" <bad_json> lines`}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	in, err := Open(array, nil, Options{Limit: 2})
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
	cut := inputtest.Write(t, filepath.Join(dir, "cut.json"), "[\"a\", \"b")
	in, err = Open(cut, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if _, err := in.Survey(); !errors.Is(err, table.ErrTable) || !strings.Contains(err.Error(), "unreadable JSON: element 2: ") {
		t.Errorf("an array that was cut off: %v", err)
	}
}
