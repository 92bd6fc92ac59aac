package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errRoom is returned for a disk that has too little room.
var errRoom = errors.New("too little room on the disk")

// Size is the sum of the sizes of the files in a folder and below, in bytes: 0 if it is not there.
// What cannot be read is left out.
func Size(dir string) int64 {
	n := int64(0)
	_ = filepath.WalkDir(dir, func(_ string, f fs.DirEntry, err error) error {
		if err == nil && f.Type().IsRegular() {
			if info, err := f.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// Room reports whether a file of that many bytes can be written to a folder, which need not be
// there yet. It leaves nothing behind. Errors wrap errRoom, or say why nothing can be written
// there. A system that does not tell how much is free has enough.
func Room(dir string, size int64) error {
	at, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for filepath.Dir(at) != at { // the folder, or the nearest one above that is there
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		at = filepath.Dir(at)
	}
	f, err := createTemp(filepath.Join(at, "room"))
	if err != nil {
		return named(err, dir)
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return named(err, dir)
	}
	if left, ok := free(at); ok && left < uint64(max(0, size)) {
		return fmt.Errorf("%w: %s has %d MB free, %d MB are wanted", errRoom, dir, left/1e6,
			(size+1e6-1)/1e6)
	}
	return nil
}
