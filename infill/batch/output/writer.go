package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"infill/infill/batch/input"
	"infill/infill/settings"
	"infill/internal/disk"
)

// Mode says what to do with an output that exists.
type Mode int

const (
	Create Mode = iota // it is an error, ErrExists
	Resume             // go on with it; begin it if it is not there
	Force              // overwrite it
)

// A Writer is where records go: a stream, a device, or a file that can be resumed.
type Writer struct {
	Path    string
	Dropped int64 // bytes of torn or damaged records that were cut off on resuming

	layout   Layout
	sink     sink        // of the records; nil if they are complete
	records  *journal    // the file of them, nil for a stream and a device
	file     string      // its path: Path, or its part
	manifest *Manifest   // nil for a stream and a device
	complete *Finished   // an earlier run has made the rows; nil if not
	renamed  [][2]string // of JSON, see Renamed
	encoder  *encoder    // nil for UTF-8
}

// Stream is an output that cannot be resumed, such as standard output. It takes JSON
// lines, a record for each sentence.
func Stream(w io.Writer) *Writer {
	o, _ := Layout{}.Stream(w, nil) // records need no input
	return o
}

const standardOutput = "standard output"

// Stream is an output of this form that cannot be resumed, for the records of an
// input. The error wraps [ErrLayout] for a form that needs a file.
func (l Layout) Stream(w io.Writer, in *input.Reader) (*Writer, error) {
	l, err := l.Found("")
	if err != nil {
		return nil, err
	}
	o := &Writer{layout: l}
	o.sink, err = o.streamTo(o.encoded(w), in, nil)
	return o, err
}

// errNoInput is returned for an input that is not open.
var errNoInput = errors.New("the records are of no input; open one with input.Open")

// Open opens the file that an input's records go to, with its manifest. It never
// touches the input. With Force it replaces the output and its manifest, without it
// nothing that was there before. A Format of 0 becomes manifestFormat.
//
// Errors: ErrManifest, those of an input that is not open, ErrMismatch, ErrExists, ErrIsInput,
// errLocked, ErrShard, or those of the file system.
func (m *Manifest) Open(path string, in *input.Reader, mode Mode, l Layout) (*Writer, error) {
	switch {
	case m == nil:
		return nil, fmt.Errorf("%w: it is nil; say what decides the records", ErrManifest)
	case m.Format != 0 && m.Format != manifestFormat:
		return nil, fmt.Errorf("%w: its format is %d; leave it out", ErrManifest, m.Format)
	case in == nil || in.Format() == settings.FormatAuto:
		return nil, errNoInput
	}
	m.Format, m.Written = manifestFormat, newSumming().sum()
	l, err := l.Found(path)
	if err != nil {
		return nil, err
	}
	if (l.form() != asRecords || l.Encoding != "") && !in.Options().Shard.Whole() {
		return nil, errRowsOfShard
	}
	stands, err := standingAt(path, in, mode)
	if err != nil {
		return nil, err
	}
	o := &Writer{Path: path, file: path, layout: l}
	if stands == device {
		return o, o.openDevice(in)
	}
	o.manifest = m
	if l.Whole() {
		o.file = partPath(path)
	}
	o.records = newJournal(o.file, o.note)
	exists := stands == regular
	if l.Whole() {
		done, err := o.openWhole(m, in, mode, exists)
		if done || err != nil {
			return o, err
		}
		_, err = os.Stat(o.file)
		exists = err == nil
	}
	if err := placeOfManifest(path, in, mode); err != nil {
		return nil, err
	}
	if err := o.openRecords(mode, exists); err != nil {
		return nil, errors.Join(err, o.records.close())
	}
	o.sink = o.records
	return o, nil
}

// note keeps the sum of the records on disk.
func (o *Writer) note(s *Sum) error {
	o.manifest.Written = s
	return o.manifest.write(o.Path)
}

// A standing is what stands at a path.
type standing int

const (
	nothing standing = iota
	regular          // a file
	device           // or a pipe, which has nothing to resume or to overwrite
)

// standingAt says what an output would take the place of, or why it may not.
func standingAt(path string, in *input.Reader, mode Mode) (standing, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nothing, err
	case err != nil && isLink(path):
		return nothing, &ExistsError{Path: path, Link: true}
	case err != nil:
		return nothing, nil
	case info.IsDir():
		return nothing, fmt.Errorf("%s is a folder; name a file in it", path)
	case in.IsFile(info):
		return nothing, fmt.Errorf("%w: %s; name another", ErrIsInput, path)
	case !info.Mode().IsRegular():
		return device, nil
	case mode == Create:
		return nothing, &ExistsError{Path: path}
	}
	return regular, nil
}

// openDevice opens a device or a pipe.
func (o *Writer) openDevice(in *input.Reader) error {
	f, err := os.OpenFile(o.Path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := io.WriteCloser(unpacked{f})
	if o.layout.form() == asRecords {
		w, err = packing(o.Path, f, true)
	}
	if err == nil {
		var to *stream
		if to, err = o.streamTo(o.encoded(w), in, nil); err == nil {
			end := to.end
			to.end, to.file = func() error { return errors.Join(end(), w.Close()) }, f
			o.sink = to
			return nil
		}
	}
	return errors.Join(err, f.Close())
}

// openRecords opens the file of records, and writes or compares its manifest. The manifest goes
// first: nobody knows what made an output without one.
func (o *Writer) openRecords(mode Mode, exists bool) error {
	var err error
	switch {
	case exists:
	case mode == Resume:
		err = o.check(true)
	default:
		err = o.manifest.write(o.Path)
	}
	if err == nil {
		err = o.records.open(!exists)
	}
	if err != nil {
		return err
	}
	switch {
	case !exists:
		return disk.SyncDir(filepath.Dir(o.Path))
	case mode == Force:
		// Emptied before the manifest changes: records never stand beside the manifest of another run.
		if err := o.records.f.Truncate(0); err != nil {
			return err
		}
		if err := o.records.f.Sync(); err != nil {
			return err
		}
		return o.manifest.write(o.Path)
	}
	info, err := o.records.f.Stat()
	if err != nil {
		return err
	}
	o.records.resumed = info.Size() > 0
	return o.check(info.Size() == 0)
}

// File is the file that records are written to: Path, or the part that its rows are
// made from at the end.
func (o *Writer) File() string {
	if o.Path == "" {
		return standardOutput
	}
	return o.file
}

// Resumable reports whether a run that ends early can go on with this output.
func (o *Writer) Resumable() bool { return o.records != nil && o.records.f != nil }

// Renamed are the columns of an input that have another name in the rows of the output,
// because infill has columns of their names. They are in pairs, the old name first. The fields of
// JSON lines are known when a job has run.
func (o *Writer) Renamed(in *input.Reader) [][2]string {
	if o.layout.form() != asRows {
		return nil
	}
	if !in.Format().JSON() {
		m := o.layout.newRowMaker(in.Options())
		m.addAll(in, false)
		return m.renamed()
	}
	return o.renamed
}

// Ready reports whether something opened the writer.
func (o *Writer) Ready() bool { return o.sink != nil || o.complete != nil }

// Complete says what an output has that an earlier run has completed; ok is false for others.
// Nothing can be written to it.
func (o *Writer) Complete() (records, failed int, ok bool) {
	if o.complete == nil {
		return 0, 0, false
	}
	return o.complete.Records, o.complete.Failed, true
}

// Rows reports whether rows are made of the records.
func (o *Writer) Rows() bool { return o.layout.form() == asRows }

// Write writes a record: one JSON object on one line, without its end, with the line and the id of
// its item. Others are refused, because a run that goes on could not read them.
func (o *Writer) Write(record []byte, it *input.Item) error {
	if err := fits(record, it); err != nil {
		return fmt.Errorf("line %d: %w", it.Line, err)
	}
	// The bytes behind those of the record may be the caller's.
	return o.sink.write(append(slices.Clip(record), '\n'))
}

// Close ends the output. If all records were written, what waits is written too. Otherwise it is
// left for the run that goes on.
func (o *Writer) Close(complete bool) error { return o.sink.finish(complete) }

// Conclude makes what a file has when its records are complete: rows, or what the manifest of a
// shard says of it. The output is closed.
func (o *Writer) Conclude(ctx context.Context, in *input.Reader, records, failed int) error {
	switch {
	case o.manifest == nil:
	case o.layout.Whole():
		return o.makeWhole(ctx, in, records, failed)
	case !o.manifest.Shard.Whole():
		o.manifest.Finished = &Finished{Records: records, Failed: failed, Bytes: o.manifest.Written.Bytes,
			SHA256: o.manifest.Written.SHA256}
		o.manifest.Written = nil
		return o.manifest.write(o.Path)
	}
	return nil
}
