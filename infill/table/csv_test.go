package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"infill/infill/settings"
)

// csvOf reads rows with these bounds.
func csvOf(r io.Reader, comma byte, quotes bool, limit int) (*CSV, error) {
	c, err := NewCSV(r)
	if err == nil {
		c.Comma, c.Quotes, c.Limit = comma, quotes, limit
	}
	return c, err
}

// rowsOf reads all rows. A row that failed is "!" and its raw form.
func rowsOf(r io.Reader, comma byte, limit int) (rows [][]string, lines []int, err error) {
	c, err := csvOf(r, comma, true, limit)
	if err != nil {
		return nil, nil, err
	}
	for {
		cells, err := c.Next()
		var bad *RowError
		switch {
		case err == io.EOF:
			return rows, lines, nil
		case errors.As(err, &bad):
			cells = []string{"!", bad.Raw}
			if bad.TooLong {
				cells = []string{"!!"}
			}
		case err != nil:
			return rows, lines, err
		}
		rows, lines = append(rows, cells), append(lines, c.Line())
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, want string // rows with | between cells and / between rows
		lines    []int
	}{
		{"a,b\n1,2\n", "a|b/1|2", []int{1, 2}},
		{"\ufeffa,b\r\n1,2\r\n\r\n\n3,4", "a|b/1|2/3|4", []int{1, 2, 5}},
		{"a,\"b\nc\r\nd\",\"\"\"\"\nx,,\n", "a|b\nc\r\nd|\"/x||", []int{1, 4}},
		{"5\" disk,6'\n", "5\" disk|6'", []int{1}},
		{"a b , c\n \n", "a b | c/ ", []int{1, 2}},
		{"\"a\"b,c\nd,e\n", "!|\"a\"b,c/d|e", []int{1, 2}},
		{"x,\"a\"\"b\" ,c\r\nd,e", "!|x,\"a\"\"b\" ,c/d|e", []int{1, 2}},
		{"\"a\"\r", "a", []int{1}},
		{"\"a\rb\",c\r\r\n1\r2,3\n", "a\rb|c\r/1\r2|3", []int{1, 2}}, // the bytes of cells stay
		{"a,", "a|", []int{1}},
		{"", "", nil},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			rows, lines, err := rowsOf(r, ',', 1000)
			var got []string
			for _, row := range rows {
				got = append(got, strings.Join(row, "|"))
			}
			if err != nil || strings.Join(got, "/") != c.want || !reflect.DeepEqual(lines, c.lines) {
				t.Errorf("%q: %q on lines %v, %v; want %q on %v", c.in, got, lines, err, c.want, c.lines)
			}
		}
	}
	if rows, _, err := rowsOf(strings.NewReader("a,b\t\"c\nd\""), '\t', 99); err != nil ||
		!reflect.DeepEqual(rows, [][]string{{"a,b", "c\nd"}}) {
		t.Errorf("tabs: %q, %v", rows, err)
	}
}

// What cannot be read is named by its line, and takes no more memory than the limit.
func TestCSVErrors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		in   string
		rows int
		says string
	}{
		{"a,\"never\nclosed\n", 0, "line 1: a quote that opens here is not closed;"},
		{"\na,\"" + strings.Repeat("x\n", 100), 0, "line 2: a quote that opens here is not closed within 100 bytes"},
		{"\xff\xfea\x00", 0, "UTF-16"},
		{"\xfe\xff\x00a", 0, "UTF-16"},
		{"a,b\r1,2\r", 0, "line 1: its lines end in carriage returns alone"},
		{"\n\"a\"\r\"b\"\r" + strings.Repeat("x\r", 100), 0, `line 2: its lines end in carriage returns ` +
			`alone, as in old Macintosh files; make line ends of them first (tr '\r' '\n')`},
	} {
		rows, _, err := rowsOf(strings.NewReader(c.in), ',', 100)
		if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), c.says) || len(rows) != c.rows {
			t.Errorf("%.20q: %d rows, %v; want %q", c.in, len(rows), err, c.says)
		}
	}
	rows, lines, err := rowsOf(strings.NewReader("a\n"+long+"\nb\n\"c\"x"+long+"\nd"), ',', 100)
	if err != nil || !reflect.DeepEqual(rows, [][]string{{"a"}, {"!!"}, {"b"}, {"!!"}, {"d"}}) ||
		!reflect.DeepEqual(lines, []int{1, 2, 3, 4, 5}) {
		t.Errorf("%q on lines %v, %v", rows, lines, err)
	}
	boom := errors.New("boom")
	in := io.MultiReader(strings.NewReader("a,b\nc"), iotest.ErrReader(boom))
	if rows, _, err := rowsOf(in, ',', 100); !errors.Is(err, boom) || len(rows) != 1 {
		t.Errorf("%q, %v", rows, err)
	}
}

// A quote that is never closed, or closes where the cells do not fit, costs the line it opens on. No
// other row is lost, whatever the reader's buffers are.
func TestCSVLosesNoRow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("e,5\n", 40)
	for _, c := range []struct {
		in, want string // as above
		lines    []int
	}{
		{"a,b\n\"c,1\nd,2\ne,3\n", "a|b/!|\"c,1/d|2/e|3", []int{1, 2, 3, 4}},
		{"a,b\nc,\"1\nd,2", "a|b/!|c,\"1/d|2", []int{1, 2, 3}},
		{"a,b\nc,1\nd,\"2", "a|b/c|1/!|d,\"2", []int{1, 2, 3}},
		// It closes two lines later, with a cell too many.
		{"a,b\n\"c,1\nd,2\ne\",3,4\nf,5\n", "a|b/!|\"c,1/d|2/e\"|3|4/f|5", []int{1, 2, 3, 4, 5}},
		// Text follows where it closes.
		{"a,b\n\"c,1\n\"d\",2\ne,3\n", "a|b/!|\"c,1/d|2/e|3", []int{1, 2, 3, 4}},
		// It fits: it is a cell of two lines.
		{"a,b\n\"c,1\nd\",2\ne,3\n", "a|b/c,1\nd|2/e|3", []int{1, 2, 4}},
		{"a,b\r\n\"c,1\r\nd,2\r\n", "a|b/!|\"c,1/d|2", []int{1, 2, 3}},
		// A row that is read again is read again whole, after another one was.
		{"\n\"\ra\n\"\"\nbb\n\"bab,b\nb,b,", "!|\"\ra//bb/!|\"bab,b/b|b|", []int{2, 3, 4, 5, 6}},
		// It is not closed within the limit.
		{"a,b\n\"c,1\n" + long, "a|b/!|\"c,1" + strings.Repeat("/e|5", 40), nil},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			rows, lines, err := rowsOf(r, ',', 100)
			var got []string
			for _, row := range rows {
				got = append(got, strings.Join(row, "|"))
			}
			if err != nil || strings.Join(got, "/") != c.want ||
				c.lines != nil && !reflect.DeepEqual(lines, c.lines) {
				t.Errorf("%q: %q on lines %v, %v; want %q on %v", c.in, got, lines, err, c.want, c.lines)
			}
		}
	}
	in := "a\tb\nc\td\n\"e\nf\tg\"\t1\n"
	c, err := csvOf(strings.NewReader(in), '\t', true, 100)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if cells, err := c.Next(); err != nil || !reflect.DeepEqual(cells, []string{"e\nf\tg", "1"}) {
		t.Errorf("%q, %v", cells, err)
	}
	// What is wrong is said of the line where the quote opens.
	for in, says := range map[string]string{
		"a,b\n\"c,1\nd,2\ne\",3,4\n": "closes on line 4, and the row then has 3 cells, where the first has 2",
		"a,b\n\"c,1\nd,2\n":          "a quote that opens here is not closed",
		"a,b\n\"c,1\n\"d\",2\n":      "text follows the quote on line 3 that closes the one that opens here",
		"a,b\n\"c\nd\",\"1\n":        "a quote that opens on line 3 is not closed",
	} {
		c, err := csvOf(strings.NewReader(in), ',', true, 100)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Next()
		if _, err := c.Next(); err == nil || !strings.Contains(err.Error(), says) || c.Line() != 2 {
			t.Errorf("%q: line %d: %v, want %q", in, c.Line(), err, says)
		}
	}
}

// Without quotes every line is a row, and a quote is a character.
func TestTSVWithoutQuotes(t *testing.T) {
	t.Parallel()
	const in = "sentence\tlabel\n\"Where are you [MASK]\t1\nhe said. It is [MASK]\"\t0\n" +
		"\"Hi,\" he [MASK].\t1\n\"\"\t\"\n"
	c, err := csvOf(strings.NewReader(in), '\t', false, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"sentence", "label"}, {`"Where are you [MASK]`, "1"},
		{`he said. It is [MASK]"`, "0"}, {`"Hi," he [MASK].`, "1"}, {`""`, `"`}}
	for i, w := range want {
		if cells, err := c.Next(); err != nil || !reflect.DeepEqual(cells, w) || c.Line() != i+1 {
			t.Errorf("line %d: %q, %v", c.Line(), cells, err)
		}
	}
	if _, err := c.Next(); err != io.EOF {
		t.Error(err)
	}
}

// same compares with encoding/csv, where that reads the text to its end. It turns \r\n
// in cells into \n.
func same(t *testing.T, text string, comma byte) {
	t.Helper()
	if strings.HasPrefix(text, "\ufeff") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return // which encoding/csv takes for text
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = rune(comma), -1
	want, err := r.ReadAll()
	if err != nil {
		return
	}
	for _, row := range want {
		if len(row) != len(want[0]) {
			return // rows of several lines are then read line by line
		}
	}
	got, _, err := rowsOf(strings.NewReader(text), comma, len(text)+1)
	if err != nil && strings.Contains(err.Error(), "carriage returns alone") {
		return // which encoding/csv takes for a cell
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for _, row := range got {
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "\r\n", "\n")
		}
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: %q, encoding/csv has %q", text, got, want)
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n\"c\r\n\"\"\",d\r\n", "\"a\"b\n", "\"", "\r\n\r", "a\r", "\ufeff\"a\"\r\nb", ",\n,\n", "\"\"\r\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		same(t, text, ',')
		same(t, text, '\t')
		for _, limit := range []int{1, 10, 1000} {
			_, lines, err := rowsOf(strings.NewReader(text), ',', limit)
			if err != nil && !errors.Is(err, ErrTable) {
				t.Fatalf("%q: untyped error %v", text, err)
			}
			for i := range lines {
				if i > 0 && lines[i] <= lines[i-1] {
					t.Fatalf("%q: rows on lines %v", text, lines)
				}
			}
		}
	})
}

// All short texts of the characters that mean something.
func TestCSVAgainstAnother(t *testing.T) {
	t.Parallel()
	const letters = "a,\"\n\r"
	n := 1
	for length := 0; length <= 6; length++ {
		for i := range n {
			var b strings.Builder
			for range length {
				b.WriteByte(letters[i%len(letters)])
				i /= len(letters)
			}
			same(t, b.String(), ',')
		}
		n *= len(letters)
	}
}

// What is written is read back, whatever is in the cells.
func TestWriteCSV(t *testing.T) {
	t.Parallel()
	for comma, f := range map[byte]settings.Format{',': settings.FormatCSV, '\t': settings.FormatTSV,
		';': settings.FormatCSV} {
		rows := [][]string{{"plain", "", "a,b", "tab\there"}, {"\"q\"", "new\nline", "cr\r\nlf", " space "},
			{"\\.", "#", "é", "5\" disk"}}
		columns := []Column{{"a b", Type{}}, {"b\"", Type{}}, {"c,\t", Type{}}, {"d", Type{}}}
		var out strings.Builder
		w, err := NewWriter(&out, f, rune(comma), columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			var cells []any
			for _, c := range row {
				cells = append(cells, c)
			}
			if err := w.Write(cells); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, _, err := rowsOf(strings.NewReader(out.String()), comma, 1000)
		want := append([][]string{{"a b", "b\"", "c,\t", "d"}}, rows...)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if _, err := NewWriter(io.Discard, settings.FormatCSV, 0, []Column{{"a", Type{}}, {"a", Type{}}}); err == nil {
		t.Error("two columns of one name")
	}
}

// Without quotes a table has what it can have, as it is.
func TestWriteTSV(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w, err := NewWriter(&out, settings.FormatTSV, 0, []Column{{"a\"", Type{}}, {"b", Type{}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"a\tb", "a\nb", "a\rb"} {
		if err := w.Write([]any{"x", bad}); !errors.Is(err, ErrCell) || !strings.Contains(err.Error(), `"b"`) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := errors.Join(w.Write([]any{`"Hi," he said`, ` "`}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if want := "a\"\tb\n\"Hi,\" he said\t \"\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if _, err := NewWriter(io.Discard, settings.FormatTSV, 0, []Column{{"a\tb", Type{}}}); !errors.Is(err, ErrCell) {
		t.Error(err)
	}
}
