package output

import (
	"encoding/json"
	"errors"
	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
	"infill/infill/table"
	"path/filepath"
	"reflect"
	"testing"
)

// A manifest's format is filled in, and what cannot be one is refused before anything is written.
func TestManifestFormat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "out.jsonl")
	in, err := input.Open(inputtest.Write(t, filepath.Join(dir, "in"), "one\n"), nil, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	var none *Manifest
	for _, c := range []struct {
		m    *Manifest
		in   *input.Reader
		want error
	}{
		{none, in, ErrManifest},
		{&Manifest{Format: manifestFormat + 1}, in, ErrManifest},
		{manifest(), nil, errNoInput},
		{manifest(), &input.Reader{}, errNoInput},
	} {
		if _, err := c.m.Open(path, c.in, Create, Layout{}); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.m, err, c.want)
		}
	}
	m := &Manifest{}
	out, err := m.Open(path, in, Create, Layout{})
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Close(true); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadManifest(path); err != nil || got.Format != manifestFormat {
		t.Errorf("%+v, %v", got, err)
	}
}

// A null of the user's stays one in JSON lines. In a table it is an empty cell.
func TestNullsStay(t *testing.T) {
	t.Parallel()
	rec, err := recordOf(1, []byte(`{"text":"x","foo":null,"line":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[settings.Format]any{
		settings.FormatJSONL: json.RawMessage("null"), settings.FormatCSV: nil, settings.FormatParquet: nil,
	} {
		m := Layout{Format: to, Kind: Variants}.newRowMaker(input.Options{Format: settings.FormatJSONL})
		for _, f := range m.inputFields(rec) {
			m.add(f.Name, table.Type{Kind: table.JSON})
		}
		rows, err := m.rows(rec, nil)
		if err != nil || len(rows) != 1 || !reflect.DeepEqual(rows[0][m.at["foo"]], want) {
			t.Errorf("format %v: %q, %v", to, rows, err)
		}
	}
}
