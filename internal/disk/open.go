package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	// ErrNotRegular is a folder, a pipe, a socket or a device in the place of a file.
	// Opening a pipe would wait for somebody to write to it.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is a file of more bytes than what it should hold can have.
	ErrTooLarge = errors.New("file is too large")
)

// Open opens a regular file, or a link to one, to be read. The error wraps
// [ErrNotRegular] for anything else, which is not opened.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return f, checkOpen(path, f)
}

// OpenFS is [Open] for a file of a file system.
func OpenFS(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if err := regular(name, info); err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	return f, checkOpen(name, f)
}

// checkOpen looks again at what was opened: the name can have changed its meaning.
func checkOpen(name string, f fs.File) error {
	info, err := f.Stat()
	if err == nil {
		err = regular(name, info)
	}
	if err != nil {
		_ = f.Close()
	}
	return err
}

func regular(name string, info fs.FileInfo) error {
	kind := "something else"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return fmt.Errorf("%s: %w but %s", name, ErrNotRegular, kind)
}

// Read is the content of a regular file of at most limit bytes. Errors wrap
// [ErrNotRegular] or [ErrTooLarge].
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(f, path, limit)
}

// ReadFS is [Read] for a file of a file system.
func ReadFS(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := OpenFS(fsys, name)
	if err != nil {
		return nil, err
	}
	return readAll(f, name, limit)
}

func readAll(f fs.File, name string, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	err = errors.Join(err, f.Close())
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s: %w: more than %d bytes", name, ErrTooLarge, limit)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Same reports whether two paths lead to one file or folder that is there.
func Same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
