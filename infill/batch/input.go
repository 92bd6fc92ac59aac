package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"infill/infill/jsonl"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// Format says how the lines of an input are read.
type Format int

const (
	// FormatAuto goes by the name: .jsonl and .ndjson are JSON lines, .txt is
	// text; of anything else the first line that is not empty decides.
	FormatAuto  Format = iota
	FormatText         // lines of text
	FormatJSONL        // one JSON object a line
)

// An Item is a record of the input.
type Item struct {
	Line int             // number of its line, from 1
	ID   json.RawMessage // a JSON string or number; nil if the record has none
	// Text is the text of the line; of a JSON line without one, the line itself.
	Text   string
	Fields []jsonl.Field // members other than id and text, in order
	// Err is of type *jsonl.Error: this line cannot be read, the others can.
	Err error
	end int64 // bytes of the file read so far
}

// Key names a record among others of the same input: its id, or else the
// number of its line. It is what random streams are derived from.
func (it *Item) Key() string {
	if it.ID == nil {
		return fmt.Sprint(it.Line)
	}
	return "id\x00" + string(it.ID)
}

// An Input is an open file of records.
type Input struct {
	Name   string
	Size   int64 // bytes, −1 if not known
	format Format
	file   io.Closer
	raw    *counter
	r      *textline.Reader
	close  func()
	info   os.FileInfo // nil for a stream
	ahead  *ahead      // what Empty has read, nil if it has not
}

// ahead is a result of next that was not handed out yet.
type ahead struct {
	item Item
	err  error
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Open opens a file, or the stream stdin if path is "-".
func Open(path string, stdin io.Reader, format Format) (*Input, error) {
	in := &Input{Name: path, Size: -1, format: format, close: func() {}}
	src := stdin
	if path == "-" {
		in.Name = "standard input"
	}
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		in.file, src = f, f
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = fmt.Errorf("%s is a folder; name a file in it", path)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		in.info = info
		if info.Mode().IsRegular() {
			in.Size = info.Size()
		}
	}
	in.raw = &counter{r: src}
	if err := in.decompress(); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if format == FormatAuto {
		in.format = in.sniff(path)
	}
	return in, nil
}

// Lines reads an open stream as lines of text, which is never compressed; the
// name is for errors.
func Lines(name string, r io.Reader) *Input {
	in := &Input{Name: name, Size: -1, format: FormatText, close: func() {}, raw: &counter{r: r}}
	in.r = textline.NewReader(in.raw, jsonl.MaxInput)
	return in
}

// decompress begins to read, whether the bytes are compressed or not.
func (in *Input) decompress() error {
	u, err := unpack.New(in.raw)
	if err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	in.close = func() { _ = u.Close() }
	in.r = textline.NewReader(u, jsonl.MaxInput)
	return nil
}

// sniff decides between text and JSON lines.
func (in *Input) sniff(path string) Format {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(path), ".gz"), ".zst")
	switch filepath.Ext(name) {
	case ".jsonl", ".ndjson":
		return FormatJSONL
	case ".txt":
		return FormatText
	}
	b, _ := in.r.Peek(textline.PeekSize) // an error will come again when reading
	b = bytes.TrimLeft(b, " \t\r\n")
	first, _, whole := bytes.Cut(b, []byte("\n"))
	if len(first) > 0 && first[0] == '{' && (json.Valid(first) || !whole && bytes.Contains(first, []byte(`"text"`))) {
		return FormatJSONL
	}
	return FormatText
}

// JSON tells whether the input is read as JSON lines.
func (in *Input) JSON() bool { return in.format == FormatJSONL }

// Empty tells whether no record is left. It reads up to the next one, which
// Next still returns.
func (in *Input) Empty() bool {
	if in.ahead == nil {
		it, err := in.next()
		in.ahead = &ahead{it, err}
	}
	return in.ahead.err == io.EOF
}

// Next returns the next record; io.EOF after the last. Errors of one record
// are in Item.Err, others end the input.
func (in *Input) Next() (Item, error) {
	if a := in.ahead; a != nil {
		in.ahead = nil
		return a.item, a.err
	}
	return in.next()
}

func (in *Input) next() (Item, error) {
	for {
		b, err := in.r.Next()
		if errors.Is(err, textline.ErrTooLong) {
			err = &jsonl.Error{Line: in.r.Number(), Kind: jsonl.ErrLineTooLong,
				Reason: fmt.Sprintf("more than %d bytes", jsonl.MaxInput)}
		} else if err != nil {
			if err != io.EOF {
				err = fmt.Errorf("%s: after line %d: %w", in.Name, in.r.Number(), err)
			}
			return Item{}, err
		}
		it := Item{Line: in.r.Number(), Err: err, end: in.raw.n}
		switch {
		case err != nil:
		case len(b) == 0 || in.format == FormatJSONL && len(bytes.TrimSpace(b)) == 0:
			continue
		case in.format == FormatJSONL:
			it.Err = it.parse(b)
		default:
			it.Text = string(b)
		}
		return it, nil
	}
}

// parse reads a JSON line.
func (it *Item) parse(b []byte) (err error) {
	var in jsonl.Input
	in, err = jsonl.Decoder{}.Input(it.Line, b)
	it.ID, it.Text, it.Fields = in.ID, in.Text, in.Fields
	if err != nil && it.Text == "" {
		it.Text = string(b)
	}
	return err
}

// Fingerprint is the SHA-256 of the file's bytes as they are on disk, in hex,
// and their number; "" and −1 for a stream.
func (in *Input) Fingerprint() (string, int64, error) {
	if in.info == nil || !in.info.Mode().IsRegular() {
		return "", -1, nil
	}
	f, err := os.Open(in.Name)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", 0, fmt.Errorf("%s: %w", in.Name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), n, nil
}

// Close closes the file; a stream stays open.
func (in *Input) Close() error {
	in.close()
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}
