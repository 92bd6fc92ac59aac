package table

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
)

// CSV reads comma- or tab-separated values. Package encoding/csv turns \r\n within a cell into \n
// and reads a quote that is never closed to the end of the file. CSV keeps the bytes of a cell and
// bounds its memory. With Quotes it takes the same rows (RFC 4180). Besides it takes a quote inside
// of a cell that does not begin with one.
//
// The first row says how many cells the others have. A quote that is never closed, or that closes
// on a later line where the cells do not fit, is an error of the line it opens on. The lines after
// that are rows again.
type CSV struct {
	// What tells cells apart, to be set before the first row is read.
	Comma byte // between cells
	// Quotes says that a cell may stand in quotes, and then hold separators and line ends. Without
	// it a quote is a character as any other, as in most .tsv files.
	Quotes bool
	Limit  int // bytes of a row at most

	r     pushback
	line  int // of the next byte
	row   int // of the last row
	rows  int // that were begun
	width int // cells of the first row
	again int // bytes that were given back to be read again
	raw   []byte
	cell  []byte
}

// maxAgain bounds the work on files whose quotes do not close.
const maxAgain = 1 << 30

// NewCSV reads rows of cells with commas between, which may stand in quotes. A byte order mark is
// passed over. The error is an [*Error] for text in UTF-16, else one of r.
func NewCSV(r io.Reader) (*CSV, error) {
	c := &CSV{Comma: ',', Quotes: true, Limit: math.MaxInt, line: 1,
		r: pushback{r: bufio.NewReaderSize(r, 64<<10)}}
	if b, _ := c.r.Peek(2); string(b) == "\xff\xfe" || string(b) == "\xfe\xff" {
		return nil, &Error{
			Reason: "it is in UTF-16; convert it to UTF-8 first (iconv -f utf-16 -t utf-8)"}
	}
	if b, _ := c.r.Peek(3); string(b) == "\ufeff" {
		c.r.Discard(3)
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
		if !end {
			continue
		}
		if c.rows == 1 {
			c.width = len(cells)
		}
		if len(cells) != c.width && c.manyLines() {
			return nil, c.back(fmt.Sprintf("a quote that opens here closes on line %d, and the row then "+
				"has %d cells, where the first has %d", c.lastLine(), len(cells), c.width))
		}
		return cells, nil
	}
}

// manyLines reports whether what was read of the row has more than one line.
func (c *CSV) manyLines() bool {
	i := bytes.IndexByte(c.raw, '\n')
	return i >= 0 && i < len(c.raw)-1
}

// lastLine is the line of the last byte that was read.
func (c *CSV) lastLine() int {
	if n := len(c.raw); n > 0 && c.raw[n-1] == '\n' {
		return c.line - 1
	}
	return c.line
}

// back gives all but the first line of a row back, to be read as rows, and returns the error of the
// first line.
func (c *CSV) back(reason string) error {
	if i := bytes.IndexByte(c.raw, '\n'); i >= 0 {
		if c.again += len(c.raw) - i; c.again > maxAgain {
			return &Error{Row: c.row, Reason: reason + ", as many before it do; mend the quotes of this " +
				"file, or say that it has none"}
		}
		c.r.back(c.raw[i+1:])
		c.raw, c.line = c.raw[:i+1], c.row+1
	}
	if len(c.raw) > c.Limit {
		return &RowError{TooLong: true, Reason: fmt.Sprintf("the row has more than %d bytes", c.Limit)}
	}
	return &RowError{Raw: c.Raw(), Reason: reason + "; close it, or write it twice inside of quotes"}
}

// passEmpty passes over empty lines.
func (c *CSV) passEmpty() error {
	for {
		b, err := c.r.Peek(1)
		if err == nil && b[0] == '\r' {
			if b, err = c.r.Peek(2); err == io.EOF {
				c.r.Discard(1)
				return err
			}
		}
		if err != nil {
			return err
		}
		switch {
		case b[0] == '\n':
			c.r.Discard(1)
		case len(b) == 2 && b[1] == '\n':
			c.r.Discard(2)
		default:
			return nil
		}
		c.line++
	}
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
		if len(c.raw) > c.Limit {
			return true, c.tooLong()
		}
		b, err := c.read()
		switch {
		case err == io.EOF:
			c.trimReturn()
			return true, nil
		case err != nil:
			return true, err
		case b == c.Comma:
			return false, nil
		case b == '\n':
			c.trimReturn()
			return true, nil
		case b == '"' && first && c.Quotes:
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

// tooLong passes over a row that is longer than the limit.
func (c *CSV) tooLong() error {
	reason := fmt.Sprintf("the row has more than %d bytes", c.Limit)
	if c.rows > 1 && c.manyLines() {
		return c.back("a quote opens here, and " + reason)
	}
	return c.skip(&RowError{TooLong: true, Reason: reason})
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
		if len(c.raw) > c.Limit {
			if c.rows > 1 && !c.manyLines() {
				return true, c.tooLong()
			}
			return true, c.unclosed(open, fmt.Sprintf("is not closed within %d bytes", c.Limit))
		}
		b, err := c.read()
		switch {
		case err == io.EOF:
			return true, c.unclosed(open, "is not closed")
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
		case b == c.Comma:
			return false, nil
		case b == '\n':
			return true, nil
		}
		if b == '\r' {
			if next, _ := c.r.Peek(1); len(next) == 0 || next[0] == '\n' {
				if _, err := c.read(); err != nil && err != io.EOF {
					return true, err
				}
				return true, nil
			}
			if err := c.oldEnd(); err != nil {
				return true, err
			}
		}
		if c.manyLines() {
			return true, c.back(fmt.Sprintf("text follows the quote on line %d that closes the one that "+
				"opens here", c.lastLine()))
		}
		return true, c.skip(&RowError{Reason: "text follows a closing quote; " +
			"write a quote twice inside of quotes"})
	}
}

// unclosed is the error of a quote that opens on a line. Without its first row a table cannot be
// read.
func (c *CSV) unclosed(open int, how string) error {
	if c.rows == 1 {
		return &Error{Row: open, Reason: "a quote that opens here " + how + "; close it, or write it " +
			"twice inside of quotes"}
	}
	what := "a quote that opens here "
	if open > c.row {
		what = fmt.Sprintf("a quote that opens on line %d ", open)
	}
	return c.back(what + how)
}

// skip passes over the rest of a line in which a row failed.
func (c *CSV) skip(failed *RowError) error {
	for n := len(c.raw); n == 0 || c.raw[n-1] != '\n'; n = len(c.raw) {
		if n > c.Limit {
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
