package table

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"infill/internal/testmode"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openArrow(t *testing.T, r io.Reader) *Arrow {
	t.Helper()
	a, err := NewArrow(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

var arrowFiles = []string{"types.arrow", "types.arrows", "types_lz4.feather", "types_zstd.feather"}

// The files were written, and their content listed, by pyarrow: testdata/make_arrow.py.
func TestArrowTypes(t *testing.T) {
	t.Parallel()
	for _, name := range arrowFiles {
		a := openArrow(t, iotest.OneByteReader(bytes.NewReader(read(t, name))))
		asPyarrow(t, objects(t, a), read(t, "types.jsonl"))
	}
	a := openArrow(t, bytes.NewReader(read(t, "more.arrows")))
	asPyarrow(t, objects(t, a), read(t, "more.jsonl"))
}

func TestArrowSkip(t *testing.T) {
	t.Parallel()
	b := read(t, "types.arrows")
	want := objects(t, openArrow(t, bytes.NewReader(b)))
	for n := range len(want) + 2 {
		a := openArrow(t, bytes.NewReader(b))
		if err := a.Skip(n); err != nil && (err != io.EOF || n <= len(want)) {
			t.Fatal(err)
		}
		if got := objects(t, a); len(got) != max(len(want)-n, 0) ||
			len(got) > 0 && !reflect.DeepEqual(got, want[n:]) {
			t.Errorf("after %d rows: %v", n, got)
		}
	}
}

// readAll reads all cells, and returns the error that ends it.
func readAll(r io.Reader, most int) (rows int, err error) {
	a, err := newArrow(r, most)
	if err != nil {
		return 0, err
	}
	defer func() { _ = a.Close() }()
	for rows < 1000 {
		cells, err := a.Next()
		if err != nil {
			return rows, err
		}
		for i := range cells {
			if _, err := a.JSON(i, cells[i]); err != nil {
				return rows, err
			}
		}
		rows++
	}
	return rows, io.EOF
}

// What is cut off is not the whole table, wherever it is cut in a file, and in a stream within a
// message. Its rows have numbers.
func TestArrowCut(t *testing.T) {
	t.Parallel()
	for _, name := range arrowFiles[:2] {
		b := read(t, name)
		whole := 0
		for n := range len(b) {
			rows, err := readAll(bytes.NewReader(b[:n]), maxArrowBatch)
			var bad *Error
			switch {
			case errors.As(err, &bad) && (bad.Row == 0 || bad.Row == rows+1):
			case err == io.EOF && name == "types.arrows":
				whole++ // between two messages, as writers leave it that are killed
			default:
				t.Fatalf("%s: %d of %d bytes: %d rows, %v", name, n, len(b), rows, err)
			}
		}
		if whole > 8 {
			t.Errorf("%d cuts of %s were not noticed", whole, name)
		}
	}
	b := read(t, "types.arrows")
	if _, err := readAll(bytes.NewReader(append(b, b...)), maxArrowBatch); err == nil ||
		!strings.Contains(err.Error(), "more data follow") {
		t.Errorf("two streams: %v", err)
	}
	broken := errors.New("the disk")
	r := io.MultiReader(bytes.NewReader(b[:3000]), iotest.ErrReader(broken))
	if _, err := readAll(r, maxArrowBatch); !errors.Is(err, broken) || errors.Is(err, ErrTable) {
		t.Errorf("the error of the reader became %v", err)
	}
}

// What a message says of its size is not believed.
func TestArrowSizes(t *testing.T) {
	t.Parallel()
	huge := append([]byte(continuation), 0xf0, 0xff, 0xff, 0x7f)
	for _, b := range [][]byte{huge, []byte(arrowMagic), []byte("ARROW1\x00\x00"), nil,
		[]byte("text\nthe [MASK] .\n"), append([]byte(continuation), 0, 0, 0, 0)} {
		if _, err := NewArrow(bytes.NewReader(b)); !errors.Is(err, ErrTable) {
			t.Errorf("%q: %v", b, err)
		}
	}
	for _, name := range arrowFiles {
		if _, err := readAll(bytes.NewReader(read(t, name)), 500); err == nil ||
			!strings.Contains(err.Error(), "write it in smaller ones") {
			t.Errorf("%s: a batch beyond the limit: %v", name, err)
		}
	}
	// Every word of the files becomes a large number.
	for _, name := range append([]string{"more.arrows"}, arrowFiles...) {
		b := read(t, name)
		for at := 0; at+4 <= len(b); at += 4 {
			for i, x := range []uint32{0x7fffffff, 0xffffffff, 0xfffffff0, 1 << 20} {
				if i != at/4%4 || !testmode.All() && name != "more.arrows" {
					continue
				}
				damaged := bytes.Clone(b)
				binary.LittleEndian.PutUint32(damaged[at:], x)
				if err := damage(damaged); err != nil {
					t.Fatalf("%s with %#x at %d: %v", name, x, at, err)
				}
			}
		}
	}
}

// damage is an untyped error of damaged data.
func damage(b []byte) error {
	if _, err := readAll(bytes.NewReader(b), 1<<20); err != io.EOF && !errors.Is(err, ErrTable) {
		return fmt.Errorf("untyped error %w", err)
	}
	return nil
}

// The fuzzer changes words of a file: of whole files it would try to make smaller ones for a minute
// each.
func FuzzArrow(f *testing.F) {
	names := append([]string{"more.arrows"}, arrowFiles...)
	f.Add(byte(0), []byte("\x10\x00\xff\xff\xff\x7f"))
	f.Add(byte(2), []byte("\x01\x02\x00\x00\x00\x00\x11\x03\x80\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, which byte, changes []byte) {
		b := bytes.Clone(read(t, names[int(which)%len(names)]))
		for ; len(changes) >= 6; changes = changes[6:] {
			at := int(binary.LittleEndian.Uint16(changes)) % (len(b) - 4)
			copy(b[at:at+4], changes[2:6])
		}
		if err := damage(b); err != nil {
			t.Fatal(err)
		}
	})
}

// rewritten is a table of a file in another format, with a column more.
func rewritten(t *testing.T, from stores, f Format) []byte {
	t.Helper()
	var columns []Column
	for _, c := range from.Columns() {
		if !c.Type.Keeps(f) {
			c.Type = c.Type.Plain()
		}
		columns = append(columns, c)
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, f, append(columns, Column{"score", Type{Kind: Number}}))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		cells, err := from.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for i, c := range columns {
			if c.Type.Kind == Native {
				continue
			}
			v, err := from.JSON(i, cells[i])
			if err != nil {
				t.Fatal(err)
			}
			if cells[i] = v; string(v) == "null" {
				cells[i] = nil
			}
		}
		// Twice, as two fillings of a row are.
		for range 2 {
			if err := w.Write(append(cells[:len(cells):len(cells)], float64(n)/4)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Rows that are written to another format, and read again, are the same. Lists and structures come
// back as texts of JSON where a format does not keep their types.
func TestArrowRewritten(t *testing.T) {
	t.Parallel()
	open := map[Format]func([]byte) stores{
		FormatArrow:   func(b []byte) stores { return openArrow(t, bytes.NewReader(b)) },
		FormatArrows:  func(b []byte) stores { return openArrow(t, bytes.NewReader(b)) },
		FormatParquet: func(b []byte) stores { return openParquet(t, b) },
	}
	for _, from := range []string{"types.arrow", "more.arrows", "types.parquet"} {
		f := FormatArrow
		if strings.HasSuffix(from, "parquet") {
			f = FormatParquet
		}
		want := objects(t, open[f](read(t, from)))
		for to := range open {
			b := rewritten(t, open[f](read(t, from)), to)
			if again := rewritten(t, open[f](read(t, from)), to); !bytes.Equal(b, again) {
				t.Errorf("%s to format %d: other bytes", from, to)
			}
			got := objects(t, open[to](b))
			if len(got) != 2*len(want) {
				t.Fatalf("%s to format %d: %d rows", from, to, len(got))
			}
			for i, row := range got {
				if row["score"] != float64(i/2)/4 && i/2%4 != 0 {
					t.Errorf("row %d: score %v", i, row["score"])
				}
				for name, v := range want[i/2] {
					is := row[name]
					if s, ok := is.(string); ok && !reflect.DeepEqual(is, v) && json.Valid([]byte(s)) {
						is = decode(t, []byte(s))
					}
					if !reflect.DeepEqual(is, v) {
						t.Errorf("%s to format %d: row %d, %s: %v, was %v", from, to, i, name, is, v)
					}
				}
			}
			if dir := os.Getenv("INFILL_TABLE_OUT"); dir != "" { // to be looked at by other programs
				name := fmt.Sprintf("%s/%s.%d", dir, from, to)
				if err := os.WriteFile(name, b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// From Arrow to Arrow columns keep their types, but for those that pieces cannot be made of.
func TestArrowKeeps(t *testing.T) {
	t.Parallel()
	was := openArrow(t, bytes.NewReader(read(t, "types.arrow")))
	is := openArrow(t, bytes.NewReader(rewritten(t, openArrow(t, bytes.NewReader(read(t, "types.arrow"))),
		FormatArrow)))
	for i, c := range was.Columns() {
		a, b := c.Type.arrow.Type.String(), is.Columns()[i].Type.arrow.Type.String()
		if c.Name == "word" {
			a = "utf8"
		}
		if a != b {
			t.Errorf("column %s: %s, was %s", c.Name, b, a)
		}
	}
}
