package disk

import (
	"context"
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
func Open(path string) (*os.File, error) { return opened(path, os.Stat, os.Open) }

// OpenFS is [Open] for a file of a file system.
func OpenFS(fsys fs.FS, name string) (fs.File, error) {
	stat := func(name string) (fs.FileInfo, error) { return fs.Stat(fsys, name) }
	return opened(name, stat, fsys.Open)
}

// opened looks at a file before it is opened and again after: the name can have changed its
// meaning.
func opened[F fs.File](name string, stat func(string) (fs.FileInfo, error),
	open func(string) (F, error)) (f F, err error) {
	info, err := stat(name)
	if err == nil {
		err = regular(name, info)
	}
	if err != nil {
		return f, err
	}
	if f, err = open(name); err != nil {
		return f, err
	}
	if info, err = f.Stat(); err == nil {
		err = regular(name, info)
	}
	if err != nil {
		_ = f.Close()
	}
	return f, err
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

// Stoppable is a reader that ends with a context.
func Stoppable(ctx context.Context, r io.Reader) io.Reader { return stoppable{ctx, r} }

type stoppable struct {
	ctx context.Context
	io.Reader
}

func (s stoppable) Read(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.Reader.Read(b)
}
