package output

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"infill/infill/batch/input"
	"infill/infill/jsonl"
	"infill/internal/disk"
	"infill/internal/textline"
	"infill/internal/unpack"
)

// openWhole looks at what there is of an output that is made at its end. exists says that the
// output is there. done says that an earlier run has completed it.
func (o *Writer) openWhole(m *Manifest, in *input.Reader, mode Mode, exists bool) (done bool,
	err error) {
	part, err := standingAt(o.file, in, mode)
	switch {
	case err != nil:
	case part == device:
		err = fmt.Errorf("%w: %s, where records wait for the end, is not a regular file; move it away, "+
			"or name another output", ErrLayout, o.file)
	case exists && mode == Force:
		// First the output goes, then its manifest: rows never stand beside the manifest of another run.
		if err = placeOfManifest(o.Path, in, mode); err == nil {
			err = os.Remove(o.Path)
		}
		if err == nil {
			err = disk.SyncDir(filepath.Dir(o.Path))
		}
	case exists:
		return o.resumeWhole(m, part == regular)
	}
	return false, err
}

// resumeWhole is openWhole for an output that is there. part says that records wait.
func (o *Writer) resumeWhole(m *Manifest, part bool) (done bool, err error) {
	was, err := ReadManifest(o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, o.check(false)
	}
	if err != nil {
		return false, err
	}
	finished := was.Finished
	more := finished != nil && o.layout.form() == asRecords && o.layout.Encoding == "" &&
		was.extends(m)
	if more { // the records are all there, and others follow them
		was.Finished = nil
	}
	switch d := was.differences(m); {
	case len(d) > 0:
		return false, &MismatchError{Differences: d}
	case finished == nil && part: // stopped between the rows and the manifest
		return false, nil
	case finished == nil:
		return false, &ManifestError{manifestPath(o.Path), fmt.Sprintf(
			"does not say that %s is finished, and its part %s is missing; start again, or name another "+
				"output", o.Path, o.file), true}
	}
	if err := o.unchanged(finished); err != nil {
		return false, err
	}
	if more {
		return false, errors.Join(o.unpack(), was.write(o.Path))
	}
	o.complete = finished
	return true, o.removePart()
}

// unpack makes the journal again that a compressed output was made from.
func (o *Writer) unpack() error {
	r, err := unpack.Open(o.Path)
	if err != nil {
		return err
	}
	return errors.Join(disk.WriteFunc(o.file, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}), r.Close())
}

// removePart takes the records away that rows were made from.
func (o *Writer) removePart() error {
	if err := os.Remove(o.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.SyncDir(filepath.Dir(o.file))
}

// makeWhole makes the output from its records, whole or not at all.
func (o *Writer) makeWhole(ctx context.Context, in *input.Reader, records, failed int) error {
	var rows *rowStream
	if o.layout.form() == asRows {
		var err error
		rows, err = o.wholeRows(ctx, in)
		if rows.stored != nil {
			defer func() { _ = rows.stored.Close() }() // only read
		}
		if err != nil {
			return err
		}
	}
	err := disk.WriteFunc(o.Path, func(f io.Writer) error {
		buffered := bufio.NewWriter(f)
		w, err := packing(o.Path, buffered, o.layout.form() == asRecords)
		if err != nil {
			return err
		}
		to, err := o.streamTo(o.encoded(w), in, rows)
		if err != nil {
			return errors.Join(err, w.Close())
		}
		err = o.eachLine(ctx, func(_ int, line []byte) error { return to.put(line) })
		return errors.Join(err, to.end(), w.Close(), buffered.Flush())
	})
	if err != nil {
		return err
	}
	o.manifest.Written, o.manifest.Finished = nil, &Finished{Records: records, Failed: failed}
	if err := o.manifest.Finished.measure(o.Path, nil); err != nil {
		return err
	}
	if err := o.manifest.write(o.Path); err != nil {
		return err
	}
	return o.removePart()
}

// movedColumns finds the columns that variants have others in than their texts.
func (o *Writer) movedColumns(ctx context.Context, m *rowMaker) error {
	m.moved = map[string]bool{}
	if m.layout.Kind != Variants {
		return nil
	}
	return o.eachRecord(ctx, func(r jsonl.Record) error {
		for _, f := range fillingsOf(r) {
			if f.Moved == nil {
				continue
			}
			fields, err := jsonl.Decoder{}.Object(r.Of().Line, f.Moved)
			if err != nil {
				return err
			}
			for _, f := range fields {
				m.moved[f.Name] = true
			}
		}
		return nil
	})
}

// inferColumns finds the columns of JSON lines in their records.
func (o *Writer) inferColumns(ctx context.Context, m *rowMaker) error {
	var found inferrer
	err := o.eachRecord(ctx, func(r jsonl.Record) error {
		for _, f := range m.inputFields(r) {
			for _, cell := range m.cellsOf(f.Value) {
				if !found.add(jsonl.Field{Name: f.Name, Value: cell}) {
					return fmt.Errorf("%w: line %d: the input has more than %d different fields, too many "+
						"for columns; write JSON lines, a record for each sentence", ErrLayout, r.Of().Line,
						maxFields)
				}
			}
		}
		return nil
	})
	for _, n := range found.names {
		m.add(n, found.typeOf(n))
	}
	return err
}

// eachRecord calls do with each record that was written.
func (o *Writer) eachRecord(ctx context.Context, do func(jsonl.Record) error) error {
	return o.eachLine(ctx, func(n int, line []byte) error {
		rec, err := recordOf(n, line)
		if err != nil {
			return fmt.Errorf("%s: %w", o.file, err)
		}
		return do(rec)
	})
}

// eachLine calls do with the line of each record that was written, and its number.
func (o *Writer) eachLine(ctx context.Context, do func(n int, line []byte) error) error {
	f, err := os.Open(o.file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		line, err := textline.Read(r, maxRecord)
		if err == io.EOF {
			return nil
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		if err := do(n, line); err != nil {
			return err
		}
	}
}

// unchanged compares rows that are finished with what their manifest says of them. Older manifests
// say nothing.
func (o *Writer) unchanged(was *Finished) error {
	if was.SHA256 == "" {
		return nil
	}
	var is Finished
	if err := is.measure(o.Path, nil); err != nil {
		return err
	}
	if is.Bytes == was.Bytes && is.SHA256 == was.SHA256 {
		return nil
	}
	return &ManifestError{manifestPath(o.Path), fmt.Sprintf("says that %s was finished with %d "+
		"bytes, sha256 %s, and it has %d now, sha256 %s; its records are gone, so start again, or name "+
		"another output", o.Path, was.Bytes, short(was.SHA256), is.Bytes, short(is.SHA256)), true}
}
