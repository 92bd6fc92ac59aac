package input

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"infill/infill/batch/input/inputtest"
	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
)

// items reads an input. Each item is its line, id, text, fields and error.
func items(t *testing.T, path string, o Options) ([]string, error) {
	t.Helper()
	in, err := Open(path, nil, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var out []string
	for {
		it, err := in.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		s := fmt.Sprintf("%d %s %q", it.Line, cmp.Or(string(it.ID), "none"), it.Text)
		for _, f := range it.Fields {
			s += fmt.Sprintf(" %s=%s", f.Name, f.Value)
		}
		if it.Err != nil {
			s += " <" + jsonl.Code(it.Err) + ">"
		}
		if !it.Columns {
			s += " lines"
		}
		out = append(out, s)
	}
}

func TestCSVInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, data, field string
		want              []string
	}{
		{"a.csv", "\ufeffid,text,seed\r\n7,a [MASK],1\r\n,\"b, \"\"c\"\"\r\nd\",\r\n", "",
			[]string{`2 "7" "a [MASK]" seed="1"`, `3 none "b, \"c\"\r\nd" id="" seed=""`}},
		{"a.tsv", "x\tsentence\n<1>\ta,b\n\n2\t\"t\tt\"\n", "sentence",
			[]string{`2 none "a,b" x="<1>"`, `4 none "2\t\"t\tt\"" <bad_row>`}},
		{"a.csv", "text,b\n1\n2,3,4\n\"5\"x,6\n\xff,7\n8,\xff\nlast,9", "",
			[]string{`2 none "1" <bad_row>`, `3 none "2,3,4" <bad_row>`, `4 none "\"5\"x,6" <bad_row>`,
				`5 none "\xff" b="7" <invalid_utf8>`, "6 none \"8\" b=\"\\ufffd\" <invalid_utf8>",
				`7 none "last" b="9"`}},
		{"a.CSV", "text\n" + strings.Repeat("x", jsonl.MaxInput+9) + "\ny\n", "",
			[]string{`2 none "" <too_long>`, `3 none "y"`}},
	} {
		got, err := items(t, inputtest.Write(t, filepath.Join(t.TempDir(), c.name), c.data),
			Options{TextField: c.field})
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%.40q: %q, %v; want %q", c.data, got, err, c.want)
		}
	}
}

// A table that cannot be read says which file, where, and what helps.
func TestTableRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ data, says string }{
		"none.csv":    {"", "is empty"},
		"twice.csv":   {"text,a,b,a\n", `columns 2 and 4 are both called "a"; rename`},
		"missing.csv": {"id,sentence\n1,x\n", `no column "text"; its columns are "id", "sentence"`},
		"semi.csv":    {"id;text\n1;x\n", `separated by ";"`},
		"utf16.csv":   {"\xff\xfei\x00", "UTF-16"},
		"mac.csv":     {"text,l\r[MASK] a,b\r", `tr '\r' '\n'`},
		"mac.tsv":     {"\"text\"\t\"l\"\r\"[MASK] a\"\t\"b\"\r", `tr '\r' '\n'`},
		"latin.csv":   {"text,\xe9\n", "column 2 is not UTF-8"},
		"head.csv":    {"\"text\"x,a\n", "line 1: the row that names the columns"},
		"a.spacy":     {"\x00\x01", "spaCy's DocBin"},
		"a.parquet":   {"text\nx\n", "not a whole Parquet file"},
	} {
		path := inputtest.Write(t, filepath.Join(t.TempDir(), name), c.data)
		_, err := Open(path, nil, Options{})
		if !errors.Is(err, table.ErrTable) || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
	_, err := Open("-", strings.NewReader("PAR1"), Options{Format: settings.FormatParquet})
	if !errors.Is(err, table.ErrTable) || !strings.Contains(err.Error(), "name a file") {
		t.Errorf("a stream of Parquet: %v", err)
	}
	// A quote that stays open costs its line.
	in, err := Open(inputtest.Write(t, filepath.Join(t.TempDir(), "a.csv"), "text\na\n\"b\nc\n"), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if s, err := in.Survey(); err != nil || s.Records != 3 {
		t.Errorf("an open quote: %+v, %v", s, err)
	}
}

// Tables of the forms that data sets have: quotes as characters (GLUE), quotes around cells (IMDB),
// and the same with quotes that are wrong. No row is lost, whichever form is said.
func TestTablesOfDataSets(t *testing.T) {
	t.Parallel()
	glue := "sentence\tlabel\n" +
		"\"Where are you [MASK]\t1\n" +
		"he said. It is [MASK]\"\t0\n" +
		"\"Hi,\" he [MASK].\t1\n" +
		"a 5\" [MASK] , `` not '' that\t0\n" +
		"\"\"\t1\n" +
		"the last [MASK] .\t0\n"
	imdb := "review,sentiment\n" +
		"\"A [MASK] film.<br /><br />\"\"Fine,\"\" they said.\",positive\n" +
		"One of the [MASK] ones,negative\n" +
		"\"Two\nlines, [MASK]\",positive\n" +
		"\"Never closed, [MASK],negative\n" +
		"A [MASK] end,positive\n" +
		"\"He said \"no\" to [MASK]\",negative\n" +
		"The [MASK],positive\n"
	for _, c := range []struct {
		name, data, field string
		quote             bool
		want              []string
	}{
		{"sst.tsv", glue, "sentence", false, []string{
			`2 none "\"Where are you [MASK]" label="1"`, `3 none "he said. It is [MASK]\"" label="0"`,
			`4 none "\"Hi,\" he [MASK]." label="1"`, "5 none \"a 5\\\" [MASK] , `` not '' that\" label=\"0\"",
			`6 none "\"\"" label="1"`, `7 none "the last [MASK] ." label="0"`}},
		{"sst.tsv", glue, "sentence", true, []string{
			`2 none "Where are you [MASK]\t1\nhe said. It is [MASK]" label="0"`,
			`4 none "\"Hi,\" he [MASK].\t1" <bad_row>`,
			"5 none \"a 5\\\" [MASK] , `` not '' that\" label=\"0\"",
			`6 none "" label="1"`, `7 none "the last [MASK] ." label="0"`}},
		{"imdb.csv", imdb, "review", false, []string{
			`2 none "A [MASK] film.<br /><br />\"Fine,\" they said." sentiment="positive"`,
			`3 none "One of the [MASK] ones" sentiment="negative"`,
			`4 none "Two\nlines, [MASK]" sentiment="positive"`,
			`6 none "\"Never closed, [MASK],negative" <bad_row>`,
			`7 none "A [MASK] end" sentiment="positive"`,
			`8 none "\"He said \"no\" to [MASK]\",negative" <bad_row>`,
			`9 none "The [MASK]" sentiment="positive"`}},
	} {
		path := inputtest.Write(t, filepath.Join(t.TempDir(), c.name), c.data)
		o := Options{TextField: c.field, Quote: c.quote}
		got, err := items(t, path, o)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s, quotes %v: %v\n%s\nwant\n%s", c.name, c.quote, err, strings.Join(got, "\n"),
				strings.Join(c.want, "\n"))
		}
		in, err := Open(path, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := in.Survey(); err != nil || s.Records != len(c.want) {
			t.Errorf("%s, quotes %v: %d records counted, %d read (%v)", c.name, c.quote, s.Records,
				len(c.want), err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestParquetInput(t *testing.T) {
	t.Parallel()
	path := inputtest.Parquet(t, filepath.Join(t.TempDir(), "in"), 4) // its first bytes say what it is
	got, err := items(t, path, Options{})
	want := []string{`1 100 "row 1 has text" zeta=0 score=[0,1]`, `2 101 "bad row" zeta=1099511627776 score=[1,1]`,
		`3 102 "" zeta=2199023255552 score=[2,1]`, `4 103 "row 4 has text" zeta=3298534883328 score=[3,1]`}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	got, err = items(t, path, Options{TextField: "zeta"})
	if err != nil || !strings.HasSuffix(got[3], "<bad_row>") {
		t.Errorf("numbers for texts: %q, %v", got, err)
	}
}

// A table without a header has columns that are called by their numbers. Without being told so, a
// first row of texts is asked about.
func TestNoHeader(t *testing.T) {
	t.Parallel()
	const data = "pos\tIt was good.\nneg\tIt was really bad.\n"
	path := inputtest.Write(t, filepath.Join(t.TempDir(), "a.tsv"), data)
	got, err := items(t, path, Options{NoHeader: true, TextField: "2"})
	want := []string{`1 none "It was good." 1="pos"`, `2 none "It was really bad." 1="neg"`}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for _, c := range []struct {
		data  string
		texts int
	}{
		{"pos\tI think it was good.\n", 2}, {"a\ta\tI think it was good.\n", 3},
		{"id\tsentence\n", 0}, {"id\tthe whole sentence\n", 0},
		{strings.Repeat("x", 41) + "\t0\n", 1},
	} {
		_, err := OpenStream("a.tsv", strings.NewReader(c.data), Options{})
		var e *ColumnError
		if !errors.As(err, &e) || e.Texts != c.texts ||
			strings.Contains(err.Error(), "has no header") != (c.texts > 0) {
			t.Errorf("%q: %+v", c.data, err)
		}
	}
	for name, o := range map[string]Options{"a.tsv": {NoHeader: true}, // it has no column "text"
		"a.jsonl": {NoHeader: true, TextField: "2"}, "a": {NoHeader: true}} {
		if _, err := OpenStream(name, strings.NewReader(data), o); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}
