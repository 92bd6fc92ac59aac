package output

import (
	"bytes"
	"errors"
	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/settings"
	"path/filepath"
	"strings"
	"testing"
)

// A stream has rows at once. Forms that need a file are refused.
func TestStreamRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	csvFile := inputtest.Write(t, filepath.Join(dir, "in.csv"), "text,k\na,1\nbad,2\n")
	lines := inputtest.Write(t, filepath.Join(dir, "in.jsonl"), `{"text":"a","k":1}`+"\n"+`{"text":"bad","j":[2]}`+"\n")
	for _, c := range []struct {
		in   string
		l    Layout
		want string
	}{
		{csvFile, Layout{Format: settings.FormatTSV},
			"text\tk\tline\tfilled\tscore\t"},
		{lines, Layout{Per: settings.PerFilling},
			`{"text":"a","k":1,"line":1,"rank":1,"filled":"A",`},
		{lines, Layout{Format: settings.FormatCSV}, ""},
		{csvFile, Layout{Format: settings.FormatParquet}, ""},
	} {
		in, err := input.Open(c.in, nil, input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		out, err := c.l.Stream(&b, in)
		if c.want == "" {
			if !errors.Is(err, ErrLayout) {
				t.Errorf("%s %+v: %v", c.in, c.l, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		err = each(in, out, config{do: filled, ctx: t.Context()}, &Progress{})
		if err := errors.Join(err, out.Close(true)); err != nil || !strings.HasPrefix(b.String(), c.want) ||
			!strings.Contains(b.String(), "invalid_utf8") {
			t.Errorf("%s %+v: %s, %v", c.in, c.l, b.String(), err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := (Layout{}).Found("x.parquet.gz"); !errors.Is(err, ErrLayout) {
		t.Errorf("compressed Parquet: %v", err)
	}
}

// Lines of text are the best fillings, or each of them. A record that failed keeps its place.
func TestTextLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.csv"), "text\na\nbad\n\"b\nc\"\n")
	for _, c := range []struct {
		name string
		per  settings.Unit
		want string
	}{
		{"best.txt", settings.PerSentence, "A\n\nB C\n"},
		{"all.txt", settings.PerFilling, "A\nsecond\n\nB C\nsecond\n"},
	} {
		l := Layout{Per: c.per}
		out := filepath.Join(dir, c.name)
		if _, _, err := process(t, in, out, config{do: filled, layout: l}); err != nil {
			t.Fatal(err)
		}
		if got := string(inputtest.Read(t, out)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		p, _, err := process(t, in, out, config{do: filled, layout: l, mode: Resume})
		if err != nil || p.Resumed != 3 {
			t.Errorf("%s: a finished run is done again: %+v, %v", c.name, p, err)
		}
	}
	if _, err := (Layout{Kind: Scores}).Found("x.txt"); !errors.Is(err, ErrLayout) {
		t.Errorf("scores as text: %v", err)
	}
}
