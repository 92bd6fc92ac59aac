package disk

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// errOutside is a link that leads out of the folder that it is read from.
var errOutside = errors.New("it is a link that leads out of the folder")

// RootFS is the file system of a root. Its errors read like those of package os: a root's own
// errors name its system calls, such as statat.
func RootFS(root *os.Root) fs.FS { return rootFS{root.FS()} }

type rootFS struct{ fs.FS }

func (r rootFS) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, plain(err)
	}
	return f, nil
}

// Stat does not open the file, which may be a pipe.
func (r rootFS) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(r.FS, name)
	return info, plain(err)
}

// plain words the error of a root.
func plain(err error) error {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err
	}
	cause := pe.Err
	if cause.Error() == "path escapes from parent" { // package os has no name for it
		cause = errOutside
	}
	return &fs.PathError{Op: strings.TrimSuffix(pe.Op, "at"), Path: pe.Path, Err: cause}
}
