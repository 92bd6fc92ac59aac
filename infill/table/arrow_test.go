package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"infill/infill/settings"
)

// kinds of fields of Arrow's Schema.fbs that a file of pyarrow has and this package does not write
const (
	arrowTimestamp = 10
	arrowFixed     = 16
	arrowDuration  = 18
)

// described are the fields of Arrow in a file: the name and the kind of each and of those in it, C
// for categories, and the zone of times.
func described(b flat, fields int) (out []string) {
	for i := range b.number(fields) {
		f := b.to(fields + 4 + 4*i)
		name, kind := b.to(b.member(f, fieldName)), b[b.member(f, fieldKind)]
		s := string(b[name+4:name+4+b.number(name)]) + ":" + string('A'+rune(kind))
		if b.member(f, fieldCategory) > 0 {
			s += "C"
		}
		if of := b.to(b.member(f, fieldType)); kind == arrowTimestamp {
			zone := b.to(b.member(of, 1))
			s += string(b[zone+4 : zone+4+b.number(zone)])
		}
		if kids := described(b, b.to(b.member(f, fieldChildren))); kids != nil {
			s += "(" + strings.Join(kids, " ") + ")"
		}
		out = append(out, s)
	}
	return out
}

func schemaOf(p *Parquet) []string {
	b := p.columns[0].Type.origin.types
	return described(b, b.to(b.member(b.to(b.member(b.to(0), messageHeader)), schemaFields)))
}

// dictionaries are the values of the dictionary of a leaf in each row group.
func dictionaries(t *testing.T, p *Parquet, leaf int) (out [][]string) {
	t.Helper()
	for _, g := range p.file.RowGroups() {
		pages := g.ColumnChunks()[leaf].Pages().(*parquet.FilePages)
		d, err := pages.ReadDictionary()
		if err != nil || d == nil {
			t.Fatalf("leaf %d has no dictionary: %v", leaf, err)
		}
		var values []string
		for i := range d.Len() {
			values = append(values, d.Index(int32(i)).String())
		}
		out = append(out, values)
		if err := pages.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Each row group of a copy has the categories of all row groups of the file in their own order,
// with those of no row. categories.parquet is by pyarrow, testdata/categories.py.
func TestCategories(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/categories.parquet")
	if err != nil {
		t.Fatal(err)
	}
	copied := func(raw []byte) *Parquet {
		in := openParquet(t, raw)
		var out bytes.Buffer
		w, err := newParquetWriter(&out, in.Columns())
		if err != nil {
			t.Fatal(err)
		}
		w.most = 1 // byte, so that each row is a row group
		for {
			cells, err := in.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(cells); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return openParquet(t, out.Bytes())
	}
	was, is := openParquet(t, raw), copied(raw)
	for leaf, want := range [][]string{{"low", "mid", "high"}, {"b", "unused", "a", "c"}, {"y", "x", "z"}} {
		got := dictionaries(t, is, leaf)
		for i := range got {
			if !slices.Equal(got[i], want) {
				t.Errorf("leaf %d, row group %d: %q, want %q", leaf, i, got[i], want)
			}
		}
		if len(got) != 5 {
			t.Errorf("%d row groups", len(got))
		}
	}
	want := objects(t, was)
	if got := objects(t, is); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A dictionary that cannot be read is an error of the rows alone.
	bad := bytes.Clone(raw)
	copy(bad[bytes.Index(bad, []byte("unused"))-4:], "\xff\xff\xff\xff") // its length
	p := openParquet(t, bad)
	if _, err := newParquetWriter(io.Discard, p.Columns()); err != nil {
		t.Error(err)
	}
	if _, err := p.Next(); !errors.Is(err, ErrTable) {
		t.Error(err)
	}
}

// What pyarrow says of the types of columns comes back, beside columns of this program, and so does
// what pandas has in the head. pyarrow 26 and polars read such a file with the types as they were.
func TestArrowTypes(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/arrow.parquet")
	if err != nil {
		t.Fatal(err)
	}
	was := openParquet(t, raw)
	want := []string{"size:UC", "took:S", "when:KEurope/Vienna", "pair:Q(item:C)",
		"deep:N(d:S c:M(item:FC))", "n:C"}
	if got := schemaOf(was); !reflect.DeepEqual(got, want) || arrowFixed+'A' != 'Q' || arrowDuration+'A' != 'S' {
		t.Fatalf("the fixture has %q", got)
	}
	text := Type{Kind: Text}
	own := []Column{{"t", text}, {"w", Type{Kind: Whole}}, {"x", Type{Kind: Number}}, {"b", Type{Kind: Bool}},
		{"j", Type{Kind: JSON}}, {"l", Type{Kind: List, Elem: &Type{Kind: Struct, Fields: []Column{{"s", text}}}}}}
	columns := append(was.Columns()[:len(want):len(want)], own...)
	columns[5].Name = "input_n"
	var out bytes.Buffer
	w, err := NewWriter(&out, settings.FormatParquet, 0, columns)
	if err != nil {
		t.Fatal(err)
	}
	for {
		cells, err := was.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = w.Write(append(cells, "a", int64(1), .5, true, json.RawMessage("{}"), []any{[]any{"s"}}))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	is := openParquet(t, out.Bytes())
	want = append(append(want[:5:5], "input_n:C"), "t:F", "w:C", "x:D", "b:G", "j:F", "l:M(element:N(s:F))")
	if got := schemaOf(is); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if a, b := was.columns[0].Type.origin.other, is.columns[0].Type.origin.other; len(a) != 1 ||
		a[0].Key != "pandas" || !reflect.DeepEqual(a, b) {
		t.Errorf("%q, want %q", b, a)
	}
	for i, c := range is.Columns() {
		o := c.Type.origin
		if got := slices.Contains(o.types.categories(o.field), true); got != (i == 0 || i == 4) {
			t.Errorf("%s: categories %v", c.Name, got)
		}
	}
	// The categories themselves are in dictionaries, with those of no row.
	for leaf, want := range map[int][]string{0: {"low", "mid", "high"}, 5: {"x", "y"}} {
		if got := dictionaries(t, is, leaf); !reflect.DeepEqual(got, [][]string{want}) {
			t.Errorf("leaf %d: categories %q, want %q", leaf, got, want)
		}
	}
	before, after := objects(t, openParquet(t, raw)), objects(t, is)
	for i, row := range before {
		row["input_n"] = row["n"]
		delete(row, "n")
		for name, v := range row {
			if got := after[i][name]; !reflect.DeepEqual(got, v) {
				t.Errorf("%s: %v, want %v", name, got, v)
			}
		}
	}
	// Damaged types are none, and the cells are read.
	at := bytes.Index(raw, []byte("/////")) // the start of the message in base64
	for i := range 60 {
		bad := bytes.Clone(raw)
		bad[at+7*i] ^= 1
		if got := objects(t, openParquet(t, bad)); len(got) != len(before) {
			t.Errorf("%d: %v", i, got)
		}
	}
}
