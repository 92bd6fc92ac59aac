package output

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
	"infill/infill/table"
)

// Rows whose cells are read from the input again are not made of another file than their records.
func TestInputReplaced(t *testing.T) {
	t.Parallel()
	// A file of the same rows but for their texts.
	other := func(t *testing.T, path string) {
		w, text := new(strings.Builder), table.Type{Kind: table.Text}
		rows, err := table.NewWriter(w, settings.FormatParquet, 0,
			[]table.Column{{Name: "text", Type: text}})
		for range 7 {
			err = errors.Join(err, rows.Write([]any{"other"}))
		}
		if err := errors.Join(err, rows.Close()); err != nil {
			t.Fatal(err)
		}
		inputtest.Write(t, path, w.String())
	}
	for kind, replace := range map[string]func(t *testing.T, in string) error{
		"another file of the same bytes": func(t *testing.T, in string) error {
			return os.Rename(inputtest.Parquet(t, in+"2", 7), in)
		},
		"written again": func(t *testing.T, in string) error {
			other(t, in)
			return nil
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in, out := inputtest.Parquet(t, filepath.Join(dir, "in.parquet"), 7), filepath.Join(dir, "out.parquet")
			_, _, err := process(t, in, out, config{do: filled, progress: func(p Progress) {
				if p.Records == 7 {
					if err := replace(t, in); err != nil {
						t.Error(err)
					}
				}
			}})
			_, statErr := os.Stat(out)
			if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), in+" changed") || statErr == nil {
				t.Errorf("%v; the output: %v", err, statErr)
			}
		})
	}
	// Not even the file system knows it: its texts are compared.
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.parquet"), filepath.Join(dir, "out.parquet")
	other(t, in)
	_, o, err := process(t, in, filepath.Join(dir, "records.jsonl"), config{do: filled})
	if err != nil {
		t.Fatal(err)
	}
	records := strings.Replace(string(inputtest.Read(t, o.Path)), `"text":"other"`, `"text":"mine"`, 1)
	inputtest.Write(t, partPath(out), records)
	o.file, o.Path, o.layout = partPath(out), out, Layout{}
	open, err := input.Open(in, nil, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.layout.Format = open.Format()
	if err := errors.Join(o.makeWhole(t.Context(), open, 0, 0), open.Close()); !errors.Is(err, ErrMismatch) {
		t.Errorf("of another text: %v", err)
	}
}
