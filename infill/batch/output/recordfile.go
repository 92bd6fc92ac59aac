package output

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"time"

	"infill/infill/jsonl"
	"infill/internal/disk"
)

// syncEvery is the time between two syncs of a file to the disk. The first record
// after it is synced, and the last one.
const syncEvery = 2 * time.Second

// A recordFile is a file of records that a run which ends early can go on with. It only grows, by
// whole frames.
type recordFile struct {
	frameWriter
	f        *os.File         // nil before it is opened and when it is closed
	resumed  bool             // it has records of an earlier run
	extended bool             // which had a smaller limit
	hash     hash.Hash        // of what is in it
	was      *Sum             // of an earlier run; nil if that made none
	note     func(*Sum) error // keeps the sum of what is on disk
	synced   time.Time
	sync     func() error     // of f
	now      func() time.Time // the clock that says when to
}

// newRecordFile is the file at a path, which is not opened yet. note keeps the sum of what is on
// disk in the manifest.
func newRecordFile(path string, note func(*Sum) error) (*recordFile, error) {
	frames, err := framingOf(path)
	if err != nil {
		return nil, err
	}
	o := &recordFile{frameWriter: frameWriter{name: path, frames: frames}, synced: time.Now(),
		now: time.Now, hash: sha256.New(), note: note}
	o.sync = func() error { return o.f.Sync() }
	o.undo = func() { _ = o.f.Truncate(o.offset) } // as far as the disk lets it
	o.after = o.written
	return o, nil
}

// open opens and locks the file, or creates it.
func (o *recordFile) open(create bool) (err error) {
	flags, mode := os.O_RDWR, os.FileMode(0)
	if create {
		flags, mode = os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666
	}
	if o.f, err = os.OpenFile(o.name, flags, mode); err != nil {
		return err
	}
	o.w = o.f
	// Some file systems have no locks. The output is written all the same.
	if ok, err := disk.TryLock(o.f); !ok && err == nil {
		return fmt.Errorf("%w: another process writes %s", errLocked, o.name)
	}
	return nil
}

// written takes note of a frame that was written.
func (o *recordFile) written(frame []byte) error {
	o.hash.Write(frame)
	if o.now().Sub(o.synced) < syncEvery {
		return nil
	}
	o.synced = o.now()
	return o.onDisk()
}

// onDisk syncs the file, and keeps its sum.
func (o *recordFile) onDisk() error {
	if err := o.sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", o.name, err)
	}
	return o.note(sumOf(o.offset, o.hash))
}

// finish ends the file, syncs and closes it.
func (o *recordFile) finish(complete bool) error {
	return errors.Join(o.frameWriter.finish(complete), o.onDisk(), o.close())
}

// close closes the file if it is open.
func (o *recordFile) close() error {
	if o.f == nil {
		return nil
	}
	err := o.f.Close()
	o.f = nil
	return err
}

func recordOf(n int, line []byte) (jsonl.Record, error) {
	return jsonl.Decoder{Bytes: maxFrame}.Record(n, line)
}
