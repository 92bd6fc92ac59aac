package weights

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
)

// Expand gives a folder in which the file Stored is read as Given. Nothing is held in memory but
// the stored file, once. A folder without a stored file stays as it is. A stored file that is
// damaged is an error that wraps errFormat at the first use.
func Expand(inner fs.FS) fs.FS { return Carded(inner, Stored) }

// Carded is Expand for a folder with a card, a file that states the hashes of the weights. Two
// folders of the same graph and card have the same weights.
func Carded(inner fs.FS, card string) fs.FS {
	if _, err := fs.Stat(inner, Stored); err != nil {
		return inner
	}
	return &expanded{inner, card, sync.OnceValues(func() (*file, error) { return parse(inner) })}
}

// Source gives the folder that Expand was given, with its stored file, and the name of the file
// that tells its weights from others: its card, or else the stored file. ok is false where Expand
// left the folder as it was.
func Source(fsys fs.FS) (inner fs.FS, card string, ok bool) {
	e, ok := fsys.(*expanded)
	if !ok {
		return nil, "", false
	}
	return e.FS, e.card, true
}

type expanded struct {
	fs.FS
	card string
	file func() (*file, error)
}

// Open opens a file of the folder.
func (e *expanded) Open(name string) (fs.File, error) {
	switch name {
	case Stored:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case Given:
		f, err := e.file()
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: Stored, Err: err}
		}
		return &handle{io.NewSectionReader(f, 0, f.size)}, nil
	}
	f, err := e.FS.Open(name)
	if err != nil || name != "." {
		return f, err
	}
	list, err := e.ReadDir(name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &opened{File: f, left: list}, nil
}

// Stat does not open a file of the folder, which may be a pipe.
func (e *expanded) Stat(name string) (fs.FileInfo, error) {
	if name != Stored && name != Given {
		return fs.Stat(e.FS, name)
	}
	f, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

// opened is the folder itself, opened.
type opened struct {
	fs.File
	left []fs.DirEntry
}

// ReadDir gives the next n entries, or all that are left.
func (o *opened) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(o.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(o.left) {
		n = len(o.left)
	}
	var next []fs.DirEntry
	next, o.left = o.left[:n:n], o.left[n:]
	return next, nil
}

// ReadDir lists a folder, with the given file in place of the stored one.
func (e *expanded) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(e.FS, name)
	if err != nil || name != "." {
		return list, err
	}
	f, err := e.file()
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: Stored, Err: err}
	}
	list = slices.DeleteFunc(list, func(d fs.DirEntry) bool { return d.Name() == Stored })
	list = append(list, fs.FileInfoToDirEntry(info(f.size)))
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// handle is the given file, opened.
type handle struct{ *io.SectionReader }

func (h *handle) Stat() (fs.FileInfo, error) { return info(h.Size()), nil }

func (h *handle) Close() error { return nil }

// info describes the given file of this size.
type info int64

func (info) Name() string       { return Given }
func (i info) Size() int64      { return int64(i) }
func (info) Mode() fs.FileMode  { return 0o444 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }
