package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"infill/infill/jsonl"
	"infill/internal/disk"
)

// syncEvery is the time between two syncs of a file to the disk. The first record
// after it is synced, and the last one.
const syncEvery = 2 * time.Second

// maxRecord bounds a record in bytes.
const maxRecord = 256 << 20

// A journal is a file of records, one a line, that a run which ends early can go on with. It only
// grows, by whole records.
type journal struct {
	name    string
	f       *os.File         // nil before it is opened and when it is closed
	w       io.Writer        // f
	resumed bool             // it has records of an earlier run
	whole   *summing         // of the whole records in it
	was     *Sum             // of an earlier run; nil if that made none
	note    func(*Sum) error // keeps the sum of what is on disk
	synced  time.Time
	sync    func() error     // of f
	now     func() time.Time // the clock that says when to
}

// newJournal is the file at a path, which is not opened yet. note keeps the sum of what is on disk
// in the manifest.
func newJournal(path string, note func(*Sum) error) *journal {
	o := &journal{name: path, synced: time.Now(), now: time.Now, whole: newSumming(), note: note}
	o.sync = func() error { return o.f.Sync() }
	return o
}

// open opens and locks the file, or creates it.
func (o *journal) open(create bool) (err error) {
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

// write appends a record.
func (o *journal) write(record []byte) error {
	n, err := o.w.Write(record)
	if err == nil && n < len(record) {
		err = io.ErrShortWrite
	}
	if err != nil {
		_ = o.f.Truncate(o.whole.bytes) // as far as the disk lets it
		return fmt.Errorf("writing %s: %w", o.name, err)
	}
	_, _ = o.whole.Write(record) // a hash takes all
	if o.now().Sub(o.synced) < syncEvery {
		return nil
	}
	o.synced = o.now()
	return o.onDisk()
}

// onDisk syncs the file, and keeps its sum.
func (o *journal) onDisk() error {
	if err := o.sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", o.name, err)
	}
	return o.note(o.whole.sum())
}

// finish syncs the file and closes it.
func (o *journal) finish(bool) error { return errors.Join(o.onDisk(), o.close()) }

// close closes the file if it is open.
func (o *journal) close() error {
	if o.f == nil {
		return nil
	}
	err := disk.Unlock(o.f)
	o.f = nil
	return err
}

func recordOf(n int, line []byte) (jsonl.Record, error) {
	return jsonl.Decoder{Bytes: maxRecord}.Record(n, line)
}
