package output

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/internal/textline"
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
func (h *head) of(it *input.Item) bool {
	return h.text == "" && h.gold == "" || h.text == it.Text || h.gold == it.Text ||
		it.Err != nil || !utf8.ValidString(it.Text)
}

// A recovery reads the records that an earlier run has left in a file, up to the last whole one. It
// compares each with the item of the input that it belongs to.
type recovery struct {
	file  *journal
	in    *input.Reader
	texts bool                                  // the texts are compared, too
	known func(*input.Item, jsonl.Record) error // sees each record; nil for nobody

	done, failed int   // records, and those of them that are errors
	size         int64 // of the file, before the rest is cut off
}

// Recover reads what there is of an output, cuts off what is not whole, and leaves the output ready
// for the next record. It reads the items of those records. known, if not nil, sees each record
// with its item. texts says that the texts are compared too. The error wraps [ErrMismatch] for
// records of other items.
func (o *Writer) Recover(in *input.Reader, texts bool,
	known func(*input.Item, jsonl.Record) error) (done, failed int, err error) {
	if o.records == nil || !o.records.resumed {
		return 0, 0, nil
	}
	info, err := o.records.f.Stat()
	if err != nil {
		return 0, 0, err
	}
	r := &recovery{file: o.records, in: in, texts: texts, known: known, size: info.Size()}
	err = r.lines()
	if err == nil {
		err = r.sound(manifestPath(o.Path))
	}
	if err != nil {
		o.records.note = func(*Sum) error { return nil } // what is there stays as it is
		return 0, 0, err
	}
	f, end := o.records.f, o.records.whole.bytes
	if r.size > end { // what is behind the records that were read
		if err := f.Truncate(end); err != nil {
			return 0, 0, err
		}
		o.Dropped = r.size - end
	}
	_, err = f.Seek(end, io.SeekStart)
	return r.done, r.failed, err
}

// lines reads the whole records that the run can go on behind.
func (r *recovery) lines() error {
	o := r.file
	end := r.size
	if o.was != nil {
		end = min(end, o.was.Bytes) // what is behind it nobody can vouch for
	}
	in := bufio.NewReaderSize(io.NewSectionReader(o.f, 0, end), 1<<16)
	for {
		line, err := textline.Read(in, maxRecord)
		switch {
		case err == io.EOF || errors.Is(err, textline.ErrTooLong):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", o.name, err)
		}
		record, ended := bytes.CutSuffix(line, []byte("\n"))
		h, ok := parseHead(record)
		if !ended || !ok {
			return nil
		}
		h.whole = record
		if err := r.record(&h); err != nil {
			return err
		}
		_, _ = o.whole.Write(line) // a hash takes all
	}
}

// sound compares the bytes of the earlier run with their sum. A record with a changed bit may still
// be one of its line. A file that is shorter was cut off, and its whole records are taken.
func (r *recovery) sound(manifest string) error {
	was := r.file.was
	if was == nil || r.size < was.Bytes {
		return nil
	}
	all := newSumming()
	if _, err := io.Copy(all, io.NewSectionReader(r.file.f, 0, was.Bytes)); err != nil {
		return err
	}
	is := all.sum()
	if is.SHA256 == was.SHA256 {
		return nil
	}
	after := ""
	if r.file.whole.bytes < was.Bytes {
		after = fmt.Sprintf(" (unreadable from byte %d on)", r.file.whole.bytes+1)
	}
	return &ManifestError{manifest, fmt.Sprintf("says that the first %d bytes of %s have the sha256 "+
		"%s, and now it is %s%s: the file was damaged or changed; copy it again, start again, or "+
		"name another output", was.Bytes, r.file.name, short(was.SHA256), short(is.SHA256), after), true}
}

// record compares a record with the next item of the input, and counts it.
func (r *recovery) record(h *head) error {
	it, err := r.in.Next()
	if err == io.EOF {
		return fmt.Errorf("%w: %s has more records than the input, the first of line %d",
			ErrMismatch, r.file.name, h.line)
	}
	if err != nil {
		return err
	}
	if err := r.matches(h, &it); err != nil {
		return err
	}
	if r.known != nil {
		rec, err := recordOf(h.line, h.whole)
		if err == nil {
			err = r.known(&it, rec)
		}
		if err != nil {
			return fmt.Errorf("%s: record %d: %w", r.file.name, r.done+1, err)
		}
	}
	r.done++
	if h.failed {
		r.failed++
	}
	return nil
}

// matches is an error if a record is not that of an item.
func (r *recovery) matches(h *head, it *input.Item) error {
	switch {
	case it.Line != h.line || !bytes.Equal(compact(it.ID), compact(h.id)):
		return fmt.Errorf("%w: record %d of %s is of line %d (id %s), the input has line %d (id %s)",
			ErrMismatch, r.done+1, r.file.name, h.line, orNone(h.id), it.Line, orNone(it.ID))
	case r.texts && !h.of(it):
		return fmt.Errorf("%w: record %d of %s is not of the text that line %d of the input has",
			ErrMismatch, r.done+1, r.file.name, it.Line)
	}
	return nil
}

// parseHead reads one record; false if it is not whole or has no line.
func parseHead(line []byte) (h head, ok bool) {
	fields, err := jsonl.Decoder{Bytes: maxRecord}.Object(0, line)
	if err != nil {
		return h, false
	}
	textField := "text"
	for _, f := range fields {
		if f.Name == "text_field" {
			_ = json.Unmarshal(f.Value, &textField)
		}
	}
	for _, f := range fields {
		switch f.Name {
		case "line":
			if json.Unmarshal(f.Value, &h.line) != nil {
				return h, false
			}
		case "id":
			h.id = f.Value
		case textField:
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

// fits refuses a record that a later run would take for a torn one, or for that of another item.
func fits(record []byte, it *input.Item) error {
	h, ok := parseHead(record)
	switch {
	case !ok || bytes.IndexByte(record, '\n') >= 0:
		return fmt.Errorf("%w, %.40q: want one JSON object on one line, with the item's line and id",
			errRecord, record)
	case h.line != it.Line || !bytes.Equal(compact(h.id), compact(it.ID)):
		return fmt.Errorf("%w: it is of line %d (id %s), the item of line %d (id %s)", errRecord, h.line,
			orNone(h.id), it.Line, orNone(it.ID))
	}
	return nil
}

// errRecord is returned for a record that could not be told from damage when the run is resumed.
var errRecord = errors.New("not the record of its item")
