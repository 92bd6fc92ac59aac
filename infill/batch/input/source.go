package input

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
)

// Options say how an input is read.
type Options settings.Input

// options of an open input, with the things that were found in it.
type options struct {
	Options
	path     jsonl.Path // of texts that are put in place, nil for others
	wordTags bool       // of columns
}

// check refuses options out of range.
func (o Options) check() error {
	wrong := func(name string, given any, want string) error {
		return &settings.Error{Name: name, Given: fmt.Sprint(given), Want: want}
	}
	switch {
	case o.Limit < 0:
		return wrong("limit", o.Limit, "the number of records, or 0 for all")
	case !o.Format.Known():
		return wrong("format", int(o.Format), "FormatAuto to FormatParquet")
	}
	if _, err := Encoding("encoding", o.Encoding); err != nil {
		return err
	}
	return o.Shard.Check()
}

// Encoding is the one of a name, nil for "". The error, a [*settings.Error], names the setting.
func Encoding(setting, name string) (encoding.Encoding, error) {
	if name == "" {
		return nil, nil
	}
	e, err := htmlindex.Get(name)
	if err != nil || e == encoding.Replacement { // which reads nothing
		return nil, &settings.Error{Name: setting, Given: name,
			Want: "an encoding, such as windows-1252, utf-16le or shift_jis"}
	}
	return e, nil
}

// decoded is a text in UTF-8 with the bytes of r.
func (o Options) decoded(r io.Reader) io.Reader {
	if e, _ := Encoding("", o.Encoding); e != nil { // check has the error
		return transform.NewReader(r, e.NewDecoder())
	}
	return r
}

// A source is the records of an input in one format. The error of next is io.EOF
// after the last. Errors of one record are in Item.Err, others end the input.
type source struct {
	next    func() (Item, error)
	line    func() (Line, error) // the next one, nil for what has none. Its bytes are valid until then
	columns []table.Column       // of a table, nil for others
}

// arrow are suffixes of Apache Arrow's IPC format, which was read once.
var arrow = []string{".arrow", ".arrows", ".feather", ".ipc"}

// foreignTables are suffixes of tables that other programs make. Such a file would be taken for
// lines, or filled with them.
var foreignTables = append([]string{
	".xlsx", ".xlsm", ".xls", ".ods", ".numbers", ".orc", ".avro", ".sqlite",
}, arrow...)

// Foreign is the error of a table in a form that is not read, by its name; nil for other files. It
// wraps [table.ErrTable].
func Foreign(name string) error {
	ext, how := suffixOf(name), ""
	if ext == ".spacy" {
		return fmt.Errorf("%w: spaCy's DocBin is not read; write a line of JSON for each doc, as "+
			`{"text": doc.text, "spans": [{"start": e.start_char, "end": e.end_char, "label": e.label_} `+
			"for e in doc.ents]}", table.ErrTable)
	}
	if !slices.Contains(foreignTables, ext) {
		return nil
	}
	if Arrow(name) {
		how = `, such as x.parquet with polars (pl.read_ipc(FILE).write_parquet("x.parquet")), pandas ` +
			`(pd.read_feather(FILE).to_parquet("x.parquet")) or DuckDB (INSTALL nanoarrow FROM community; ` +
			`LOAD nanoarrow; COPY (FROM read_arrow('FILE')) TO 'x.parquet')`
	}
	return fmt.Errorf("%w: tables are read as .csv, .tsv and .parquet, and not as %s; save it as one "+
		"of these%s", table.ErrTable, ext, how)
}

// Arrow reports whether the name of a file says Apache Arrow.
func Arrow(name string) bool { return slices.Contains(arrow, suffixOf(name)) }

// suffixOf is the last suffix of a name, in small letters.
func suffixOf(name string) string { return strings.ToLower(filepath.Ext(name)) }

// ErrNoLines: the records of the input are rows of a table, which cannot be read line by line.
var ErrNoLines = errors.New("a table has no lines")

// A ColumnError is a table without a column that a setting names, or lines of JSON whose first has
// no such field.
type ColumnError struct {
	Want    string
	Have    []string // the columns, or fields, that there are
	Setting string   // the one that names it, such as text-field
	Fields  bool     // of JSON
	// Texts is the number, from 1, of a column of CSV or TSV whose name is longer than names are, so
	// that the table seems to have no header; 0 for none.
	Texts int
}

// Error says what is wrong and what helps.
func (e *ColumnError) Error() string {
	kind := fmt.Sprintf("%v: no column %q; its columns are ", table.ErrTable, e.Want)
	switch {
	case e.Fields:
		kind = fmt.Sprintf("line 1 has no field %q; its fields are ", e.Want)
	case len(e.Have) == 0:
		kind = fmt.Sprintf("no field %q: lines of text have no fields", e.Want)
	}
	text := kind + jsonl.Names(e.Have)
	if e.Texts > 0 {
		text += "; if that row has texts, and not names, say that the table has no header"
	} else if e.Setting == "text-field" {
		text += "; name the one with the texts"
	}
	if d := e.Delimiter(); d != "" {
		text += fmt.Sprintf(" (are they separated by %q?)", d)
	}
	return text
}

// Delimiter is what seems to stand between cells in place of what was said, "" for nothing else.
func (e *ColumnError) Delimiter() string {
	if len(e.Have) == 1 {
		for _, d := range []string{";", "\t", "|", ","} {
			if strings.Contains(e.Have[0], d) {
				return d
			}
		}
	}
	return ""
}

// Is says that the error is a [table.ErrTable].
func (e *ColumnError) Is(target error) bool { return target == table.ErrTable }

// place finds the columns that mean something: that of the text, and that of the id, −1 for none.
func place(names []string, textField string) (text, id int, err error) {
	text, id = slices.Index(names, textField), slices.Index(names, "id")
	if text < 0 {
		return 0, 0, &ColumnError{Want: textField, Have: names, Setting: "text-field"}
	}
	for i, n := range names {
		if first := slices.Index(names, n); first < i {
			return 0, 0, &table.Error{Reason: fmt.Sprintf(
				"columns %d and %d are both called %q; rename one of them", first+1, i+1, n)}
		}
	}
	if id == text {
		id = -1
	}
	return text, id, nil
}
