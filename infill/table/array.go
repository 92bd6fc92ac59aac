package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Array reads the elements of an array of JSON. An element that is not JSON, or too long, costs
// that element alone, as long as its quotes and brackets close. Package encoding/json reads nothing
// after it, and has no bound.
type Array struct {
	r     *bufio.Reader
	limit int
	row   int // of the last element
	raw   []byte
	err   error // ends the array; nil before its end
}

// NewArray reads elements of at most limit bytes, white space apart. A byte order mark is passed
// over. The error is an [*Error] for something else than an array, or that of r.
func NewArray(r io.Reader, limit int) (*Array, error) {
	a := &Array{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
	if b, _ := a.r.Peek(3); string(b) == "\ufeff" {
		_, _ = a.r.Discard(3)
	}
	b, err := a.token()
	switch {
	case err == io.EOF:
		return nil, &Error{Array: true, Reason: "it is empty; an array of JSON begins with ["}
	case err != nil:
		return nil, err
	case b != '[':
		return nil, &Error{Array: true, Reason: "it is not an array, which begins with ["}
	}
	switch b, err := a.token(); {
	case err == nil && b == ']':
		a.err = a.end()
	case err == nil:
		err = a.r.UnreadByte()
		return a, err
	case err != io.EOF:
		return nil, err
	}
	return a, nil
}

// Row is the number of the last element, from 1.
func (a *Array) Row() int { return a.row }

// token is the next byte that is not white space.
func (a *Array) token() (byte, error) {
	for {
		b, err := a.r.ReadByte()
		if err != nil || bytes.IndexByte([]byte(" \t\r\n"), b) < 0 {
			return b, err
		}
	}
}

// end is io.EOF if nothing follows the array.
func (a *Array) end() error {
	_, err := a.token()
	if err == nil {
		err = &Error{Array: true, Row: a.row, Reason: "something follows the end of the array"}
	}
	return err
}

// Next returns the next element, valid until the next call: compact, or as it stands where it is
// not JSON. The error is io.EOF after the last, a [*RowError] for one that is too long, an [*Error]
// where the array ends too early or too late, else that of the reader.
func (a *Array) Next() ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	a.row++
	a.raw = a.raw[:0]
	long, err := a.scan()
	switch {
	case err == io.EOF:
		a.err = &Error{Array: true, Row: a.row, Reason: "the array ends in the middle; get the file " +
			"again whole"}
		return nil, a.err
	case err != nil:
		a.err = err
		return nil, err
	case long:
		return nil, &RowError{TooLong: true, Reason: fmt.Sprintf("the element has more than %d bytes",
			a.limit)}
	}
	var flat bytes.Buffer
	if json.Compact(&flat, a.raw) == nil {
		return flat.Bytes(), nil
	}
	return bytes.TrimSpace(a.raw), nil
}

// scan reads an element and what ends it.
func (a *Array) scan() (long bool, err error) {
	depth, quoted, escaped := 0, false, false
	for {
		b, err := a.r.ReadByte()
		if err != nil {
			return long, err
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = b == '\\', b != '"'
		case b == '"':
			quoted = true
		case b == '[' || b == '{':
			depth++
		case depth == 0 && b == ',':
			return long, nil
		case depth == 0 && b == ']':
			a.err = a.end()
			return long, nil
		case b == ']' || b == '}':
			depth = max(depth-1, 0)
		case depth == 0 && bytes.IndexByte([]byte(" \t\r\n"), b) >= 0 && len(a.raw) == 0:
			continue
		}
		if len(a.raw) >= a.limit {
			long = true
			continue
		}
		a.raw = append(a.raw, b)
	}
}

// An arrayWriter makes an array of JSON from JSON lines.
type arrayWriter struct {
	w     io.Writer
	begun bool
	ended bool // the last byte ended a line
}

// NewArrayWriter makes an array of JSON from JSON lines. It writes to w, which stays open.
func NewArrayWriter(w io.Writer) io.WriteCloser { return &arrayWriter{w: w} }

// Write takes lines, or parts of them. They end in \n and are not empty.
func (a *arrayWriter) Write(p []byte) (int, error) {
	var out bytes.Buffer
	for _, b := range p {
		switch {
		case !a.begun:
			out.WriteString("[\n")
			a.begun = true
		case a.ended:
			out.WriteString(",\n")
		}
		if a.ended = b == '\n'; !a.ended {
			out.WriteByte(b)
		}
	}
	if _, err := a.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close ends the array.
func (a *arrayWriter) Close() error {
	end := "\n]\n"
	if !a.begun {
		end = "[]\n"
	}
	_, err := io.WriteString(a.w, end)
	return err
}
