package batch

import (
	"fmt"
	"io"
	"strings"

	"infill/internal/disk"
)

// measure enters the bytes of a file and their hash.
func (f *finished) measure(path string) error {
	sum, err := disk.Hashed(path, func(r io.Reader) (err error) {
		f.Bytes, err = io.Copy(io.Discard, r)
		return err
	})
	f.SHA256 = strings.TrimPrefix(sum, "sha256:")
	return err
}

// unchanged compares rows that are finished with what their manifest says of them. Older manifests
// say nothing.
func (o *Output) unchanged(was *finished) error {
	if was.SHA256 == "" {
		return nil
	}
	var is finished
	if err := is.measure(o.Path); err != nil {
		return err
	}
	if is.Bytes == was.Bytes && is.SHA256 == was.SHA256 {
		return nil
	}
	return &ManifestError{ManifestPath(o.Path), fmt.Sprintf("says that %s was finished with %d "+
		"bytes, sha256 %s, and it has %d now, sha256 %s; its records are gone, so start again, or name "+
		"another output", o.Path, was.Bytes, short(was.SHA256), is.Bytes, short(is.SHA256)), true}
}
