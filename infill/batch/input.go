package batch

import (
	"bytes"
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
	// text. Of anything else the first line that is not empty decides.
	FormatAuto  Format = iota
	FormatText         // lines of text
	FormatJSONL        // one JSON object a line
)

// An Input is an open file of records.
type Input struct {
	Name   string
	format Format
	file   io.Closer
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

// Open opens a file, or the stream stdin if path is "-". Gzip and zstd data,
// which their first bytes show, are decompressed.
func Open(path string, stdin io.Reader, format Format) (*Input, error) {
	in := &Input{Name: path, format: format, close: func() {}}
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
	}
	if err := in.decompress(src); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if format == FormatAuto {
		in.format = in.sniff(path)
	}
	return in, nil
}

// Lines reads an open stream as lines of text, which is never compressed. The
// name is for errors.
func Lines(name string, r io.Reader) *Input {
	in := &Input{Name: name, format: FormatText, close: func() {}}
	in.r = textline.NewReader(r, jsonl.MaxInput)
	return in
}

// JSONLines reads an open stream as JSON lines, which is never compressed. The name is for errors.
func JSONLines(name string, r io.Reader) *Input {
	in := Lines(name, r)
	in.format = FormatJSONL
	return in
}

// decompress begins to read, whether the bytes are compressed or not.
func (in *Input) decompress(r io.Reader) error {
	u, err := unpack.New(r)
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
	object := len(first) > 0 && first[0] == '{'
	if object && (json.Valid(first) || !whole && bytes.Contains(first, []byte(`"text"`))) {
		return FormatJSONL
	}
	return FormatText
}

// JSON reports whether the input is read as JSON lines.
func (in *Input) JSON() bool { return in.format == FormatJSONL }

// Empty reports whether no record is left. It reads up to the next one, which
// Next still returns.
func (in *Input) Empty() bool {
	if in.ahead == nil {
		it, err := in.next()
		in.ahead = &ahead{it, err}
	}
	return in.ahead.err == io.EOF
}

// Next returns the next record; io.EOF after the last. Lines of white space are
// passed over. Errors of one record are in Item.Err, others end the input.
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
		it := Item{Line: in.r.Number()}
		switch {
		case errors.Is(err, textline.ErrTooLong):
			it.Err = &jsonl.Error{Line: it.Line, Kind: jsonl.ErrLineTooLong,
				Reason: fmt.Sprintf("more than %d bytes", jsonl.MaxInput)}
		case err == io.EOF:
			return Item{}, err
		case err != nil:
			return Item{}, fmt.Errorf("%s: after line %d: %w", in.Name, it.Line, err)
		case isEmpty(b):
			continue
		case in.format == FormatJSONL:
			it.Err = it.parse(b)
		default:
			it.Text = string(b)
		}
		return it, nil
	}
}

// Close closes the file; a stream stays open.
func (in *Input) Close() error {
	in.close()
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}
