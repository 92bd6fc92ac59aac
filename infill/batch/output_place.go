package batch

import (
	"errors"
	"fmt"
	"infill/infill/batch/input"
	"io/fs"
	"os"
	"path/filepath"
)

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// Free finds what [Manifest.Open] with Create refuses because of an earlier run, before a model is
// opened for it: an output, or records that wait for its end. The error is an [*ExistsError].
func (l Layout) Free(path string) error {
	l, err := l.Found(path)
	if err != nil {
		return err
	}
	switch info, err := os.Stat(path); {
	case err != nil && isLink(path):
		return &ExistsError{Path: path, Link: true}
	case err == nil && info.Mode().IsRegular():
		return &ExistsError{Path: path}
	case err == nil:
		return nil // a folder cannot be one, and a pipe has nothing of an earlier run
	}
	if part := PartPath(path); l.Whole() {
		if info, err := os.Lstat(part); err == nil && info.Mode().IsRegular() {
			return &ExistsError{Path: part}
		}
	}
	return nil
}

// placeOfManifest is an error if the manifest of an output cannot be written. Its
// folder has to be there, and its name has to be free or that of a manifest.
func placeOfManifest(output string, in *input.Reader, mode Mode) error {
	if _, err := os.Stat(filepath.Dir(output)); err != nil {
		return fmt.Errorf("the folder of the output: %w; make it first", err)
	}
	path := ManifestPath(output)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case in.IsFile(info):
		return fmt.Errorf("%w: %s, where the manifest of %s goes, is the input; name another output",
			ErrManifest, path, output)
	case mode == Force && info.Mode().IsRegular():
		return nil
	}
	_, err = ReadManifest(output)
	return err
}
