// Package textline reads lines of text in bounded memory.
package textline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrTooLong is a line of more bytes than the reader allows.
var ErrTooLong = errors.New("line too long")

// mark is the byte order mark that some editors put at the start of a file.
const mark = "\ufeff"

// SkipMark passes over a byte order mark. It waits for one byte at first, so that a
// short line typed at a terminal is not held up.
func SkipMark(r *bufio.Reader) {
	if b, err := r.Peek(1); err != nil || b[0] != mark[0] {
		return
	}
	if b, err := r.Peek(len(mark)); err == nil && string(b) == mark {
		_, _ = r.Discard(len(mark))
	}
}

// Read returns the next line with its end, \n; the last line can lack it. The bytes are
// valid until the next use of r. A line of more than limit bytes, its end apart, is
// passed over and gives [ErrTooLong]; reading can go on behind it. The error is io.EOF
// after the last line, else what r returned.
func Read(r *bufio.Reader, limit int) ([]byte, error) {
	var long []byte // what came before the present piece of a line beyond r's buffer
	n := 0
	for {
		b, err := r.ReadSlice('\n')
		n += len(b)
		if err != nil && err != bufio.ErrBufferFull && (err != io.EOF || n == 0) {
			return nil, err
		}
		content := n
		if err == nil {
			content = n - 1
		}
		more := err == bufio.ErrBufferFull
		switch {
		case content > limit && more:
			long = nil
		case content > limit:
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, limit)
		case more:
			long = append(long, b...)
		case long == nil:
			return b, nil
		default:
			return append(long, b...), nil
		}
	}
}

// Trim is a line without its end, \n or \r\n.
func Trim(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// A Reader reads line by line and numbers the lines.
type Reader struct {
	r      *bufio.Reader
	limit  int
	number int
}

// NewReader reads lines of at most limit bytes from r, without a byte order mark at the
// start.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Next returns the next line without its end. The bytes are valid until the next call.
// The errors are those of [Read]; [ErrTooLong] can be passed over.
func (r *Reader) Next() ([]byte, error) {
	if r.number == 0 {
		SkipMark(r.r)
	}
	b, err := Read(r.r, r.limit)
	if err == nil || errors.Is(err, ErrTooLong) {
		r.number++
	}
	return Trim(b), err
}

// Number is that of the line last returned, or too long; 1 for the first.
func (r *Reader) Number() int { return r.number }
