package table

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
)

// CSV reads comma- or tab-separated values. With Quotes it takes the same rows as package
// encoding/csv (RFC 4180), which turns \r\n within a cell into \n, and reads a quote that is never
// closed to the end of the file. CSV keeps the bytes of a cell and bounds its memory. Besides it
// takes a quote inside of a cell that does not begin with one.
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

	r     io.Reader
	buf   bytes.Buffer // what was read and is not part of a row yet
	ended error        // of r, io.EOF at its end
	line  int          // of the next byte
	row   int          // of the last row
	rows  int          // that were begun
	width int          // cells of the first row
	again int          // bytes that were looked at again
	raw   string
}

const (
	// maxAgain bounds the work on files whose quotes do not close.
	maxAgain = 1 << 30
	chunk    = 64 << 10 // bytes that are asked for at a time, at least
)

// NewCSV reads rows of cells with commas between, which may stand in quotes. A byte order mark is
// passed over. The error is an [*Error] for text in UTF-16, else one of r.
func NewCSV(r io.Reader) (*CSV, error) {
	c := &CSV{Comma: ',', Quotes: true, Limit: math.MaxInt, line: 1, r: r}
	for c.buf.Len() < 3 && c.more() {
	}
	switch b := c.buf.Bytes(); {
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return nil, &Error{
			Reason: "it is in UTF-16; say its encoding, utf-16le or utf-16be"}
	case bytes.HasPrefix(b, []byte("\ufeff")):
		c.buf.Next(3)
	}
	return c, nil
}

// more reads once, and as much as there is already. It is false at the end.
func (c *CSV) more() bool {
	if c.ended == nil {
		n := max(chunk, c.buf.Len())
		c.buf.Grow(n)
		b := c.buf.AvailableBuffer()[:n]
		n, c.ended = c.r.Read(b)
		c.buf.Write(b[:n])
	}
	return c.ended == nil
}

// Line is the number of the line on which the last row begins, from 1.
func (c *CSV) Line() int { return c.row }

// Raw is the last row as it stands in the file, without its end.
func (c *CSV) Raw() string { return strings.TrimRight(c.raw, "\r\n") }

// Next returns the cells of the next row. Empty lines are passed over. The error is
// io.EOF after the last row, a [*RowError] for a row that is passed over, an
// [*Error] where nothing more can be read, else one of the reader. An [*Error] is also a carriage
// return inside of the first row, outside of quotes: such a row is a whole file of old line ends.
func (c *CSV) Next() ([]string, error) {
	if err := c.passEmpty(); err != nil {
		return nil, err
	}
	c.row, c.rows = c.line, c.rows+1
	for {
		b := c.buf.Bytes()
		f := c.find(b)
		many := bytes.IndexByte(b[:f.n-1], '\n') >= 0 // lines
		long := f.n-2 > c.Limit
		switch {
		case f.old && c.rows == 1:
			return nil, &Error{Row: c.row, Reason: "its lines end in carriage returns alone, as in old " +
				"Macintosh files; make line ends of them first (tr '\\r' '\\n')"}
		case f.bad >= 0 && bytes.IndexByte(b[:f.bad], '\n') >= 0:
			return nil, c.back(f.n, fmt.Sprintf("text follows the quote on line %d that closes the one "+
				"that opens here", c.lineOf(b[:f.bad])))
		case f.bad >= 0:
			return nil, c.skip("text follows a closing quote; write a quote twice inside of quotes")
		case long && f.open >= 0 && (c.rows == 1 || many):
			return nil, c.unclosed(f, fmt.Sprintf("is not closed within %d bytes", c.Limit))
		case long && c.rows > 1 && many:
			return nil, c.back(f.n, "a quote opens here, and "+c.tooLong())
		case long:
			return nil, c.skip(c.tooLong())
		case f.open < 0 && (f.n < len(b) || b[f.n-1] == '\n' || c.ended == io.EOF):
			if c.rows == 1 {
				c.width = len(f.cells)
			}
			if len(f.cells) != c.width && many {
				return nil, c.back(f.n, fmt.Sprintf("a quote that opens here closes on line %d, and the row "+
					"then has %d cells, where the first has %d", c.lineOf(b[:f.n-1]), len(f.cells), c.width))
			}
			c.take(f.n)
			return f.cells, nil
		case c.ended == io.EOF:
			return nil, c.unclosed(f, "is not closed")
		case c.ended != nil:
			return nil, c.ended
		}
		c.more()
	}
}

// passEmpty passes over empty lines.
func (c *CSV) passEmpty() error {
	for {
		switch b := c.buf.Bytes(); {
		case bytes.HasPrefix(b, []byte("\n")):
			c.take(1)
		case bytes.HasPrefix(b, []byte("\r\n")):
			c.take(2)
		case len(b) > 1, len(b) == 1 && b[0] != '\r':
			return nil
		case c.ended != nil:
			return c.ended
		default:
			c.more()
		}
	}
}

// found is the first row of some bytes, as far as it is there.
type found struct {
	n     int // bytes of the row, its end included
	cells []string
	open  int  // where the quote stands that nothing closes, -1 for none
	bad   int  // where a quote stands that text follows, -1 for none
	old   bool // a carriage return stands outside of quotes, and no line ends there
}

// find looks for a row, whose cells are as they stand in b.
func (c *CSV) find(b []byte) found {
	f := found{open: -1, bad: -1}
	line := -1            // where the line ends that a cell ends on
	for at := 0; ; at++ { // behind the separator
		from, quoted := at, c.Quotes && bytes.HasPrefix(b[at:], []byte(`"`))
		if quoted {
			for at++; ; at += 2 { // behind one quote, or behind two
				i := bytes.IndexByte(b[at:], '"')
				if i < 0 {
					f.open, f.n = from, len(b)
					return f
				}
				if at += i; !bytes.HasPrefix(b[at:], []byte(`""`)) {
					break
				}
			}
			f.cells = append(f.cells, strings.ReplaceAll(string(b[from+1:at]), `""`, `"`))
			at++
		}
		if line < at {
			if line = len(b); bytes.IndexByte(b[at:], '\n') >= 0 {
				line = at + bytes.IndexByte(b[at:], '\n')
			}
		}
		cell, _, more := bytes.Cut(b[at:line], []byte{c.Comma})
		if from = at; !more {
			cell = bytes.TrimSuffix(cell, []byte("\r"))
			at, f.n = line, min(line+1, len(b))
		} else {
			at += len(cell)
		}
		switch {
		case !quoted:
			f.old = f.old || oldEnd(b, from, from+len(cell))
			f.cells = append(f.cells, string(cell))
		case len(cell) > 0:
			f.bad, f.n, f.old = from-1, from, f.old || oldEnd(b, from, from+1)
			return f
		}
		if !more {
			return f
		}
	}
}

// oldEnd reports whether a carriage return, from one byte of b to another, is the end of a line as
// old Macintosh files have it. In rows after the first it is part of a cell.
func oldEnd(b []byte, from, to int) bool {
	for i := from; i < min(to, len(b)-1); i++ {
		if b[i] == '\r' && b[i+1] != '\n' && b[i+1] != '\r' {
			return true
		}
	}
	return false
}

// take has the next n bytes as the row.
func (c *CSV) take(n int) {
	c.raw = string(c.buf.Next(n))
	c.line += strings.Count(c.raw, "\n")
}

// lineOf is the number of the line behind some bytes of the row.
func (c *CSV) lineOf(b []byte) int { return c.row + bytes.Count(b, []byte("\n")) }

func (c *CSV) tooLong() string { return fmt.Sprintf("the row has more than %d bytes", c.Limit) }

// skip passes over the first line of a row that failed, and returns its error.
func (c *CSV) skip(reason string) error {
	long := false
	for {
		b := c.buf.Bytes()
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			c.take(i + 1)
			break
		}
		if c.ended == io.EOF {
			c.take(len(b))
			break
		} else if c.ended != nil {
			return c.ended
		}
		if long = long || len(b) > c.Limit; long {
			c.buf.Reset()
		}
		c.more()
	}
	if long || len(c.raw) > c.Limit {
		return &RowError{TooLong: true, Reason: c.tooLong()}
	}
	return &RowError{Raw: c.Raw(), Reason: reason}
}

// back is skip for a row of n bytes whose lines after the first are read as rows.
func (c *CSV) back(n int, reason string) error {
	if c.again += n; c.again > maxAgain {
		return &Error{Row: c.row, Reason: reason + ", as many before it do; mend the quotes of this " +
			"file, or say that it has none"}
	}
	return c.skip(reason + "; close it, or write it twice inside of quotes")
}

// unclosed is the error of a quote that opens and is not closed. Without its first row a table
// cannot be read.
func (c *CSV) unclosed(f found, how string) error {
	open := c.lineOf(c.buf.Bytes()[:f.open])
	if c.rows == 1 {
		return &Error{Row: open, Reason: "a quote that opens here " + how + "; close it, or write it " +
			"twice inside of quotes"}
	}
	what := "a quote that opens here "
	if open > c.row {
		what = fmt.Sprintf("a quote that opens on line %d ", open)
	}
	return c.back(f.n, what+how)
}
