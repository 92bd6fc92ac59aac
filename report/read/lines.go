package read

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"infill/internal/textline"
)

// errNotText reports data that are not lines of text: NUL bytes, invalid UTF-8, or no line ends. It
// is an [ErrFormat].
var errNotText error = notText{}

type notText struct{}

func (notText) Error() string { return "not a text file" }
func (notText) Unwrap() error { return ErrFormat }

// maxLine is the longest line, or element of an array, in bytes. A sentence has a few hundred.
// The bound keeps a file without newlines from being read into memory whole.
const maxLine = 16 << 20

// eachLine calls each for every line of r with its number, 1 upwards. Line ends may
// be \n or \r\n, the last one may be missing, and a leading byte order mark is
// dropped. The string is the callee's to keep. name is the file's name for error
// messages. It stops at the first error, its own or each's. A file without any
// byte is [ErrNoSentences], one that is not text [ErrFormat].
func eachLine(r io.Reader, name string, each func(number int, line string) error) error {
	in := textline.NewReader(r, maxLine)
	if head, _ := in.Peek(4); len(head) > 0 {
		if kind := textline.Foreign(head); kind != "" {
			return fmt.Errorf("%s: %w: it looks like %s; give plain text or JSON lines", name, errNotText,
				kind)
		}
	}
	for {
		part, err := in.Next()
		n := in.Number()
		switch {
		case err == io.EOF && n == 0:
			return fmt.Errorf("%s: %w: the file is empty", name, ErrNoSentences)
		case err == io.EOF:
			return nil
		case errors.Is(err, textline.ErrTooLong):
			return fmt.Errorf("%s:%d: %w: more than %d bytes without a newline; is it text with one "+
				"sentence a line?", name, n, errNotText, maxLine)
		case err != nil:
			return fmt.Errorf("%s:%d: %w", name, n+1, err)
		}
		if bytes.IndexByte(part, 0) >= 0 {
			return fmt.Errorf("%s:%d: %w: it holds NUL bytes; give plain text or JSON lines in UTF-8", name,
				n, errNotText)
		}
		if !utf8.Valid(part) {
			return fmt.Errorf("%s:%d: %w: invalid UTF-8; convert it first, for instance with iconv -t UTF-8",
				name, n, errNotText)
		}
		if err := each(n, string(part)); err != nil {
			return err
		}
	}
}
