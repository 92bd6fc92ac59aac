package read

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"infill/infill/settings"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// Errors of reading.
var (
	// ErrFormat reports a file that holds neither lines of text nor JSON lines
	// of the kind that was asked for.
	ErrFormat = errors.New("unknown format")
	// ErrNoSentences reports a file whose records hold no sentence.
	ErrNoSentences = errors.New("no sentences")
	// ErrOption reports a bad option.
	ErrOption = errors.New("bad report option")
)

// Input is a named stream. Open is called once.
type Input struct {
	// Name is shown in tables and messages.
	Name string
	Open func() (io.ReadCloser, error)

	table string // the path, if its name says that it is a table, which Open does not read as one
}

// open calls Open.
func (in Input) open() (io.ReadCloser, error) {
	if in.Open == nil {
		return nil, fmt.Errorf("%w: the input %q has no Open; make it with Files", ErrOption, in.Name)
	}
	return in.Open()
}

// Lines calls each for every line of plain sentences. Records and tables are refused: their lines
// would be taken for sentences, and the numbers would be wrong without a word. Errors are
// [ErrFormat], [ErrNoSentences], and those of each.
func (in Input) Lines(each func(number int, line string) error) error {
	if format := settings.FormatOf(in.Name); format.Table() || format.JSON() {
		return notPlain(in.Name)
	}
	f, err := in.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	first := true
	return eachLine(f, in.Name, func(n int, line string) error {
		if s := strings.TrimSpace(line); first && s != "" {
			if first = false; s[0] == '{' && json.Valid([]byte(s)) { // a sentence may have braces too
				return notPlain(in.Name)
			}
		}
		return each(n, line)
	})
}

// notPlain is the error of a file of records.
func notPlain(name string) error {
	return fmt.Errorf("%s: %w: records and tables are not read here; write their sentences alone to "+
		"a file, one a line (such as jq -r .text; of records of infill jq -r '.fillings[]?.text', or "+
		"jq -r '.gold // empty' for what was infilled)", name, ErrFormat)
}

// Files makes inputs of paths. Gzip and zstd data, which their first bytes show,
// are decompressed. "-" is stdin, which can be read once.
func Files(paths []string, stdin io.Reader) []Input {
	out := make([]Input, len(paths))
	for i, path := range paths {
		if path == "-" {
			out[i] = Input{Name: "stdin", Open: func() (io.ReadCloser, error) {
				if stdin == nil {
					return nil, fmt.Errorf("%w: there is no standard input to read; pass os.Stdin", ErrOption)
				}
				return unpack.New(stdin)
			}}
			continue
		}
		out[i] = Input{Name: path, Open: func() (io.ReadCloser, error) { return unpack.Open(path) }}
		if settings.FormatOf(path).Table() {
			out[i].table = path
		}
	}
	return out
}

// errNotText reports data that are not lines of text: NUL bytes, invalid UTF-8, or no line ends. It
// is an [ErrFormat].
var errNotText error = notText{}

type notText struct{}

func (notText) Error() string { return "not a text file" }
func (notText) Unwrap() error { return ErrFormat }

// maxLine is the longest line, or element of an array, in bytes. A sentence has a few hundred.
// The bound keeps a file without newlines from being read into memory whole.
const maxLine = 16 << 20

// eachLine calls each for every line of r with its number, 1 upwards. Line ends may be \n or \r\n,
// the last one may be missing, and a leading byte order mark is dropped. The string is the callee's
// to keep. name is the file's name for error messages. It stops at the first error, its own or
// each's. A file without any byte is [ErrNoSentences], one that is not text [ErrFormat].
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
