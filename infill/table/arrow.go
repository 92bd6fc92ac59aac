package table

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// arrowMagic begins and ends a file of the Arrow format, which has a stream inside.
const arrowMagic = "ARROW1"

// LooksArrow reports whether a file that begins so has the Arrow format, as a file or as a stream.
func LooksArrow(head []byte) bool {
	return bytes.HasPrefix(head, []byte(arrowMagic)) || bytes.HasPrefix(head, []byte(continuation))
}

// Arrow reads the rows of Apache Arrow's IPC format, of files and of streams. It reads from start
// to end, and one record batch is in memory at a time.
type Arrow struct {
	messages *arrowMessages
	r        *ipc.Reader
	schema   *arrow.Schema
	columns  []Column
	file     bool // the stream is inside of a file
	batch    arrow.RecordBatch
	next     int // row of the batch
	row      int
	err      error // ends the rows
}

// arrowCell is a cell as it is stored.
type arrowCell struct {
	of  arrow.Array
	row int
}

// NewArrow reads the schema. The error is an [*Error], or that of r.
func NewArrow(r io.Reader) (*Arrow, error) { return newArrow(r, maxArrowBatch) }

func newArrow(r io.Reader, most int) (*Arrow, error) {
	a := &Arrow{messages: newArrowMessages(r, most)}
	if err := a.open(); err != nil {
		return nil, a.failed(err)
	}
	return a, nil
}

// open reads up to the schema.
func (a *Arrow) open() (err error) {
	defer guardArrow(&err)
	if a.file, err = a.messages.begin(); err != nil {
		return err
	}
	a.r, err = ipc.NewReaderFromMessageReader(a.messages, ipc.WithAllocator(a.messages))
	if err != nil {
		return err
	}
	a.schema = a.r.Schema()
	for _, f := range a.schema.Fields() {
		if err := checkArrowType(f.Type); err != nil {
			return fmt.Errorf("column %q: %w", f.Name, err)
		}
		a.columns = append(a.columns, Column{f.Name, Type{Kind: Native, arrow: &f}})
	}
	return nil
}

// guardArrow makes an error of a panic: the library panics on some damaged files.
func guardArrow(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%v", r)
	}
}

// failed is the error of what is read now. What the reader below returned stays as it is.
func (a *Arrow) failed(err error) error {
	if a.messages.err != nil {
		return a.messages.err
	}
	if errors.Is(err, errArrowEnd) {
		return &Error{Row: a.row, Reason: "the Arrow data " + errArrowEnd.Error(), Err: err}
	}
	return &Error{Row: a.row, Reason: "the Arrow data are damaged, or not Arrow's (" + err.Error() +
		")", Err: err}
}

// Columns are the fields of the schema, of kind [Native].
func (a *Arrow) Columns() []Column { return a.columns }

// Next returns the stored cells of the next row, one for each column, valid until the next call.
// The error is io.EOF after the last row, an [*Error], or that of the reader.
func (a *Arrow) Next() ([]any, error) {
	if err := a.load(); err != nil {
		return nil, err
	}
	cells := make([]any, len(a.columns))
	for i := range cells {
		cells[i] = arrowCell{a.batch.Column(i), a.next}
	}
	a.next++
	a.row++
	return cells, nil
}

// Skip passes over n rows. The error is that of Next.
func (a *Arrow) Skip(n int) error {
	for n > 0 {
		if err := a.load(); err != nil {
			return err
		}
		k := min(n, int(a.batch.NumRows())-a.next)
		a.next, a.row, n = a.next+k, a.row+k, n-k
	}
	return nil
}

// load has a batch with a row that was not returned yet.
func (a *Arrow) load() error {
	for a.err == nil && (a.batch == nil || a.next == int(a.batch.NumRows())) {
		a.next, a.batch = 0, nil
		if a.err = a.read(); a.err != nil && a.err != io.EOF {
			a.row++
			a.err = a.failed(a.err)
		}
	}
	return a.err
}

// read reads a batch.
func (a *Arrow) read() (err error) {
	defer guardArrow(&err)
	if a.batch, err = a.r.Read(); err == nil {
		if n := a.batch.NumRows(); n > maxArrowRows {
			return fmt.Errorf("a record batch has %d rows, at most %d are read", n, maxArrowRows)
		}
		return nil
	}
	if err == io.EOF || err == nil {
		return a.messages.end(a.file)
	}
	return err
}

// JSON is a cell of column i, as Next returned it, as a JSON value.
func (a *Arrow) JSON(i int, cell any) (v json.RawMessage, err error) {
	defer func() {
		if err != nil {
			err = &Error{Row: a.row, Reason: fmt.Sprintf("column %q of the Arrow data is damaged (%v)",
				a.columns[i].Name, err), Err: err}
		}
	}()
	defer guardArrow(&err)
	c, ok := cell.(arrowCell)
	if !ok {
		return nil, fmt.Errorf("a cell of Arrow data is a %T", cell)
	}
	return appendArrow(nil, c.of, c.row)
}

// Close frees what reading holds.
func (a *Arrow) Close() (err error) {
	defer guardArrow(&err)
	if a.r != nil {
		a.r.Release()
		a.r = nil
	}
	return nil
}

// errArrowEnd is the end of data where more have to follow.
var errArrowEnd = errors.New("end too early; get the file again whole")
