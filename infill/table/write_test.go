package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"infill/internal/testmode"

	"infill/infill/settings"
)

var (
	listOfText = Type{Kind: List, Elem: &Type{Kind: Text}}
	nested     = Type{Kind: List, Elem: &Type{Kind: Struct, Fields: []Column{
		{"z", Type{Kind: Text}}, {"a", Type{Kind: List, Elem: &Type{Kind: List, Elem: &Type{Kind: Whole}}}},
		{"x", Type{Kind: Number}},
	}}}
	everyType = []Column{
		{"zeta", Type{Kind: Text}}, {"whole", Type{Kind: Whole}}, {"number", Type{Kind: Number}},
		{"bool", Type{Kind: Bool}}, {"json", Type{Kind: JSON}}, {"words", listOfText}, {"alpha", nested},
	}
	everyRow = [][]any{
		{"a <b> & \"c\"\n", int64(-1 << 62), 0.1, true, json.RawMessage(`{"k":[1,null]}`),
			[]any{"x", ""}, []any{
				[]any{"one", []any{[]any{int64(1), int64(2)}, []any{}, []any{int64(3)}}, 1.5},
				[]any{nil, nil, nil},
				[]any{"two", []any{}, -2.0},
			}},
		{nil, nil, nil, nil, nil, nil, nil},
		{"", int64(0), 0.0, false, json.RawMessage(`7`), []any{}, []any{}},
		{json.RawMessage(`"from \u00e9 JSON"`), json.RawMessage(`12`), json.RawMessage(`25e-1`),
			json.RawMessage(`false`), json.RawMessage(`"text"`), []any{"last"}, []any{
				[]any{"", []any{[]any{int64(9)}}, 1e300}}},
	}
	everyLine = `{"zeta":"a <b> & \"c\"\n","whole":-4611686018427387904,"number":0.1,"bool":true,` +
		`"json":{"k":[1,null]},"words":["x",""],"alpha":[{"z":"one","a":[[1,2],[],[3]],"x":1.5},` +
		`{"z":null,"a":null,"x":null},{"z":"two","a":[],"x":-2}]}
{}
{"zeta":"","whole":0,"number":0,"bool":false,"json":7,"words":[],"alpha":[]}
{"zeta":"from \u00e9 JSON","whole":12,"number":25e-1,"bool":false,"json":"text","words":["last"],` +
		`"alpha":[{"z":"","a":[[9]],"x":1e+300}]}
`
)

func written(t *testing.T, f settings.Format, columns []Column, rows [][]any) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, f, 0, columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWriteJSONL(t *testing.T) {
	t.Parallel()
	if got := string(written(t, settings.FormatJSONL, everyType, everyRow)); got != everyLine {
		t.Errorf("%s\nwant\n%s", got, everyLine)
	}
}

func TestWriteCSVTypes(t *testing.T) {
	t.Parallel()
	rows, _, err := rowsOf(bytes.NewReader(written(t, settings.FormatCSV, everyType, everyRow)), ',', 1000)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"zeta|whole|number|bool|json|words|alpha",
		"a <b> & \"c\"\n|-4611686018427387904|0.1|true|{\"k\":[1,null]}|[\"x\",\"\"]|" +
			`[{"z":"one","a":[[1,2],[],[3]],"x":1.5},{"z":null,"a":null,"x":null},{"z":"two","a":[],"x":-2}]`,
		"||||||", "|0|0|false|7|[]|[]",
		`from é JSON|12|25e-1|false|text|["last"]|[{"z":"","a":[[9]],"x":1e+300}]`,
	} {
		if got := strings.Join(rows[i], "|"); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
}

// A Parquet file has the order and the types of its columns. The values are compared
// with those of JSON lines.
func TestWriteParquet(t *testing.T) {
	t.Parallel()
	b := written(t, settings.FormatParquet, everyType, everyRow)
	if !bytes.Equal(b, written(t, settings.FormatParquet, everyType, everyRow)) {
		t.Error("the same rows give other bytes")
	}
	if dir := os.Getenv("INFILL_TABLE_OUT"); dir != "" { // to be looked at by other programs
		if err := os.WriteFile(dir+"/every.parquet", b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := openParquet(t, b)
	for i, c := range p.Columns() {
		if c.Name != everyType[i].Name {
			t.Errorf("column %d is %s", i, c.Name)
		}
	}
	got := objects(t, p)
	for i, line := range strings.Split(strings.TrimSpace(everyLine), "\n") {
		want := decode(t, []byte(line)).(map[string]any)
		for _, c := range everyType {
			if !reflect.DeepEqual(got[i][c.Name], want[c.Name]) {
				t.Errorf("row %d, %s: %v, want %v", i, c.Name, got[i][c.Name], want[c.Name])
			}
		}
	}
	for _, bad := range []struct {
		t    Type
		cell any
	}{
		{Type{Kind: Whole}, "x"}, {Type{Kind: Number}, math.NaN()}, {listOfText, "x"},
		{Type{Kind: Whole}, json.RawMessage(`1.5`)}, {nested, []any{[]any{"too few"}}},
	} {
		w, err := NewWriter(io.Discard, settings.FormatParquet, 0, []Column{{"c", bad.t}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write([]any{bad.cell}); err == nil {
			t.Errorf("%v in a column of kind %d", bad.cell, bad.t.Kind)
		}
	}
}

// Many rows make several row groups. Each keeps to the size that is allowed.
func TestParquetRowGroups(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<10)
	var out bytes.Buffer
	w, err := newParquetWriter(&out, []Column{{"text", Type{Kind: Text}}, {"n", Type{Kind: Whole}}})
	if err != nil {
		t.Fatal(err)
	}
	w.most = 32 << 10
	for i := range 70 {
		if err := w.Write([]any{long, int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := openParquet(t, out.Bytes())
	if n := len(p.groups); n != 3 {
		t.Errorf("%d row groups", n)
	}
	for i, row := range objects(t, p) {
		if row["text"] != long || i > 0 && row["n"] != decode(t, []byte(`[`+string(must(json.Marshal(i)))+`]`)).([]any)[0] {
			t.Fatalf("row %d has n %v", i, row["n"])
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// readDamaged reads a file in which one byte is another, to its end or to an error.
func readDamaged(b []byte, at int, x byte) error {
	b = bytes.Clone(b)
	b[at] ^= x
	p, err := NewParquet(bytes.NewReader(b), int64(len(b)))
	for err == nil {
		var cells []any
		if cells, err = p.Next(); err != nil {
			break
		}
		for i := range cells {
			if _, err = p.JSON(i, cells[i]); err != nil {
				break
			}
		}
	}
	return err
}

// A damaged file is an error, never a panic.
func FuzzParquet(f *testing.F) {
	b, err := os.ReadFile("testdata/types.parquet")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(100), byte(1))
	f.Fuzz(func(t *testing.T, at uint16, x byte) {
		if err := readDamaged(b, int(at)%len(b), x); err != io.EOF && !errors.Is(err, ErrTable) {
			t.Fatalf("untyped error %v", err)
		}
	})
}

// Damage that the library of Parquet does not notice, or panics at, is an error. Every seventh byte
// with one bit flipped was tried to find these.
func TestParquetDamage(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at, bit int
		says    string
	}{
		{875, 3, "another number of rows"}, {6209, 1, "another number of rows"},
		{7035, 3, "another number of rows"},
		{6720, 0, "is damaged (runtime error: index out of range"},
		{6972, 4, "is damaged (runtime error: index out of range"},
	} {
		err := readDamaged(b, c.at, 1<<c.bit)
		if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("bit %d of byte %d: %v, want %q", c.bit, c.at, err, c.says)
		}
	}
	p := openParquet(t, b)
	cells, err := p.Next()
	if err != nil {
		t.Fatal(err)
	}
	one := cells[0].([]parquet.Value)
	_, err = p.JSON(0, append(slices.Clone(one), one...))
	if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), "too many values") {
		t.Errorf("two values in a cell: %v", err)
	}
}

// Each byte of a file may be damaged.
func TestParquetAnyByte(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	step := 41
	if testmode.All() {
		step = 7
	}
	failed, n := 0, 0
	for at := 0; at < len(b); at += step {
		n++
		err := readDamaged(b, at, byte(1<<(at%8)))
		if err != io.EOF {
			failed++
		}
		if err != io.EOF && !errors.Is(err, ErrTable) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
	if failed < n/10 {
		t.Errorf("only %d of %d damaged files are noticed", failed, n)
	}
}
