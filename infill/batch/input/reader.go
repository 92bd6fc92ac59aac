package input

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// Options say how an input is read.
type Options struct {
	Format settings.Format
	// TextField is the field or the column that has the text; "" is "text".
	// Lines of text have none.
	TextField string
	// Quote says that cells of TSV may stand in quotes, as those of CSV.
	Quote bool
	// Limit is the number of records that are read; 0 is all, and a number below 0 an error.
	Limit int
	// Shard is the part of the file that is read; the zero value is all of it. A line
	// belongs to the shard that its first byte lies in. Tables and compressed files are
	// cut by the number of their records. A stream cannot be cut, see [ErrShard].
	Shard settings.Shard
}

// A Reader is an open file of records, or a stream of them. Its zero value is not open.
type Reader struct {
	Name    string
	options Options     // with the format that was found
	file    *os.File    // nil for a stream
	info    os.FileInfo // nil for a stream
	src     source
	close   func()
	packed  bool    // compressed
	given   int     // records that Next returned
	ahead   *ahead  // what Empty has read, nil if it has not
	survey  *Survey // of a shard, which was made to find it; nil for whole files
}

// A source is the records of an input in one format. The error of next is io.EOF
// after the last. Errors of one record are in Item.Err, others end the input.
type source interface {
	next() (Item, error)
	// columns are those of a table, nil for lines.
	columns() []table.Column
	// skip passes over n records, before the first one is read.
	skip(n int) error
}

// ahead is a result of next that was not handed out yet.
type ahead struct {
	item Item
	err  error
}

// Open opens a file, or the stream stdin if path is "-". Gzip and zstd data,
// which their first bytes show, are decompressed. A table that cannot be read is
// an error that wraps [table.ErrTable], one without the column of the text a
// [*ColumnError]. An input that cannot be cut into shards is one that wraps
// [ErrShard]. Options out of range are a [*settings.Error], before anything is opened.
func Open(path string, stdin io.Reader, o Options) (*Reader, error) {
	if path == "-" {
		return OpenStream("standard input", stdin, o)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder; name a file in it", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return (&Reader{Name: path, file: f, info: info}).open(f, o)
}

// OpenStream is Open for a stream that was opened elsewhere, such as an object of a remote store.
// The name is for errors, and its suffix for the format. Parquet is refused: it is read from its
// end. Close leaves the stream open.
func OpenStream(name string, r io.Reader, o Options) (*Reader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return (&Reader{Name: name}).open(r, o)
}

// check refuses options out of range.
func (o Options) check() error {
	wrong := func(name string, given any, want string) error {
		return &settings.Error{Name: name, Given: fmt.Sprint(given), Want: want}
	}
	switch {
	case o.Limit < 0:
		return wrong("limit", o.Limit, "the number of records, or 0 for all")
	case o.Format < settings.FormatAuto || o.Format > settings.LastFormat:
		return wrong("format", int(o.Format), "FormatAuto to LastFormat")
	case o.Shard.Whole():
		return nil
	}
	_, err := settings.ParseShard(o.Shard.String())
	return err
}

func (in *Reader) open(r io.Reader, o Options) (*Reader, error) {
	in.options, in.close = o, func() {}
	in.options.TextField = cmp.Or(o.TextField, "text")
	err := in.begin(r)
	if err == nil && !in.options.Shard.Whole() {
		err = in.cutShard()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", in.Name, err), in.Close())
	}
	return in, nil
}

// begin finds the format and makes the source.
func (in *Reader) begin(r io.Reader) error {
	format := &in.options.Format
	guessed := *format == settings.FormatAuto
	if guessed {
		if err := Foreign(in.Name); err != nil {
			return err
		}
		*format = settings.FormatOf(in.Name)
	}
	if *format == settings.FormatAuto && in.isParquet() {
		*format = settings.FormatParquet
	}
	if *format == settings.FormatParquet {
		p, err := in.parquet()
		if err != nil {
			return err
		}
		in.src, in.close = p, func() { _ = p.r.Close() }
		return nil
	}
	u, err := unpack.New(r)
	if err != nil {
		return err
	}
	in.packed = u.Format != ""
	in.close = func() { _ = u.Close() }
	from := bufio.NewReaderSize(u, textline.PeekSize)
	if guessed && !format.Table() {
		// Errors will come again when reading. The mark stays for the reader, which takes one away.
		head, _ := from.Peek(textline.PeekSize)
		head = bytes.TrimPrefix(head, []byte("\ufeff"))
		if *format, err = guess(*format, head); err != nil {
			return err
		}
	}
	if *format == settings.FormatText {
		in.options.TextField = "text" // a line has no other name
	}
	in.src, err = newSource(from, in.options)
	return err
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

// newSource reads what is read from its start, in a format that is known.
func newSource(r *bufio.Reader, o Options) (source, error) {
	switch o.Format {
	case settings.FormatCSV, settings.FormatTSV:
		return newCSVSource(r, o)
	case settings.FormatJSON:
		a, err := table.NewArray(r, jsonl.MaxInput)
		return &arraySource{a, o}, err
	}
	return &lineSource{textline.NewReader(r, jsonl.MaxInput), o}, nil
}

// errNotOpen is returned for a Reader that nothing opened.
var errNotOpen = errors.New("the input is not open; open it with Open")

// Lines reads an open stream as lines of text, which is never compressed. The
// name is for errors.
func Lines(name string, r io.Reader) *Reader {
	return openStream(name, r, Options{Format: settings.FormatText, TextField: "text"})
}

// JSONLines reads an open stream as JSON lines, which is never compressed. The name is for errors.
func JSONLines(name string, r io.Reader) *Reader {
	return openStream(name, r, Options{Format: settings.FormatJSONL, TextField: "text"})
}

func openStream(name string, r io.Reader, o Options) *Reader {
	in := &Reader{Name: name, options: o, close: func() {}}
	in.src = &lineSource{textline.NewReader(r, jsonl.MaxInput), o}
	return in
}

// Options say how the input is read, with the format that was found and the field of the text.
func (in *Reader) Options() Options { return in.options }

// Format is the format of the input, settings.FormatAuto if it is not open.
func (in *Reader) Format() settings.Format { return in.options.Format }

// Unit is what a record has the number of: an element of an array of JSON, or else a line.
func (in *Reader) Unit() string {
	if in.Format() == settings.FormatJSON {
		return "element"
	}
	return "line"
}

// Columns are those of a table, nil for lines. Cells of Parquet have types.
func (in *Reader) Columns() []table.Column { return in.src.columns() }

// IsFile reports whether the input is this file.
func (in *Reader) IsFile(info os.FileInfo) bool {
	return in.info != nil && os.SameFile(info, in.info)
}

// Unchanged reports whether another reader, opened later, has the same file, which nobody has
// replaced or written in between.
func (in *Reader) Unchanged(again *Reader) bool {
	a, b := in.info, again.info
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// HasColumn reports whether the input is a table with a column of this name.
func (in *Reader) HasColumn(name string) bool {
	return slices.ContainsFunc(in.src.columns(), func(c table.Column) bool { return c.Name == name })
}

// Empty reports whether no record is left. It reads up to the next one, which
// Next still returns.
func (in *Reader) Empty() bool {
	if in.ahead == nil {
		it, err := in.next()
		in.ahead = &ahead{it, err}
	}
	return in.ahead.err == io.EOF
}

// Next returns the next record; io.EOF after the last. Lines of white space are
// passed over. Errors of one record are in Item.Err, others end the input.
func (in *Reader) Next() (Item, error) {
	if in.src == nil {
		return Item{}, errNotOpen
	}
	if a := in.ahead; a != nil {
		in.ahead = nil
		return a.item, a.err
	}
	return in.next()
}

func (in *Reader) next() (Item, error) { return nextOf(in, in.src.next) }

// nextOf is the next record or line within the limit.
func nextOf[T any](in *Reader, read func() (T, error)) (T, error) {
	var none T
	if in.options.Limit > 0 && in.given == in.options.Limit {
		return none, io.EOF
	}
	got, err := read()
	switch {
	case err == nil:
		in.given++
	case err != io.EOF:
		err = fmt.Errorf("%s: %w", in.Name, err)
	}
	return got, err
}

// Close closes the file; a stream stays open.
func (in *Reader) Close() error {
	in.close()
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}
