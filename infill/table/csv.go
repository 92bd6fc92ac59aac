package table

import (
	"bufio"
	"fmt"
	"io"
)

// CSV reads comma- or tab-separated values (RFC 4180). Package encoding/csv turns
// \r\n within a cell into \n and reads a quote that is never closed to the end of
// the file. CSV keeps the bytes of a cell and bounds its memory. It takes the same
// rows. Besides it takes a quote inside of a cell that does not begin with one.
type CSV struct {
	r     *bufio.Reader
	comma byte
	limit int
	line  int // of the next byte
	row   int // of the last row
	rows  int // that were begun
	raw   []byte
	cell  []byte
}

// NewCSV reads rows of at most limit bytes. A byte order mark is passed over. The
// error is an [*Error] for text in UTF-16, else one of r.
func NewCSV(r io.Reader, comma byte, limit int) (*CSV, error) {
	c := &CSV{r: bufio.NewReaderSize(r, 64<<10), comma: comma, limit: limit, line: 1}
	if b, _ := c.r.Peek(2); string(b) == "\xff\xfe" || string(b) == "\xfe\xff" {
		return nil, &Error{
			Reason: "it is in UTF-16; convert it to UTF-8 first (iconv -f utf-16 -t utf-8)"}
	}
	if b, _ := c.r.Peek(3); string(b) == "\ufeff" {
		_, _ = c.r.Discard(3)
	}
	return c, nil
}

// Line is the number of the line on which the last row begins, from 1.
func (c *CSV) Line() int { return c.row }

// Next returns the cells of the next row. Empty lines are passed over. The error is
// io.EOF after the last row, a [*RowError] for a row that is passed over, an
// [*Error] where nothing more can be read, else one of the reader. An [*Error] is also a carriage
// return inside of the first row, outside of quotes: such a row is a whole file of old line ends.
func (c *CSV) Next() ([]string, error) {
	c.raw = c.raw[:0]
	if err := c.passEmpty(); err != nil {
		return nil, err
	}
	c.row = c.line
	c.rows++
	var cells []string
	for {
		end, err := c.readCell()
		if err != nil {
			return nil, err
		}
		cells = append(cells, string(c.cell))
		if end {
			return cells, nil
		}
	}
}

// passEmpty passes over empty lines.
func (c *CSV) passEmpty() error {
	for {
		b, err := c.r.Peek(1)
		if err == nil && b[0] == '\r' {
			if b, err = c.r.Peek(2); err == io.EOF {
				_, _ = c.r.Discard(1)
				return err
			}
		}
		if err != nil {
			return err
		}
		switch {
		case b[0] == '\n':
			_, err = c.r.Discard(1)
		case len(b) == 2 && b[1] == '\n':
			_, err = c.r.Discard(2)
		default:
			return nil
		}
		if err != nil {
			return err
		}
		c.line++
	}
}

// atEnd reports whether a line or the file ends here.
func (c *CSV) atEnd() bool {
	next, _ := c.r.Peek(1)
	return len(next) == 0 || next[0] == '\n'
}

// oldEnd is an error if the \r that was read last is the end of a line as old Macintosh files have
// it. In rows after the first it is part of a cell.
func (c *CSV) oldEnd() error {
	next, _ := c.r.Peek(1)
	if c.rows > 1 || len(next) == 0 || next[0] == '\n' || next[0] == '\r' {
		return nil
	}
	return &Error{Row: c.row, Reason: "its lines end in carriage returns alone, as in old Macintosh " +
		"files; make line ends of them first (tr '\\r' '\\n')"}
}

// read is the next byte, which the row then has.
func (c *CSV) read() (byte, error) {
	b, err := c.r.ReadByte()
	if err != nil {
		return 0, err
	}
	if b == '\n' {
		c.line++
	}
	c.raw = append(c.raw, b)
	return b, nil
}

// readCell reads a cell and what ends it; end says that the row ends too.
func (c *CSV) readCell() (end bool, err error) {
	c.cell = c.cell[:0]
	first := true
	for {
		if len(c.raw) > c.limit {
			return true, c.skip(&RowError{TooLong: true,
				Reason: fmt.Sprintf("the row has more than %d bytes", c.limit)})
		}
		b, err := c.read()
		switch {
		case err == io.EOF:
			c.trimReturn()
			return true, nil
		case err != nil:
			return true, err
		case b == c.comma:
			return false, nil
		case b == '\n':
			c.trimReturn()
			return true, nil
		case b == '"' && first:
			return c.readQuoted()
		case b == '\r':
			if err := c.oldEnd(); err != nil {
				return true, err
			}
		}
		first = false
		c.cell = append(c.cell, b)
	}
}

// trimReturn takes the \r of a line's end away.
func (c *CSV) trimReturn() {
	if n := len(c.cell); n > 0 && c.cell[n-1] == '\r' {
		c.cell = c.cell[:n-1]
	}
}

// readQuoted reads a cell after its first quote.
func (c *CSV) readQuoted() (end bool, err error) {
	open := c.line
	for {
		if len(c.raw) > c.limit {
			return true, &Error{Row: open, Reason: fmt.Sprintf(
				"a quote that opens here is not closed within %d bytes; close it, or write it twice "+
					"inside of quotes", c.limit)}
		}
		b, err := c.read()
		switch {
		case err == io.EOF:
			return true, &Error{Row: open, Reason: "a quote that opens here is not closed; close it, " +
				"or write it twice inside of quotes"}
		case err != nil:
			return true, err
		case b != '"':
			c.cell = append(c.cell, b)
			continue
		}
		switch b, err = c.read(); {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return true, err
		case b == '"':
			c.cell = append(c.cell, '"')
			continue
		case b == c.comma:
			return false, nil
		case b == '\n':
			return true, nil
		}
		if b == '\r' && c.atEnd() {
			if _, err := c.read(); err != nil && err != io.EOF {
				return true, err
			}
			return true, nil
		}
		if b == '\r' {
			if err := c.oldEnd(); err != nil {
				return true, err
			}
		}
		return true, c.skip(&RowError{Reason: "text follows a closing quote; " +
			"write a quote twice inside of quotes"})
	}
}

// skip passes over the rest of a line in which a row failed.
func (c *CSV) skip(failed *RowError) error {
	for n := len(c.raw); n == 0 || c.raw[n-1] != '\n'; n = len(c.raw) {
		if n > c.limit {
			c.raw, failed.TooLong = c.raw[:0], true
		}
		if _, err := c.read(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	if !failed.TooLong {
		failed.Raw = c.Raw()
	}
	return failed
}

// Raw is the last row as it stands in the file, without its end.
func (c *CSV) Raw() string {
	raw := c.raw
	for len(raw) > 0 && (raw[len(raw)-1] == '\n' || raw[len(raw)-1] == '\r') {
		raw = raw[:len(raw)-1]
	}
	return string(raw)
}
