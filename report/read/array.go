package read

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"infill/infill/batch/input"
	tables "infill/infill/table"
	"infill/internal/textline"
	"infill/metrics/corpus"
)

// stream reads lines, or the elements of an array of JSON.
func (rd *reader) stream(in Input) error {
	f, err := in.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	r := bufio.NewReaderSize(f, textline.PeekSize)
	if rd.file.Format == "" {
		head, _ := r.Peek(textline.PeekSize) // an error comes again when reading
		if input.LooksArray(head) {
			return rd.array(r)
		}
	}
	return corpus.Lines(r, in.Name, rd.line)
}

// maxElement bounds an element of an array of JSON in bytes, as package corpus does lines.
const maxElement = 16 << 20

// array reads an array of JSON: of records, or of sentences.
func (rd *reader) array(r io.Reader) error {
	rd.file.Format = "json"
	a, err := tables.NewArray(r, maxElement)
	for err == nil {
		var b []byte
		if b, err = a.Next(); err != nil {
			break
		}
		if err := rd.element(a.Row(), b); err != nil {
			return err
		}
	}
	if err == io.EOF {
		return nil
	}
	return fmt.Errorf("%s: %w", rd.file.Name, err)
}

// element takes an element of an array.
func (rd *reader) element(n int, b []byte) error {
	if len(b) == 0 || b[0] != '"' {
		return rd.json(n, string(b))
	}
	var text string
	if json.Unmarshal(b, &text) != nil || !utf8.Valid(b) {
		return fmt.Errorf("%s:%d: %w: it is not a text of JSON in UTF-8", rd.file.Name, n, ErrFormat)
	}
	return rd.plain(oneLine.Replace(text))
}
