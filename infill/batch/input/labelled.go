package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"infill/infill/jsonl"
	"infill/infill/settings"
	"infill/infill/table"
	"infill/internal/textline"
)

// errPiece is the error of a sentence or an element that has no end in sight.
var errPiece = fmt.Errorf("%w: a sentence has more than %d bytes; put empty lines between "+
	"sentences", table.ErrTable, jsonl.MaxInput)

// newLabelledSource reads texts with labels in a form of another tool. The items have their
// Source, so that all of them together are the file, byte for byte.
func newLabelledSource(r *bufio.Reader, o Options) (source, error) {
	if !o.Shard.Whole() {
		return nil, fmt.Errorf("%w: files in the format %v are not cut", ErrShard, o.Format)
	}
	mark := ""
	if head, _ := r.Peek(3); string(head) == "\ufeff" {
		mark = "\ufeff"
		_, _ = r.Discard(len(mark)) // which were peeked at
	}
	if o.Format == settings.FormatSpaCy {
		s := &pairSource{read: &recorder{r: r}, mark: mark}
		s.decoder = json.NewDecoder(s.read)
		return s, nil
	}
	return &bodySource{r: r, options: o, mark: mark}, nil
}

// bodySource reads lines of JSON, or columns with a token and its tag a line, and what stands
// between sentences.
type bodySource struct {
	r       *bufio.Reader
	options Options
	mark    string // at the start of the file
	line    int    // the number of the line that was last read
	ahead   string // that line, where the next body begins with it
}

func (s *bodySource) columns() []table.Column { return nil }

// read is the next line with its end, "" at the end of the file.
func (s *bodySource) read() (string, error) {
	if line := s.ahead; line != "" {
		s.ahead = ""
		return line, nil
	}
	line, err := textline.Read(s.r, jsonl.MaxInput)
	switch {
	case errors.Is(err, textline.ErrTooLong):
		return "", errPiece
	case err != nil && err != io.EOF:
		return "", fmt.Errorf("after line %d: %w", s.line, err)
	case len(line) > 0:
		s.line++
	}
	return string(line), nil
}

func (s *bodySource) next() (Item, error) {
	it := Item{Form: s.options.Format}
	sentences := it.Form == settings.FormatCoNLL
	before, body, after := []byte(s.mark), []byte(nil), []byte(nil)
	s.mark = ""
	for {
		line, err := s.read()
		if err != nil {
			return Item{}, err
		}
		of := sentences && isToken(line) || !sentences && strings.TrimSpace(line) != ""
		if line == "" || of && body != nil && (after != nil || !sentences) {
			s.ahead = line
			break
		}
		switch {
		case of && body == nil:
			it.Line, body = s.line, []byte(line)
		case of:
			body = append(body, line...)
		case body == nil:
			before = append(before, line...)
		default:
			after = append(after, line...)
		}
		if len(before) > jsonl.MaxInput || len(body) > jsonl.MaxInput || len(after) > jsonl.MaxInput {
			return Item{}, errPiece
		}
	}
	if body == nil {
		return Item{}, io.EOF
	}
	text := textline.Trim(body)
	end := string(body[len(text):])
	if !sentences {
		it = s.options.Item(Line{Number: it.Line, Text: text})
		it.Form = s.options.Format
	}
	it.Source = &jsonl.Source{Before: string(before), Body: string(text), Between: "\n",
		After: end + string(after)}
	if end == "\r\n" {
		it.Source.Between = end
	}
	if sentences {
		it.Source.Between += it.Source.Between
		it.readTokens()
	}
	return it, nil
}

// isToken reports whether a line of columns has a token, and not a comment or the start of a
// document.
func isToken(line string) bool {
	return strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "-DOCSTART-") &&
		!strings.HasPrefix(line, "# ")
}

// readTokens makes the text of the tokens of a sentence.
func (it *Item) readTokens() {
	var tokens []string
	for i, line := range strings.Split(it.Source.Body, "\n") {
		cells := CellsOf(line)
		tokens = append(tokens, cells[0])
		whole := len(cells) >= 3 && cells[0] != "" && tag.MatchString(cells[len(cells)-1])
		if it.Err == nil && !whole {
			it.Err = &jsonl.Error{Line: it.Line + i, Kind: jsonl.ErrRow, Reason: fmt.Sprintf(
				"line %d is not a token and its tag, such as \"Ann B-PER\": %.60q", it.Line+i, line)}
		}
	}
	it.Text, it.Words = jsonl.Joined(tokens)
}

// CellsOf takes a row of columns apart: the cells, and what stands between them and behind the
// last. Tabs separate where there are any, else spaces do. Together they are the row.
func CellsOf(row string) (cells []string) {
	apart := " \r"
	if strings.Contains(row, "\t") {
		apart = "\t\r"
	}
	for row != "" {
		n := strings.IndexAny(row, apart)
		if n < 0 {
			n = len(row)
		}
		m := n + len(row[n:]) - len(strings.TrimLeft(row[n:], apart))
		if cells = append(cells, row[:n]); m > n && m < len(row) {
			cells = append(cells, row[n:m])
		} else if m > n {
			break // what is behind the last cell
		}
		row = row[m:]
	}
	return cells
}

// pairSource reads pairs of a text and its entities, as spaCy trains on: elements of an array, or
// one after the other.
type pairSource struct {
	read    *recorder
	decoder *json.Decoder
	mark    string
	array   bool
	number  int
}

// A recorder keeps what is read, from a place on.
type recorder struct {
	r    io.Reader
	buf  []byte
	from int64
}

func (r *recorder) Read(p []byte) (int, error) {
	if len(r.buf) > 4*jsonl.MaxInput {
		return 0, errPiece
	}
	n, err := r.r.Read(p)
	r.buf = append(r.buf, p[:n]...)
	return n, err
}

// take are the bytes up to a place, which are then forgotten.
func (r *recorder) take(to int64) string {
	out := string(r.buf[:to-r.from])
	r.buf, r.from = append([]byte(nil), r.buf[to-r.from:]...), to
	return out
}

func (s *pairSource) columns() []table.Column { return nil }

func (s *pairSource) next() (Item, error) {
	bad := func(err error) error {
		return &table.Error{Row: s.number + 1, Reason: fmt.Sprintf("the text and its entities: %v", err)}
	}
	if s.number == 0 {
		head, err := s.read.r.(*bufio.Reader).Peek(textline.PeekSize)
		if err != nil && err != io.EOF {
			return Item{}, err
		}
		inside, _ := bytes.CutPrefix(bytes.TrimSpace(head), []byte("["))
		if s.array = bytes.HasPrefix(bytes.TrimSpace(inside), []byte("[")); s.array {
			if _, err := s.decoder.Token(); err != nil {
				return Item{}, bad(err)
			}
		}
	}
	if !s.decoder.More() {
		return Item{}, io.EOF
	}
	var raw json.RawMessage
	if err := s.decoder.Decode(&raw); err != nil {
		return Item{}, bad(err)
	}
	s.number++
	end := s.decoder.InputOffset()
	src := &jsonl.Source{Between: "\n"}
	if s.array {
		src.Between = ",\n"
	}
	src.Before = s.mark + s.read.take(end-int64(len(raw)))
	s.mark = ""
	src.Body = s.read.take(end)
	if !s.decoder.More() { // the rest belongs to the last
		if _, err := io.Copy(io.Discard, s.read); err != nil {
			return Item{}, err
		}
		src.After = s.read.take(s.read.from + int64(len(s.read.buf)))
		if rest := strings.TrimSpace(src.After); rest != "" && (rest != "]" || !s.array) {
			return Item{}, bad(fmt.Errorf("%.40q follows the last", rest))
		}
	}
	it := Item{Line: s.number, Form: settings.FormatSpaCy, Source: src}
	var pair []json.RawMessage
	if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 {
		it.Err = &jsonl.Error{Line: s.number, Kind: jsonl.ErrJSON,
			Reason: `want a text and its entities: ["Ann slept.", {"entities": [[0, 3, "PER"]]}]`}
		return it, nil
	}
	it.Err = it.parseText(pair[0])
	return it, nil
}
