package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Write puts data in the place of path. See [WriteFunc].
func Write(path string, data []byte) error {
	return WriteFunc(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFunc puts what write writes in the place of path, whole or not at all. After a
// crash or an error the old file is there as it was. After success the new one lasts:
// its bytes and its name are on the disk.
//
// The bytes go to a new file beside path, which is then renamed. A link at path is replaced, and
// nothing is written to what it points to. The file keeps the permissions of the one that it
// replaces, else it has what the umask leaves. A process that is killed can leave its new file
// behind; [IsTemp] recognises the name. A device or a pipe at path has no content to protect and is
// written to directly.
//
// Errors name path, never the new file. They wrap the cause, which can be write's own.
func WriteFunc(path string, write func(io.Writer) error) error {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; name a file in it", path)
	case err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return writeThrough(path, write)
	case err != nil:
		info = nil
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	case info.Mode()&fs.ModeSymlink != 0:
		// A link to a device, such as /dev/stdout, stands for the device.
		if to, err := os.Stat(path); err == nil && !to.Mode().IsRegular() && !to.IsDir() {
			return writeThrough(path, write)
		}
		info = nil
	}
	f, err := createTemp(path)
	if err != nil {
		return named(err, path)
	}
	err = write(f)
	if err == nil && info != nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return named(err, path)
	}
	return SyncDir(filepath.Dir(path))
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return named(err, path)
	}
	return nil
}

// named makes err one of path: the name of a temporary file means nothing to anybody.
func named(err error, path string) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe) && IsTemp(filepath.Base(pe.Path)):
		return &fs.PathError{Op: pe.Op, Path: path, Err: pe.Err}
	case errors.As(err, &le) && IsTemp(filepath.Base(le.Old)):
		return &fs.PathError{Op: "write", Path: path, Err: le.Err}
	}
	return fmt.Errorf("%s: %w", path, err)
}

const tempPrefix, tempSuffix = ".infill-", ".tmp"

// IsTemp reports whether a file of this name, without its folder, is one that
// [WriteFunc] makes on the way.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// createTemp makes a new file beside path. Unlike os.CreateTemp it leaves the
// permissions to the umask. It never opens a file, or a link, that was there before.
func createTemp(path string) (f *os.File, err error) {
	for range 100 {
		f, err = os.OpenFile(filepath.Join(filepath.Dir(path), tempName()),
			os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

func tempName() string { return fmt.Sprintf("%s%016x%s", tempPrefix, rand.Uint64(), tempSuffix) }

// Rename gives a file or a folder that is whole and synced its final name, and makes
// the name last. A file of that name is replaced.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}
