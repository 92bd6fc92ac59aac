package hub

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"infill/internal/disk"
)

// UserCache is the cache of the user's pulled models.
func UserCache() (Cache, error) {
	dir, err := disk.CacheDir("")
	return Cache{Dir: filepath.Join(dir, "models")}, err
}

// An AbsentError is a model with a name that was not pulled. It wraps errOffline.
type AbsentError struct {
	Model string // what pulls it: a name, or OWNER/NAME@REVISION
	File  string // the ONNX file that was asked for, "" for any
	Bytes int64  // its size, 0 if it is not known
}

// Error says what is wrong.
func (e *AbsentError) Error() string {
	if e.Bytes > 0 {
		return fmt.Sprintf("the model %s is not in the cache", e.Model)
	}
	return fmt.Sprintf("no folder is called %s, and no model of the cache or of Hugging Face's cache",
		e.Model)
}

// Unwrap returns the sentinel.
func (e *AbsentError) Unwrap() error { return errOffline }

// Locate finds a model by its name, in this cache or in Hugging Face's own. dir is its folder, and
// export the ONNX file in it, "" if the folder has no other. file is the ONNX file that is wanted,
// "" for any. fast8 is [Options.Int8]. Errors are of type *AbsentError or wrap [ErrUnknown].
func (c Cache) Locate(name, file string, fast8 bool) (dir, export string, err error) {
	r, ok := parseRepo(name)
	m := c.Find(name, file)
	switch {
	case !ok && m == nil:
		return "", "", fmt.Errorf("%w: %q", ErrUnknown, name)
	case !ok && !c.Has(m):
		return "", "", &AbsentError{m.Name, file, m.Size()}
	case !ok:
		return c.Folder(m), file, nil
	case m != nil && c.Has(m):
		if dir := path.Dir(m.Export()); file == "" && (dir == "." || dir == "onnx") {
			return c.Folder(m), "", nil
		}
		return c.Folder(m), m.Export(), nil
	}
	if dir, export = foreign(r, file, fast8); dir != "" {
		return dir, export, nil
	}
	return "", "", &AbsentError{r.String(), file, 0}
}

// Models lists the models of the catalogue, and the versions of repositories that were pulled.
func (c Cache) Models() []*Model { return slices.Concat(Catalogue(), c.repositories()) }

// A ChangedError is a pulled model that is not what was pulled. It wraps ErrMismatch.
type ChangedError struct {
	Model     *Model
	Sum, Want string // "" if the file does not belong to the model
}

// Error says what is wrong.
func (e *ChangedError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("%v: it is not a file of the model %s", ErrMismatch, e.Model.Name)
	}
	return fmt.Sprintf("%v: it has SHA-256 %s, should have %s", ErrMismatch, e.Sum, e.Want)
}

// Unwrap returns the sentinel.
func (e *ChangedError) Unwrap() error { return ErrMismatch }

// Compare is an error of type *ChangedError if the ONNX file of a folder, whose SHA-256 is sum,
// belongs to a pulled model and is not what was pulled. The folder may have been named by its path.
// named says that the file was named as well, and did not take the place of the model's.
func (c Cache) Compare(dir, file, sum string, named bool) error {
	file = filepath.Join(dir, filepath.FromSlash(file))
	for _, m := range c.Models() {
		folder := c.Folder(m)
		for _, f := range m.Files {
			if !disk.Same(file, filepath.Join(folder, filepath.FromSlash(f.Path))) {
				continue
			}
			if want := c.readRecord(m).expected(f); want != "" && want != sum {
				return &ChangedError{m, sum, want}
			}
			return nil
		}
		if !named && disk.Same(dir, folder) {
			return &ChangedError{Model: m}
		}
	}
	return nil
}

// String is the name of a model, as it is pulled.
func (m *Model) String() string {
	if m.Commit == "" {
		return m.Name
	}
	return repo{m.Name, m.Revision}.String()
}
