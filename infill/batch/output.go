package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

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

// An Output is where records go.
type Output struct {
	Path    string
	Dropped int64 // bytes of torn or damaged records that were cut off on resuming

	layout   Layout
	file     string    // that records are written to: Path, or its part
	manifest *Manifest // nil for a stream
	extended bool      // an earlier run had a smaller limit
	complete *Finished // an earlier run has made the rows; nil if not
	stream   *rowStream
	renamed  [][2]string // of JSON lines, see Renamed

	w       io.Writer
	f       *os.File // nil for a stream
	regular bool     // a file that can be resumed
	frames  framing
	offset  int64  // end of the last whole frame in the file
	pending []byte // records that wait for their frame to be full
	waiting int    // their number
	synced  time.Time
	sync    func() error     // of f
	now     func() time.Time // the clock that says when to
	resumed bool
	hash    hash.Hash // of the bytes of the file, for the manifest of a shard; else nil
}

// Stream is an output that cannot be resumed, such as standard output. It takes JSON
// lines, a record for each sentence.
func Stream(w io.Writer) *Output { return &Output{w: w, frames: plainFrames{}} }

// Stream is an output of this form that cannot be resumed, for the records of an
// input. The error wraps [ErrLayout] for a form that needs a file.
func (l Layout) Stream(w io.Writer, in *Input) (*Output, error) {
	return newStream(Stream(w), in, l)
}

func newStream(o *Output, in *Input, l Layout) (*Output, error) {
	l, err := l.Found(o.Path)
	if err != nil {
		return nil, err
	}
	if o.layout = l; !l.Rows() {
		return o, nil
	}
	if !in.options.Shard.Whole() {
		return nil, errRowsOfShard
	}
	o.stream, err = newRowStream(o.w, in, l)
	return o, err
}

// PartPath is where the records of an output that has rows wait for the last of them.
func PartPath(output string) string { return output + ".part" }

// Open opens the file that an input's records go to, with its manifest. It never
// touches the input. With Force it replaces the output and its manifest, without it
// nothing that was there before. A Format of 0 becomes ManifestFormat.
//
// Errors: ErrManifest, ErrJob for an input that is not open, ErrMismatch, ErrExists, ErrIsInput,
// ErrLocked, ErrShard, or those of the file system.
func (m *Manifest) Open(path string, in *Input, mode Mode, l Layout) (*Output, error) {
	switch {
	case m == nil:
		return nil, fmt.Errorf("%w: it is nil; say what decides the records", ErrManifest)
	case m.Format != 0 && m.Format != ManifestFormat:
		return nil, fmt.Errorf("%w: its format is %d; leave it out", ErrManifest, m.Format)
	case in == nil || in.src == nil:
		return nil, errNoInput
	}
	m.Format = ManifestFormat
	l, err := l.Found(path)
	if err != nil {
		return nil, err
	}
	o := &Output{Path: path, file: path, layout: l, regular: true, synced: time.Now(), now: time.Now}
	switch {
	case l.Rows() && !in.options.Shard.Whole():
		return nil, errRowsOfShard
	case l.Rows():
		o.file = PartPath(path)
	case !in.options.Shard.Whole():
		o.hash = sha256.New()
	}
	if o.frames, err = framingOf(o.file); err != nil {
		return nil, err
	}
	o.sync = func() error { return o.f.Sync() }
	info, err := os.Stat(path)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !exists && isLink(path):
		return nil, &ExistsError{Path: path, Link: true}
	case exists && info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file in it", path)
	case exists && in.info != nil && os.SameFile(info, in.info):
		return nil, fmt.Errorf("%w: %s; name another", ErrIsInput, path)
	case exists && !info.Mode().IsRegular():
		// A pipe or a device has nothing to resume or to overwrite.
		o.regular = false
		if o.f, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
			return nil, err
		}
		o.w = o.f
		if _, err := newStream(o, in, l); err != nil {
			return nil, errors.Join(err, o.f.Close())
		}
		return o, nil
	case exists && mode == Create:
		return nil, &ExistsError{Path: path}
	}
	o.manifest = m
	if l.Rows() {
		done, err := o.openRows(m, in, mode, exists)
		if done || err != nil {
			return o, err
		}
		_, err = os.Stat(o.file)
		exists = err == nil
	}
	if err := placeOfManifest(path, in, mode); err != nil {
		return nil, err
	}
	if err := o.open(m, mode, exists); err != nil {
		if o.f != nil {
			err = errors.Join(err, o.f.Close())
		}
		return nil, err
	}
	return o, nil
}

func (o *Output) open(m *Manifest, mode Mode, exists bool) error {
	var err error
	if !exists {
		// The manifest goes first: nobody knows what made an output without one.
		if mode == Resume {
			err = o.check(true)
		} else {
			err = m.write(o.Path)
		}
		if err != nil {
			return err
		}
		if o.f, err = os.OpenFile(o.file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
			return err
		}
	} else if o.f, err = os.OpenFile(o.file, os.O_RDWR, 0); err != nil {
		return err
	}
	o.w = o.f
	// Some file systems have no locks. The output is written all the same.
	if ok, err := disk.TryLock(o.f); !ok && err == nil {
		return fmt.Errorf("%w: another process writes %s", ErrLocked, o.file)
	}
	switch {
	case !exists:
		return disk.SyncDir(filepath.Dir(o.Path))
	case mode == Force:
		// Emptied before the manifest changes: records never stand beside
		// the manifest of another run.
		if err := o.f.Truncate(0); err != nil {
			return err
		}
		if err := o.f.Sync(); err != nil {
			return err
		}
		return m.write(o.Path)
	}
	info, err := o.f.Stat()
	if err != nil {
		return err
	}
	o.resumed = info.Size() > 0
	return o.check(info.Size() == 0)
}

// syncEvery is the time between two syncs of a file to the disk. The first record
// after it is synced, and the last one.
const syncEvery = 2 * time.Second

// write appends a record, which ends in a newline.
func (o *Output) write(record []byte) error {
	if o.stream != nil {
		return o.stream.write(record)
	}
	if o.frames.records() > 1 {
		o.pending = append(o.pending, record...)
		o.waiting++
		if o.waiting < o.frames.records() {
			return nil
		}
		return o.flush()
	}
	return o.append(record)
}

func (o *Output) flush() error {
	if o.waiting == 0 {
		return nil
	}
	return o.frame()
}

// frame writes a frame of the records that wait.
func (o *Output) frame() error {
	b, err := o.frames.encode(o.pending)
	if err != nil {
		return err
	}
	o.pending, o.waiting = o.pending[:0], 0
	return o.append(b)
}

// append writes whole frames. What a failed write left behind is taken away, as far
// as the disk lets it.
func (o *Output) append(b []byte) error {
	n, err := o.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if o.regular && o.f != nil {
			_ = o.f.Truncate(o.offset)
		}
		return fmt.Errorf("writing %s: %w", o.File(), err)
	}
	o.offset += int64(n)
	if o.hash != nil {
		o.hash.Write(b)
	}
	if o.regular && o.f != nil && o.now().Sub(o.synced) >= syncEvery {
		o.synced = o.now()
		if err := o.sync(); err != nil {
			return fmt.Errorf("syncing %s: %w", o.file, err)
		}
	}
	return nil
}

// File is the file that records are written to: Path, or the part that its rows are
// made from at the end.
func (o *Output) File() string {
	if o.Path == "" {
		return "standard output"
	}
	return o.file
}

// Resumable reports whether a run that ends early can go on with this output.
func (o *Output) Resumable() bool { return o.regular && o.f != nil }

// Renamed are the columns of an input that have another name in the rows of the output,
// because infill has columns of their names. They are in pairs, the old name first. The fields of
// JSON lines are known when a job has run.
func (o *Output) Renamed(in *Input) [][2]string {
	if !o.layout.Rows() {
		return nil
	}
	if in.Format() == settings.FormatJSONL {
		if o.stream != nil {
			return o.stream.renamed
		}
		return o.renamed
	}
	m := o.layout.newRowMaker(in.options)
	m.addAll(in, false)
	return m.renamed()
}

// finishShard says in the manifest what the file of a shard holds.
func (o *Output) finishShard(p Progress) error {
	o.manifest.Finished = &Finished{Records: p.Records, Failed: p.Failed, Bytes: o.offset,
		SHA256: hex.EncodeToString(o.hash.Sum(nil))}
	return o.manifest.write(o.Path)
}

// finish ends the output: with complete set the last frame is written too, else
// it is left for the run that goes on.
func (o *Output) finish(complete bool) error {
	var err error
	if complete {
		err = o.flush()
	}
	if complete && err == nil && o.offset == 0 && o.frames.records() > 1 {
		err = o.frame() // a file of no bytes is not a compressed one
	}
	if complete && o.stream != nil {
		err = errors.Join(err, o.stream.close())
	}
	if o.f == nil {
		return err
	}
	if o.regular {
		if serr := o.sync(); serr != nil {
			err = errors.Join(err, fmt.Errorf("syncing %s: %w", o.File(), serr))
		}
	}
	err = errors.Join(err, o.f.Close())
	o.f = nil
	return err
}
