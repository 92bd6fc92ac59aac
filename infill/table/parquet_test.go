package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"infill/infill/settings"
)

func openParquet(t *testing.T, b []byte) *Parquet {
	t.Helper()
	p, err := NewParquet(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// objects are the rows of a file as JSON objects.
func objects(t *testing.T, p *Parquet) []map[string]any {
	t.Helper()
	var out []map[string]any
	for {
		cells, err := p.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, c := range p.Columns() {
			v, err := p.JSON(i, cells[i])
			if err != nil {
				t.Fatalf("row %d, %s: %v", len(out)+1, c.Name, err)
			}
			row[c.Name] = decode(t, v)
		}
		out = append(out, row)
	}
}

// decode reads JSON with the digits of its numbers.
func decode(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return plainNumbers(v)
}

// plainNumbers makes 0.0 and 0 equal.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if x, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".e") {
			return x
		}
		if v == "0" {
			return 0.0
		}
		return v.String()
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return v
}

// The file was written, and its content listed, by pyarrow: testdata/make.py.
func TestParquetTypes(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/types.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	p := openParquet(t, b)
	got := objects(t, p)
	asPyarrow(t, got, want)
	if p.Rows() != 7 {
		t.Errorf("the head says %d rows", p.Rows())
	}
}

// asPyarrow compares rows with what pyarrow says, an object a line.
func asPyarrow(t *testing.T, got []map[string]any, want []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(want)), "\n")
	for i, line := range lines {
		w := decode(t, []byte(line)).(map[string]any)
		if i >= len(got) {
			t.Fatalf("%d rows", len(got))
		}
		for name, v := range w {
			if !reflect.DeepEqual(got[i][name], v) {
				t.Errorf("row %d, %s: %v, pyarrow has %v", i+1, name, got[i][name], v)
			}
		}
	}
	if len(got) != len(lines) {
		t.Errorf("%d rows, pyarrow has %d", len(got), len(lines))
	}
}

// Columns of another file keep their names, order, types and values.
func TestParquetCopy(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	p := openParquet(t, b)
	own := Column{"score", Type{Kind: Number}}
	var out bytes.Buffer
	w, err := NewWriter(&out, settings.FormatParquet, 0, append(p.Columns()[:len(p.Columns()):len(p.Columns())], own))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		cells, err := p.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(append(cells, float64(i)/4)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	copied := openParquet(t, out.Bytes())
	was := openParquet(t, b)
	for i, c := range was.Columns() {
		if g := copied.Columns()[i]; g.Name != c.Name || g.Type.node.String() != c.Type.node.String() {
			t.Errorf("column %d is %s, was %s", i, g.Type.node, c.Type.node)
		}
	}
	a, c := objects(t, was), objects(t, copied)
	for i := range a {
		if s := c[i]["score"]; i > 0 && i != 4 && s != float64(i)/4 {
			t.Errorf("row %d: score %v", i, s)
		}
		delete(c[i], "score")
		if !reflect.DeepEqual(a[i], c[i]) {
			t.Errorf("row %d is %v, was %v", i, c[i], a[i])
		}
	}
	if dir := os.Getenv("INFILL_TABLE_OUT"); dir != "" { // to be looked at by other programs
		if err := os.WriteFile(dir+"/copied.parquet", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParquetDamaged(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{nil, []byte("PAR1"), b[:len(b)/2], b[100:], []byte("a,b\n1,2\n")} {
		if _, err := NewParquet(bytes.NewReader(damaged), int64(len(damaged))); !errors.Is(err, ErrTable) {
			t.Errorf("%d bytes: %v", len(damaged), err)
		}
	}
}

// What follows after rows were passed over is what stands there, whatever row group it is in.
func TestParquetSkip(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	whole := openParquet(t, b)
	want := objects(t, whole)
	if len(whole.file.RowGroups()) < 2 {
		t.Fatal("the file has one row group")
	}
	for n := range len(want) + 2 {
		p := openParquet(t, b)
		if err := p.Skip(n); err != nil {
			t.Fatal(err)
		}
		if got := objects(t, p); len(got) != max(len(want)-n, 0) ||
			len(got) > 0 && !reflect.DeepEqual(got, want[n:]) {
			t.Errorf("after %d rows: %v, want %v", n, got, want[n:])
		}
	}
}

// A row group without rows is not damage: pyarrow writes one for a table without rows. The files
// are by testdata/empty_groups.py.
func TestParquetEmptyGroups(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"empty.parquet":        nil,
		"empty_groups.parquet": {"the [MASK] sat", "a [MASK] ran", "one [MASK] slept"},
	} {
		b, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(want) + 2 {
			p := openParquet(t, b)
			if len(p.Columns()) != 2 || p.Rows() != int64(len(want)) {
				t.Errorf("%s has %d columns and %d rows", file, len(p.Columns()), p.Rows())
			}
			if n > 0 { // else nothing is passed over at all
				if err := p.Skip(n); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, row := range objects(t, p) {
				got = append(got, row["text"].(string))
			}
			if rest := want[min(n, len(want)):]; !slices.Equal(got, rest) {
				t.Errorf("%s after %d rows: %q, want %q", file, n, got, rest)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A file states the scale of its decimals, and may state a wild one.
func TestDecimalScales(t *testing.T) {
	for scale, want := range map[int]string{-2: "-12345", 0: "-12345", 2: "-123.45", 7: "-0.0012345",
		math.MaxInt32: "-12345E-2147483647"} {
		if got := decimal(big.NewInt(-12345), scale); got != want {
			t.Errorf("scale %d: %s, want %s", scale, got, want)
		}
	}
}
