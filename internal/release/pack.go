package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// An entry is a file of an archive.
type entry struct {
	name string // in the folder infill
	data []byte
	run  bool // a program or library
}

// top is the folder that an archive unpacks to.
const top = "infill/"

// epoch is when every file was changed: the first time that a zip archive knows.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// pack writes an archive, of the kind that its name says. The same entries give the same bytes. An
// archive of that name is there whole, or as it was before.
func pack(path string, files []entry) (err error) {
	slices.SortFunc(files, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	part := path + ".part"
	f, err := os.Create(part)
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, ".zip") {
		err = packZip(f, files)
	} else {
		err = packTar(f, files)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, path)
}

func (e entry) mode() int64 {
	if e.run {
		return 0o755
	}
	return 0o644
}

func packTar(w io.Writer, files []entry) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, e := range files {
		err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: top + e.name,
			Size: int64(len(e.data)), Mode: e.mode(), ModTime: epoch, Format: tar.FormatUSTAR})
		if err == nil {
			_, err = archive.Write(e.data)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func packZip(w io.Writer, files []entry) error {
	archive := zip.NewWriter(w)
	for _, e := range files {
		h := &zip.FileHeader{Name: top + e.name, Method: zip.Deflate, Modified: epoch}
		h.SetMode(os.FileMode(e.mode()))
		in, err := archive.CreateHeader(h)
		if err == nil {
			_, err = in.Write(e.data)
		}
		if err != nil {
			return err
		}
	}
	return archive.Close()
}
