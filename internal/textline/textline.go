// Package textline reads lines of text in bounded memory.
package textline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// ErrTooLong is a line of more bytes than the reader allows.
var ErrTooLong = errors.New("line too long")

// PeekSize is how many bytes [Reader.Peek] can look ahead.
const PeekSize = 64 << 10

// mark is the byte order mark that some editors put at the start of a file.
const mark = "\ufeff"

// Read returns the next line of r with its end, \n; the last line can lack it. The bytes
// are valid until the next use of r. A line of more than limit bytes, its end apart,
// gives [ErrTooLong]; r then stands somewhere in the line, or at its end. The error is
// io.EOF after the last line, else what r returned.
func Read(r *bufio.Reader, limit int) ([]byte, error) {
	line, _, err := read(r, limit)
	return line, err
}

// read is Read. With ErrTooLong, ended says whether the end of the line was read.
func read(r *bufio.Reader, limit int) (line []byte, ended bool, err error) {
	var long []byte // what came before the present piece of a line beyond r's buffer
	for {
		b, err := r.ReadSlice('\n')
		n := len(long) + len(b)
		if err != nil && err != bufio.ErrBufferFull && (err != io.EOF || n == 0) {
			return nil, false, err
		}
		if ended = err == nil; ended {
			n--
		}
		switch {
		case n > limit:
			return nil, ended, fmt.Errorf("%w: more than %d bytes", ErrTooLong, limit)
		case err == bufio.ErrBufferFull:
			long = append(long, b...)
		case long == nil:
			return b, ended, nil
		default:
			return append(long, b...), ended, nil
		}
	}
}

// Trim is a line without its end, \n or \r\n.
func Trim(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// A Reader reads line by line and numbers the lines.
type Reader struct {
	r       *bufio.Reader
	limit   int
	number  int
	started bool
	inside  bool // a line that was too long
}

// nothing is the reader that a caller forgot.
type nothing struct{}

func (nothing) Read([]byte) (int, error) {
	return 0, errors.New("there is no reader to read from; pass a file or strings.NewReader")
}

// NewReader reads lines of at most limit bytes from r, without a byte order mark at the
// start. A nil reader has an error in place of the first line.
func NewReader(r io.Reader, limit int) *Reader {
	if r == nil {
		r = nothing{}
	}
	return &Reader{r: bufio.NewReaderSize(r, PeekSize), limit: limit}
}

// NewReaderAfter reads on in the middle of an input, after a number of lines. What looks like
// a byte order mark is text there.
func NewReaderAfter(lines int, r io.Reader, limit int) *Reader {
	out := NewReader(r, limit)
	out.number, out.started = lines, true
	return out
}

// start passes over a byte order mark. It waits for one byte at first, so that a short
// line typed at a terminal is not held up.
func (r *Reader) start() {
	if r.started {
		return
	}
	r.started = true
	if b, err := r.r.Peek(1); err != nil || b[0] != mark[0] {
		return
	}
	if b, err := r.r.Peek(len(mark)); err == nil && string(b) == mark {
		_, _ = r.r.Discard(len(mark))
	}
}

// Peek returns the next n bytes, at most [PeekSize], without reading them. There are
// fewer, and an error, where the input ends.
func (r *Reader) Peek(n int) ([]byte, error) {
	r.start()
	return r.r.Peek(n)
}

// Next returns the next line without its end. The bytes are valid until the next call.
// After [ErrTooLong] the call that follows passes over the rest of the line. The error
// is io.EOF after the last line, else what the input returned.
func (r *Reader) Next() ([]byte, error) {
	r.start()
	for r.inside {
		switch _, err := r.r.ReadSlice('\n'); err {
		case nil:
			r.inside = false
		case bufio.ErrBufferFull:
		default:
			return nil, err
		}
	}
	b, ended, err := read(r.r, r.limit)
	if errors.Is(err, ErrTooLong) {
		r.number++
		r.inside = !ended
	}
	if err != nil {
		return nil, err
	}
	r.number++
	return Trim(b), nil
}

// Number is the number of the line last returned, or too long; 1 for the first.
func (r *Reader) Number() int { return r.number }

var spaces = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// OneLine is a text with spaces in the place of line ends, which a text of JSON may have.
func OneLine(text string) string { return spaces.Replace(text) }

// Whole is the beginning of a text without the part of a character at its end.
func Whole(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if start := len(b) - n; utf8.RuneStart(b[start]) {
			if !utf8.FullRune(b[start:]) {
				b = b[:start]
			}
			break
		}
	}
	return b
}
