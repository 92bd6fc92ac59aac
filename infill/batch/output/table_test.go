package output

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"infill/infill/batch/input"
	"infill/infill/batch/input/inputtest"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/unpack"
	"infill/tokenize"
)

// filled is the record of an item with two fillings, or an error.
func filled(_ context.Context, it *input.Item) (Record, error) {
	rec := &jsonl.Filled{Item: jsonl.Item{ID: it.ID, Line: it.Line, Text: it.Text},
		Origin: jsonl.Origin{Fields: it.Fields}}
	out := Record{}
	switch {
	case it.Err != nil:
		out.Cause = it.Err
	case strings.HasPrefix(it.Text, "bad"):
		out.Cause = tokenize.ErrInvalidUTF8
	default:
		for i, text := range []string{strings.ToUpper(it.Text), "second"} {
			score := -float64(i) - 0.5
			rec.Fillings = append(rec.Fillings, jsonl.Filling{Text: text, Tokens: []string{"a", text},
				Spans: []jsonl.Span{{0, 0}}, Score: &score, Count: 1 + i})
		}
		rec.Distinct = 2
	}
	if out.Failed = out.Cause != nil; out.Failed {
		rec.Error = &jsonl.Failure{Code: jsonl.Code(out.Cause), Message: out.Cause.Error()}
	}
	var err error
	out.JSON, err = jsonl.Append(nil, rec)
	return out, err
}

// A run that was stopped at any byte of its records, whatever the form of its output,
// goes on to the bytes of a run without a stop. Nothing of a table is there before its end.
func TestResumeRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, out string }{
		{"in.csv", "out.csv"}, {"in.csv", "out.parquet"}, {"in.parquet", "out.parquet"},
		{"in.parquet", "out.tsv.gz"}, {"in.jsonl", "out.parquet"}, {"in.jsonl", "out.csv.zst"},
		{"in.txt", "out.jsonl"}, {"in.jsonl", "out.jsonl.gz"}, {"in.json", "out.json"},
		{"in.json", "out.parquet"}, {"in.parquet", "out.json.gz"},
	} {
		t.Run(c.in+" "+c.out, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := filepath.Join(dir, c.in)
			switch filepath.Ext(in) {
			case ".csv":
				inputtest.Write(t, in, "id,text,line\n1,\"a\nb\",x\n2,bad,\n3\n4,\"c, \"\"d\"\"\",y\n")
			case ".jsonl":
				inputtest.Write(t, in, `{"text":"a","k":1,"gold":"mine"}`+"\n{\n"+`{"id":7,"text":"b","k":2.5,"score":[1]}`+"\n")
			case ".json":
				inputtest.Write(t, in, `[{"text":"a","k":1,"gold":"mine"},`+"\n\"b\", {\n},{\"k\":[1]}]")
			case ".txt":
				inputtest.Write(t, in, "a\n\nbad\nb\n")
			default:
				inputtest.Parquet(t, in, 7)
			}
			out := filepath.Join(dir, c.out)
			layout := Layout{Per: settings.PerFilling}
			if _, _, err := process(t, in, out, config{do: filled, layout: layout}); err != nil {
				t.Fatal(err)
			}
			want := inputtest.Read(t, out)
			if _, err := os.Stat(partPath(out)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the part is left: %v", err)
			}
			again, err := input.Open(out, nil, input.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s, err := again.Survey(); err != nil || s.Records < 4 {
				t.Errorf("the output is read as %+v, %v", s, err)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
			p, _, err := process(t, in, out, config{mode: Resume, do: filled, layout: layout})
			if err != nil || p.Resumed != p.Records || p.Records == 0 || p.Failed == 0 && c.in != "in.txt" {
				t.Errorf("a finished run is done again: %+v, %v", p, err)
			}
			// The records of the whole run.
			whole := filepath.Join(dir, "records.jsonl")
			if _, _, err := process(t, in, whole, config{do: filled}); err != nil {
				t.Fatal(err)
			}
			records := inputtest.Read(t, whole)
			for n := 0; n <= len(records); n += 1 + len(records)/40 {
				if err := os.Remove(out); err != nil {
					t.Fatal(err)
				}
				inputtest.Write(t, partPath(out), string(records[:n]))
				if _, _, err := process(t, in, out, config{do: filled, layout: layout}); !errors.Is(err, ErrExists) {
					t.Fatalf("the part of another run: %v", err)
				}
				if _, _, err := process(t, in, out, config{mode: Resume, do: filled, layout: layout}); err != nil {
					t.Fatalf("%d bytes: %v", n, err)
				}
				if !bytes.Equal(inputtest.Read(t, out), want) {
					t.Fatalf("resumed at byte %d of %d: another file", n, len(records))
				}
			}
			// Stopped: the records are there, the rows are not.
			ctx, cancel := context.WithCancel(context.Background())
			_, _, err = process(t, in, out, config{mode: Force, ctx: ctx, do: filled, layout: layout,
				progress: func(p Progress) {
					if p.Records == 1 {
						cancel()
					}
				}})
			if _, statErr := os.Stat(out); err == nil || !errors.Is(statErr, os.ErrNotExist) ||
				!bytes.HasPrefix(records, inputtest.Read(t, partPath(out))) {
				t.Errorf("stopped: %v, %v", err, statErr)
			}
			if _, _, err := process(t, in, out, config{mode: Resume, do: filled, layout: layout}); err != nil ||
				!bytes.Equal(inputtest.Read(t, out), want) {
				t.Errorf("after a stop: %v", err)
			}
			// Cut off, or changed, after it was finished.
			other := bytes.Clone(want)
			other[len(other)/2] ^= 1
			for _, bad := range [][]byte{want[:len(want)-1], other, nil} {
				inputtest.Write(t, out, string(bad))
				_, _, err := process(t, in, out, config{mode: Resume, do: filled, layout: layout})
				was, is := fmt.Sprintf("%d bytes", len(want)), fmt.Sprintf("it has %d now", len(bad))
				if !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), was) ||
					!strings.Contains(err.Error(), is) || !bytes.Equal(inputtest.Read(t, out), bad) {
					t.Errorf("of %d bytes %d are left: %v", len(want), len(bad), err)
				}
			}
			inputtest.Write(t, out, string(want))
			if _, _, err := process(t, in, out, config{mode: Resume, do: filled, layout: layout}); err != nil {
				t.Errorf("unchanged: %v", err)
			}
			// Stopped between the rows and the manifest.
			m, err := ReadManifest(out)
			if err != nil {
				t.Fatal(err)
			}
			m.Finished = nil
			if err := m.write(out); err != nil {
				t.Fatal(err)
			}
			if _, _, err := process(t, in, out, config{mode: Resume, do: filled, layout: layout}); !errors.Is(err, ErrManifest) {
				t.Errorf("an output that nobody finished: %v", err)
			}
			inputtest.Write(t, partPath(out), string(records))
			if _, _, err := process(t, in, out, config{mode: Resume, do: filled, layout: layout}); err != nil ||
				!bytes.Equal(inputtest.Read(t, out), want) {
				t.Errorf("rows without their manifest: %v", err)
			}
		})
	}
}

// rowsOut runs a file through and returns the rows of the output as JSON.
func rowsOut(t *testing.T, name, data string, l Layout) []map[string]any {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, name)
	if data == "" {
		inputtest.Parquet(t, in, 3)
	} else {
		inputtest.Write(t, in, data)
	}
	out := filepath.Join(dir, "out.jsonl")
	if _, _, err := process(t, in, out, config{do: filled, layout: l}); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	for _, line := range strings.Split(strings.TrimSpace(string(inputtest.Read(t, out))), "\n") {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// Each cell of the input is in the output under its name, or that with input_.
func TestRowsLoseNothing(t *testing.T) {
	t.Parallel()
	l := Layout{Per: settings.PerFilling}
	rows := rowsOut(t, "in.csv", "text,line,input_line,gold,input_fields,error,seed\n"+
		"a,L,I,G,F,E,S\nbad,l,i,g,f,e,s\nc\n", l)
	for i, want := range []map[string]any{
		{"text": "a", "input_line": "L", "input_input_line": "I", "gold": "G", "input_fields": "F",
			"input_error": "E", "seed": "S", "line": 2.0, "rank": 1.0, "filled": "A", "score": -0.5},
		{"text": "a", "input_line": "L", "gold": "G", "line": 2.0, "rank": 2.0, "filled": "second"},
		{"text": "bad", "input_line": "l", "gold": "g", "input_error": "e", "seed": "s",
			"error": "invalid_utf8", "rank": nil, "filled": nil},
		{"text": "c", "gold": nil, "error": "bad_row", "line": 4.0},
	} {
		for k, v := range want {
			if !reflect.DeepEqual(rows[i][k], v) {
				t.Errorf("row %d: %s is %v, want %v", i, k, rows[i][k], v)
			}
		}
	}
	if len(rows) != 4 {
		t.Errorf("%d rows", len(rows))
	}
	rows = rowsOut(t, "in.parquet", "", l)
	if want := []any{0.0, 1.0}; !reflect.DeepEqual(rows[0]["input_score"], want) || rows[0]["id"] != 100.0 ||
		rows[1]["rank"] != 2.0 || rows[2]["error"] != "invalid_utf8" {
		t.Errorf("%v", rows)
	}
	m := l.newRowMaker(input.Options{})
	names := map[string]string{}
	for _, n := range []string{"score", "input_score", "input_input_score", "input_", "input_x", "x", "Score"} {
		out := m.outputName(n)
		if was, ok := names[out]; ok {
			t.Errorf("%s and %s are both %s", was, n, out)
		}
		names[out] = n
	}
}

// Fields of JSON lines get the narrowest type that holds all their values.
func TestInferredTypes(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]table.Kind{
		`"a" null "b"`: table.Text, `null`: table.Text, `1 -2 null`: table.Whole, `1 2.5`: table.Number,
		`1e400`: table.JSON, `true false`: table.Bool, `1 "a"`: table.JSON, `[1]`: table.JSON,
		`9007199254740993`: table.Whole, `9007199254740993 0.5`: table.JSON, `12345678901234567890`: table.JSON,
		`{} null`: table.JSON, `-0`: table.Number, `true 1`: table.JSON,
	} {
		var n inferrer
		for _, v := range strings.Fields(values) {
			n.add(jsonl.Field{Name: "x", Value: json.RawMessage(v)})
		}
		if got := n.typeOf("x").Kind; got != want {
			t.Errorf("%s is of kind %d, want %d", values, got, want)
		}
	}
}

// A run with a limit reads that number of records. One with a greater limit goes on to the bytes
// of a run that had it from the start.
func TestLimit(t *testing.T) {
	t.Parallel()
	for _, suffix := range suffixes {
		dir := t.TempDir()
		in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(300))
		whole, out := filepath.Join(dir, "whole"+suffix), filepath.Join(dir, "out"+suffix)
		if _, _, err := process(t, in, whole, config{do: atOnce}); err != nil {
			t.Fatal(err)
		}
		for i, limit := range []int{10, 100, 150, 0} {
			mode := Resume
			if i == 0 {
				mode = Create
			}
			p, _, err := process(t, in, out, config{do: atOnce, limit: limit, mode: mode})
			want := limit
			if limit == 0 {
				want = 283
			}
			if err != nil || p.Records != want || p.Total != want {
				t.Fatalf("limit %d: %+v, %v", limit, p, err)
			}
			if m, err := ReadManifest(out); err != nil || m.Limit != limit {
				t.Errorf("the manifest has limit %d, %v", m.Limit, err)
			}
		}
		if !bytes.Equal(inputtest.Read(t, out), inputtest.Read(t, whole)) {
			t.Errorf("%s: another file", suffix)
		}
		_, _, err := process(t, in, out, config{do: atOnce, limit: 100, mode: Resume})
		if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "limit was none, is 100") {
			t.Errorf("a smaller limit: %v", err)
		}
	}
	// Rows that were made are not made again.
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), "a\nb\nc\n")
	out := filepath.Join(dir, "out.csv")
	if _, _, err := process(t, in, out, config{do: filled, limit: 2}); err != nil {
		t.Fatal(err)
	}
	_, _, err := process(t, in, out, config{do: filled, mode: Resume})
	if !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), "limit was 2, is none") {
		t.Errorf("a finished table: %v", err)
	}
}

// A table in a form that is not known is neither taken for lines nor filled with them, unless its
// format is named.
func TestForeignTables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"x.xlsx", "x.ODS", "x.orc"} {
		_, err := Layout{}.Found(name)
		if !errors.Is(err, ErrLayout) || !strings.Contains(err.Error(), ".csv, .tsv and .parquet") {
			t.Errorf("output %s: %v", name, err)
		}
		if l, err := (Layout{Format: settings.FormatCSV}).Found(name); err != nil || l.form() != asRows {
			t.Errorf("output %s as CSV: %v", name, err)
		}
		_, err = input.OpenStream(name, strings.NewReader("PK\x03\x04"), input.Options{})
		if !errors.Is(err, table.ErrTable) || !strings.Contains(err.Error(), "save it as one of these") {
			t.Errorf("input %s: %v", name, err)
		}
	}
	for _, name := range []string{"x.docx", "x.md.gz", "x.HTML", "x.yaml", "x.pkl"} {
		if _, err := (Layout{}).Found(name); !errors.Is(err, ErrLayout) || !strings.Contains(err.Error(),
			"records as .jsonl and .json, and nothing as "+foreign(name)) {
			t.Errorf("output %s: %v", name, err)
		}
		if _, err := (Layout{Format: settings.FormatJSONL}).Found(name); err != nil {
			t.Errorf("output %s as JSON lines: %v", name, err)
		}
	}
	for _, name := range []string{"x", "x.jsonl", "x.out"} {
		if l, err := (Layout{}).Found(name); err != nil || l.form() == asRows {
			t.Errorf("output %s: %+v, %v", name, l, err)
		}
	}
}

// The name of an output says its compression in any case. A name of another one is refused, whatever
// the format: its file would not be what it says.
func TestCompressionOfNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), inputtest.Sentences(9))
	for _, c := range []struct {
		name string
		per  settings.Unit
	}{{"x.JSONL.GZ", 0}, {"y.jsonl.Zst", 0}, {"x.Csv.Gz", 0}, {"z.JSONL.ZST", settings.PerFilling}} {
		out := filepath.Join(dir, c.name)
		if _, _, err := process(t, in, out, config{layout: Layout{Per: c.per}}); err != nil {
			t.Fatal(err)
		}
		u, err := unpack.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(u); u.Format == "" || err != nil || len(b) == 0 {
			t.Errorf("%s: %q, %d bytes, %v", c.name, u.Format, len(b), err)
		}
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"x.jsonl.bz2", "x.csv.XZ", "x.zip", "x.jsonl.lz4", "x.br", "x.tsv.zstd"} {
		for _, l := range []Layout{{}, {Format: settings.FormatCSV}, {Format: settings.FormatJSONL}} {
			if _, err := l.Found(name); !errors.Is(err, ErrLayout) || !strings.Contains(err.Error(), name) ||
				!strings.Contains(err.Error(), "as .gz and .zst") {
				t.Errorf("%s, %v: %v", name, l.Format, err)
			}
		}
	}
	// Records that are not compressed are not what its run has finished.
	plain, packed := filepath.Join(dir, "plain.jsonl"), filepath.Join(dir, "packed.jsonl.GZ")
	for _, out := range []string{plain, packed} {
		if _, _, err := process(t, in, out, config{}); err != nil {
			t.Fatal(err)
		}
	}
	want := inputtest.Read(t, plain)
	inputtest.Write(t, packed, string(want))
	if _, _, err := process(t, in, packed, config{mode: Resume}); !errors.Is(err, ErrManifest) ||
		!bytes.Equal(inputtest.Read(t, packed), want) {
		t.Errorf("plain records in %s: %v", packed, err)
	}
}
