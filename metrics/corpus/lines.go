package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"infill/internal/textline"
)

// Errors of reading text.
var (
	// ErrBinary reports data that is not text: a NUL byte or invalid UTF-8.
	ErrBinary = errors.New("not a text file")
	// ErrEmpty reports a file without any line.
	ErrEmpty = errors.New("file is empty")
	// ErrLineTooLong reports a line over maxLine bytes.
	ErrLineTooLong = errors.New("line too long")
)

// maxLine is the longest line accepted, in bytes. A sentence has a few hundred.
// The bound keeps a file without newlines from being read into memory whole.
const maxLine = 16 << 20

// Lines calls each for every line of r with its number, 1 upwards. Line ends may
// be \n or \r\n, the last one may be missing, and a leading byte order mark is
// dropped. The string is the callee's to keep. name is the file's name for error
// messages. It stops at the first error, its own or each's. A file without any
// byte is [ErrEmpty], NUL bytes and invalid UTF-8 are [ErrBinary].
func Lines(r io.Reader, name string, each func(number int, line string) error) error {
	in := textline.NewReader(r, maxLine)
	if head, _ := in.Peek(4); len(head) > 0 {
		if kind := textline.Foreign(head); kind != "" {
			return fmt.Errorf("%s: %w: it looks like %s; give plain text or JSON lines", name, ErrBinary,
				kind)
		}
	}
	for {
		part, err := in.Next()
		n := in.Number()
		switch {
		case err == io.EOF && n == 0:
			return fmt.Errorf("%s: %w", name, ErrEmpty)
		case err == io.EOF:
			return nil
		case errors.Is(err, textline.ErrTooLong):
			return fmt.Errorf("%s:%d: %w: more than %d bytes without a newline; is it text with one "+
				"sentence a line?",
				name, n, ErrLineTooLong, maxLine)
		case err != nil:
			return fmt.Errorf("%s:%d: %w", name, n+1, err)
		}
		if bytes.IndexByte(part, 0) >= 0 {
			return fmt.Errorf("%s:%d: %w: it holds NUL bytes; give plain text or JSON lines in UTF-8", name,
				n, ErrBinary)
		}
		if !utf8.Valid(part) {
			return fmt.Errorf("%s:%d: %w: invalid UTF-8; convert it first, for instance with iconv -t UTF-8",
				name, n, ErrBinary)
		}
		if err := each(n, string(part)); err != nil {
			return err
		}
	}
}

// ReadLines appends every line of r as a sentence. See [Lines] for what a line is
// and which errors there are. It reads once, in constant memory beside the tokens.
func (c *Corpus) ReadLines(r io.Reader, name string) error {
	return Lines(r, name, func(_ int, line string) error {
		if err := c.Add(line); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}
