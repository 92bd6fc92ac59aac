package input

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// A Reader is an open file of records, or a stream of them. Its zero value is not open.
type Reader struct {
	Name    string
	options options     // with the format that was found
	file    *os.File    // nil for a stream
	info    os.FileInfo // nil for a stream
	src     source
	close   func()
	packed  bool           // compressed, or in another encoding: its bytes are not those that are read
	parquet *parquetSource // nil for other formats
	given   int            // records that Next returned
	most    int            // of them, −1 for any number
	ahead   *ahead         // what Empty has read, nil if it has not
	survey  *Survey        // of a shard, which was made to find it; nil for whole files
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

func (in *Reader) open(r io.Reader, o Options) (*Reader, error) {
	in.options, in.close, in.most = options{Options: o}, func() {}, cmp.Or(o.Limit, -1)
	in.options.TextField = cmp.Or(o.TextField, "text")
	err := in.begin(r)
	if err == nil && o.Sentence != "" {
		if in.src, err = newWordSource(in.src, in.Options()); err == nil {
			err = in.Lacks("sentence", strings.Split(o.Sentence, ",")...)
		}
	}
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
	if *format == settings.FormatAuto && looksParquet(in.file, in.info) {
		*format = settings.FormatParquet
	}
	if *format == settings.FormatParquet && in.options.Encoding != "" {
		return &settings.Error{Name: "encoding", Given: in.options.Encoding,
			Want: "none: Parquet is in UTF-8"}
	}
	if o := in.options; o.NoHeader && *format != settings.FormatCSV && *format != settings.FormatTSV {
		return &settings.Error{Name: "no-header", Given: "true", Want: "false: only CSV and TSV have one"}
	}
	if *format == settings.FormatParquet {
		p, err := newParquetSource(in.file, in.info, in.Options())
		if err != nil {
			return err
		}
		in.src, in.close = source{next: p.next, columns: p.r.Columns()}, func() { _ = p.r.Close() }
		in.parquet = p
		in.options.TextField = p.r.Columns()[p.text].Name
		return nil
	}
	u, err := unpack.New(r)
	if err != nil {
		return err
	}
	in.packed = u.Format != "" || in.options.Encoding != ""
	in.close = func() { _ = u.Close() }
	from := bufio.NewReaderSize(in.options.decoded(u), textline.PeekSize)
	if guessed && !format.Table() {
		// Errors will come again when reading. The mark stays for the reader, which takes one away.
		head, _ := from.Peek(textline.PeekSize)
		head = bytes.TrimPrefix(head, []byte("\ufeff"))
		if *format, err = guess(*format, head); err != nil {
			return err
		}
	}
	switch {
	case format.JSON():
		err = in.findRecords(from, guessed)
	case *format == settings.FormatCoNLL:
		head := bytes.TrimPrefix(start(from, *format), []byte("\ufeff"))
		looks := columns(head)
		if in.options.wordTags = looks.words; !looks.named {
			err = notLines(head, "these are not columns with a token and its tag, such as \"Ann B-PER\"")
		}
	case *format == settings.FormatText:
		in.options.TextField = "text" // a line has no other name
	}
	if err == nil {
		in.src, err = newSource(from, &in.options)
	}
	return err
}

// findRecords finds the records of JSON, and in the first one the texts.
func (in *Reader) findRecords(from *bufio.Reader, guessed bool) (err error) {
	o := &in.options
	if o.Records, err = document(start(from, o.Format), from, o); err != nil {
		return err
	}
	switch head := start(from, o.Format); {
	case o.Records != "":
		o.Format = settings.FormatJSON
	case guessed && overLines.Match(head):
		return notLines(head, "it looks like JSON over several lines; make JSON lines of it, for "+
			"instance with jq -c .")
	case bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("{")):
		o.Format = settings.FormatJSONL
	}
	head := bytes.TrimPrefix(start(from, o.Format), []byte("\ufeff"))
	return o.place(jsonl.First(head, o.Format == settings.FormatJSON && o.Records == ""))
}

// start is the beginning of what r reads, as much as says how records of a format look: the first
// line of JSON lines, the first sentence of columns, 64 KiB of an array. It waits for no more, so
// that a pipe's first record is worked on before its second one comes.
func start(r *bufio.Reader, f settings.Format) []byte {
	end, ok := map[settings.Format]string{settings.FormatJSONL: "\n", settings.FormatCoNLL: "\n\n",
		settings.FormatJSON: "\x00"}[f]
	for n := 1; ok; n = r.Buffered() + 1 {
		_, err := r.Peek(min(n, textline.PeekSize))
		head, _ := r.Peek(r.Buffered())
		if err != nil || n > textline.PeekSize || bytes.Contains(head, []byte(end)) {
			return head
		}
	}
	return nil
}

// overLines is the start of an object that does not stand on one line.
var overLines = regexp.MustCompile(`^(?:\x{FEFF})?\s*\{[ \t\r]*\n`)

// newSource reads what is read from its start, in a format that is known.
func newSource(r *bufio.Reader, o *options) (source, error) {
	if o.inPlace() {
		return newBodies(r, o)
	}
	switch o.Format {
	case settings.FormatCSV, settings.FormatTSV:
		return newCSVSource(r, o.Options)
	case settings.FormatJSON:
		a, err := table.NewArray(r, cmp.Or(o.Longest, jsonl.MaxInput))
		return lineItems(o.Options, elements(a)), err
	}
	return lineItems(o.Options, filled(textline.NewReader(r, cmp.Or(o.Longest, jsonl.MaxInput)))), nil
}

// errNotOpen is returned for a Reader that nothing opened.
var errNotOpen = errors.New("the input is not open; open it with Open")

// Lines reads an open stream as lines of text or JSON lines, which is never compressed. The name is
// for errors.
func Lines(name string, r io.Reader, format settings.Format) *Reader {
	o := Options{Format: format, TextField: "text"}
	return &Reader{Name: name, options: options{Options: o}, close: func() {},
		most: -1, src: lineItems(o, filled(textline.NewReader(r, jsonl.MaxInput)))}
}

// Options say how the input is read, with the format that was found and the field of the text.
func (in *Reader) Options() Options { return in.options.Options }

// Format is the format of the input, settings.FormatAuto if it is not open.
func (in *Reader) Format() settings.Format { return in.options.Format }

// Unit is what a record has the number of: an element of an array of JSON, a row of Parquet, or
// else a line.
func (in *Reader) Unit() string {
	switch in.Format() {
	case settings.FormatJSON:
		return "element"
	case settings.FormatParquet:
		return "row"
	}
	return "line"
}

// Again opens the same file once more, all of it whatever the limit. It is nil for a stream.
func (in *Reader) Again() (*Reader, error) {
	if in.info == nil || !in.info.Mode().IsRegular() {
		return nil, nil
	}
	o := in.Options()
	o.Limit = 0
	return Open(in.Name, nil, o)
}

// Columns are the columns of a table, nil for lines. Cells of Parquet have types.
func (in *Reader) Columns() []table.Column { return in.src.columns }

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
	return slices.ContainsFunc(in.src.columns, func(c table.Column) bool { return c.Name == name })
}

// Lacks is a [*ColumnError] for the first of a setting's names that is not a column of the table,
// or not a field of the first record of JSON; nil if all are there. Of JSON it reads the first
// record, as Empty does.
func (in *Reader) Lacks(setting string, names ...string) error {
	var have []string
	for _, c := range in.src.columns {
		have = append(have, c.Name)
	}
	lines := have == nil && in.Format() != settings.FormatText
	if lines {
		it, err := in.Peek()
		if err != nil {
			return nil
		}
		if len(it.Fields) == 0 { // it is not read, or of another kind
			return nil
		}
		if it.Err == nil {
			have = append(have, it.TextField)
		}
		if it.ID != nil {
			have = append(have, "id")
		}
		for _, f := range it.Fields {
			have = append(have, f.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(have, name) {
			return &ColumnError{Want: name, Have: have, Setting: setting, Fields: lines}
		}
	}
	return nil
}

// Empty reports whether no record is left. It reads up to the next one, which Next still returns.
func (in *Reader) Empty() bool {
	_, err := in.Peek()
	return err == io.EOF
}

// Peek returns what Next will.
func (in *Reader) Peek() (Item, error) {
	if in.ahead == nil {
		it, err := in.next()
		in.ahead = &ahead{it, err}
	}
	return in.ahead.item, in.ahead.err
}

// Next returns the next record; io.EOF after the last. Lines of white space are
// passed over. Errors of one record are in Item.Err, others end the input.
func (in *Reader) Next() (Item, error) {
	if in.src.next == nil {
		return Item{}, errNotOpen
	}
	if a := in.ahead; a != nil {
		in.ahead = nil
		return a.item, a.err
	}
	return in.next()
}

func (in *Reader) next() (Item, error) {
	it, err := nextOf(in, in.src.next)
	if err == nil {
		it.leave(in.options.OnNull)
	}
	return it, err
}

// nextOf is the next record or line within the limit.
func nextOf[T any](in *Reader, read func() (T, error)) (T, error) {
	var none T
	if in.given == in.most {
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

// NextLine is Next for programs that read the lines as records elsewhere. The bytes are the
// caller's. The error is [ErrNoLines] for a table, else as that of Next. An input that was asked
// whether it is Empty has to be read by Next.
func (in *Reader) NextLine() (Line, error) {
	if in.src.line == nil {
		return Line{}, fmt.Errorf("%s: %w", in.Name, ErrNoLines)
	}
	return nextOf(in, func() (Line, error) {
		l, err := in.src.line()
		l.Text = append([]byte(nil), l.Text...)
		return l, err
	})
}

// A Survey is what one look at a whole file says of it.
type Survey struct {
	// SHA256 is the hash of the file's bytes as they are on disk, in hex, and
	// Bytes their number. A stream, which nobody can read twice, has "" and −1.
	// Both are of the whole file if a shard of it is read.
	SHA256 string
	Bytes  int64
	// Records is the number of records in the file or its shard, or the limit of the
	// input if there are more. Those that cannot be read are included. It is −1 for a stream and
	// for damaged compressed data.
	Records int
}

// Damaged reports whether an error says that the input itself is at fault. Nothing goes on with an
// output made of it, which does not belong to the file that is whole. A disk or a pipe that fails
// may read it the next time.
func Damaged(err error) bool {
	var file *fs.PathError
	return errors.Is(err, unpack.ErrDamaged) && !errors.Is(err, context.Canceled) &&
		!errors.As(err, &file)
}
