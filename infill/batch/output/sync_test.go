package output

import (
	"errors"
	"infill/infill/batch/input/inputtest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A file is synced with the first record two seconds after the last time, and at
// the end, after everything has been written.
func TestPeriodicSync(t *testing.T) {
	t.Parallel()
	const records, every = 100, 300 * time.Millisecond // so that each seventh syncs
	var whole int64                                    // the bytes of the records
	for _, suffix := range suffixes {                  // the plain one first
		dir := t.TempDir()
		in := inputtest.Write(t, filepath.Join(dir, "in.txt"), strings.Repeat("a line\n", records))
		path := filepath.Join(dir, "out"+suffix)
		var clock time.Time
		var sizes []int64 // of the file at each sync
		_, _, err := process(t, in, path, config{before: func(o *Writer) {
			o.records.now = func() time.Time { return clock }
			o.records.synced = clock
			o.records.sync = func() error {
				info, err := o.records.f.Stat()
				sizes = append(sizes, info.Size())
				return errors.Join(err, o.records.f.Sync())
			}
		}, progress: func(Progress) { clock = clock.Add(every) }})
		if err != nil {
			t.Fatal(err)
		}
		if suffix == ".jsonl" {
			whole = int64(len(inputtest.Read(t, path)))
		}
		if want := records/7 + 1; len(sizes) != want || sizes[len(sizes)-1] != whole {
			t.Errorf("%s: synced at sizes %v of %d, want %d times", suffix, sizes, whole, want)
		}
		for i := 1; i < len(sizes)-1; i++ {
			if sizes[i] <= sizes[i-1] {
				t.Errorf("%s: synced at sizes %v", suffix, sizes)
			}
		}
	}
}

// A disk that cannot sync ends the run; what is there can be resumed.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := inputtest.Write(t, filepath.Join(dir, "in.txt"), strings.Repeat("a line\n", 50))
	path := filepath.Join(dir, "out.jsonl")
	var clock time.Time
	p, _, err := process(t, in, path, config{before: func(o *Writer) {
		o.records.now = func() time.Time { return clock }
		o.records.synced = clock
		o.records.sync = func() error { return syscall.EIO }
	}, progress: func(Progress) { clock = clock.Add(time.Second) }})
	if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "syncing "+path) ||
		p.Records == 0 || p.Records > 3 {
		t.Fatalf("%d records, %v", p.Records, err)
	}
	whole := filepath.Join(dir, "whole.jsonl")
	if _, _, err := process(t, in, whole, config{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := process(t, in, path, config{mode: Resume}); err != nil ||
		string(inputtest.Read(t, path)) != string(inputtest.Read(t, whole)) {
		t.Errorf("resumed: %v", err)
	}
}
