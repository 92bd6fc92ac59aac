package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"infill/infill/jsonl"
)

// head is what a record must say of itself.
type head struct {
	line   int
	id     json.RawMessage
	failed bool
	text   string // that it was made of, as "text" or, where words were masked, as "gold"
	gold   string
	whole  []byte // the record
}

// of says whether a record can be that of an item's text. One without a text may be of any, and
// what cannot be read has another text in its record.
func (h *head) of(it *Item) bool {
	return h.text == "" && h.gold == "" || h.text == it.Text || h.gold == it.Text ||
		it.Err != nil || !utf8.ValidString(it.Text)
}

// recover reads the output up to its last whole record and cuts off the rest. It
// compares each record with the item of the input that it belongs to. It returns
// the number of records and how many of them are errors. known, if not nil, sees each of them.
// texts has the texts compared, too.
func (o *Output) recover(in *Input, texts bool, known func(*Item, *jsonl.Record) error) (done,
	failed int, err error) {
	if !o.resumed {
		return 0, 0, nil
	}
	r := newFrameReader(o.frames, io.NewSectionReader(o.f, 0, 1<<62))
	var size int64
	empty := false
	if info, err := o.f.Stat(); err == nil {
		size = info.Size()
	}
	if first, _ := r.buf.Peek(1); o.frames.records() > 1 && string(first) == "{" {
		// To take them for a torn frame would cut them all off.
		return 0, 0, fmt.Errorf("%w: %s has records that are not compressed, which its name says they "+
			"are; start again, or name another output", ErrMismatch, o.file)
	}
scan:
	for {
		records, n, err := r.next()
		switch {
		case err == io.EOF || errors.Is(err, errTorn):
			break scan
		case err != nil:
			return 0, 0, fmt.Errorf("%s: %w", o.file, err)
		}
		if len(records) == 0 && n == size {
			empty = true // a finished output without records; its frame is made again
			break
		}
		heads, ok := parseHeads(records)
		if !ok || o.extended && len(heads) < o.frames.records() {
			break // the last frame of a run with a smaller limit is made again
		}
		// A frame that is not full is the last one of a finished run.
		for _, h := range heads {
			it, err := in.Next()
			if err == io.EOF {
				return 0, 0, fmt.Errorf("%w: %s has more records than the input, the first of line %d",
					ErrMismatch, o.file, h.line)
			}
			if err != nil {
				return 0, 0, err
			}
			if it.Line != h.line || !bytes.Equal(compact(it.ID), compact(h.id)) {
				return 0, 0, fmt.Errorf("%w: record %d of %s is of line %d (id %s), "+
					"the input has line %d (id %s)",
					ErrMismatch, done+1, o.file, h.line, orNone(h.id), it.Line, orNone(it.ID))
			}
			if texts && !h.of(&it) {
				return 0, 0, fmt.Errorf("%w: record %d of %s is not of the text that line %d of the "+
					"input has", ErrMismatch, done+1, o.file, it.Line)
			}
			if known != nil {
				rec, err := recordOf(h.line, h.whole)
				if err == nil {
					err = known(&it, rec)
				}
				if err != nil {
					return 0, 0, fmt.Errorf("%s: record %d: %w", o.file, done+1, err)
				}
			}
			done++
			if h.failed {
				failed++
			}
		}
		o.offset += n
		if len(heads) < o.frames.records() {
			break
		}
	}
	o.Dropped = size - o.offset
	if o.Dropped > 0 {
		if err := o.f.Truncate(o.offset); err != nil {
			return 0, 0, err
		}
	}
	if empty {
		o.Dropped = 0 // nothing of a record
	}
	if o.hash != nil {
		if _, err := io.Copy(o.hash, io.NewSectionReader(o.f, 0, o.offset)); err != nil {
			return 0, 0, err
		}
	}
	_, err = o.f.Seek(o.offset, io.SeekStart)
	return done, failed, err
}

// parseHeads reads the records of a frame; false if one of them is not whole.
func parseHeads(records []byte) ([]head, bool) {
	var out []head
	for len(records) > 0 {
		line, rest, ended := bytes.Cut(records, []byte("\n"))
		h, ok := parseHead(line)
		h.whole = line
		if !ended || !ok {
			return nil, false
		}
		out = append(out, h)
		records = rest
	}
	return out, len(out) > 0
}

// parseHead reads one record; false if it is not whole or has no line.
func parseHead(line []byte) (h head, ok bool) {
	fields, err := jsonl.Decoder{Limits: jsonl.Limits{Bytes: maxFrame}}.Object(0, line)
	if err != nil {
		return h, false
	}
	for _, f := range fields {
		switch f.Name {
		case "line":
			if json.Unmarshal(f.Value, &h.line) != nil {
				return h, false
			}
		case "id":
			h.id = f.Value
		case "text":
			_ = json.Unmarshal(f.Value, &h.text) // it may be of another kind
		case "gold":
			_ = json.Unmarshal(f.Value, &h.gold)
		case "error":
			h.failed = string(f.Value) != "null"
		}
	}
	return h, h.line >= 1
}

// compact is a JSON value without white space.
func compact(v json.RawMessage) []byte {
	if v == nil {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return v
	}
	return b.Bytes()
}

// orNone is a value in words.
func orNone[T ~string | ~[]byte](v T) string {
	if len(v) == 0 {
		return "none"
	}
	return string(v)
}
