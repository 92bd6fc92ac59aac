package output

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"infill/infill/batch/input"
	"infill/internal/textline"
)

// An encoder writes UTF-8 in another encoding. A character that it lacks becomes its escape in
// JSON, such as \u2192, in every form of output.
type encoder struct {
	w      io.Writer
	of     encoding.Encoding
	to     io.Writer    // has the state of the encoding, and writes to out
	out    bytes.Buffer // for one write of w for each of UTF-8
	rest   []byte       // the start of a character
	lacks  map[rune]bool
	number int  // of characters that were escaped
	first  rune // of them
}

// encoded is a writer of UTF-8, which goes to w in the encoding of the output.
func (o *Writer) encoded(w io.Writer) io.Writer {
	of, _ := input.Encoding("", o.layout.Encoding) // Layout.Found has the error
	if of == nil {
		return w
	}
	e := &encoder{w: w, of: of, lacks: map[rune]bool{}}
	e.to, o.encoder = transform.NewWriter(&e.out, of.NewEncoder()), e
	return e
}

func (e *encoder) Write(p []byte) (int, error) {
	b := append(e.rest, p...)
	whole := textline.Whole(b)
	var s strings.Builder
	for _, r := range string(whole) {
		s.WriteString(e.spelt(r))
	}
	e.rest = bytes.Clone(b[len(whole):])
	e.out.Reset()
	_, err := io.WriteString(e.to, s.String())
	if err == nil {
		_, err = e.w.Write(e.out.Bytes())
	}
	return len(p), err
}

// spelt is a character, or its escape.
func (e *encoder) spelt(r rune) string {
	s := string(r)
	lacks, known := e.lacks[r]
	if !known {
		_, err := e.of.NewEncoder().String(s)
		lacks, e.lacks[r] = err != nil, err != nil
	}
	if !lacks {
		return s
	}
	if e.number++; e.number == 1 {
		e.first = r
	}
	return escaped(r)
}

// escaped is a character as JSON escapes it.
func escaped(r rune) (out string) {
	for _, unit := range utf16.AppendRune(nil, r) {
		out += fmt.Sprintf("\\u%04x", unit)
	}
	return out
}

// Escaped is how many characters the encoding of the output lacks, so that they were written as
// escapes, and the first of them with its escape.
func (o *Writer) Escaped() (number int, first, as string) {
	if o.encoder == nil || o.encoder.number == 0 {
		return 0, "", ""
	}
	return o.encoder.number, string(o.encoder.first), escaped(o.encoder.first)
}
