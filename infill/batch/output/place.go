package output

import (
	"errors"
	"fmt"
	"infill/infill/batch/input"
	"io/fs"
	"os"
	"path/filepath"
)

// placeOfManifest is an error if the manifest of an output cannot be written. Its
// folder has to be there, and its name has to be free or that of a manifest.
func placeOfManifest(output string, in *input.Reader, mode Mode) error {
	if _, err := os.Stat(filepath.Dir(output)); err != nil {
		return fmt.Errorf("the folder of the output: %w; make it first", err)
	}
	path := manifestPath(output)
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

// check compares the manifest of the output, if it has one, with that of this run.
func (o *Writer) check(empty bool) error {
	was, err := ReadManifest(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && empty:
		return o.manifest.write(o.Path) // nothing was written yet
	case errors.Is(err, fs.ErrNotExist):
		return &ManifestError{manifestPath(o.Path), fmt.Sprintf(
			"is missing, so the origin of %s is not known; start again, or name another output",
			o.file), true}
	case err != nil:
		return err
	}
	if empty {
		was.Finished = nil // what was finished has been taken away
	}
	if d := was.differences(o.manifest); len(d) > 0 {
		return &MismatchError{Differences: d}
	}
	o.records.was = was.Written
	if !empty {
		o.manifest.Written = was.Written
	}
	if was.Finished != nil && !o.layout.Whole() {
		o.records.was = &Sum{was.Finished.Bytes, was.Finished.SHA256}
	}
	if was.extends(o.manifest) || empty {
		return o.manifest.write(o.Path)
	}
	return nil
}
