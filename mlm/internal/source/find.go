package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// ErrNoModel: the folder has no model file, or several and none with a usual name.
var ErrNoModel = errors.New("no model")

// modelFiles are the names that an export may have, in the order in which they are tried.
var modelFiles = []string{"model.onnx", "onnx/model.onnx"}

// mostListed is how many files an error names.
const mostListed = 12

// Files are the files of one model.
type Files struct {
	FS   fs.FS
	Name string // of the model file
	// Beside is the folder of the tokenizer and config.json: the model file's, or the one above its
	// onnx folder.
	Beside fs.FS
}

// Find finds the files of a model. Its own is the given one, or one with a usual name, or else the
// only ONNX file of the folder and of its onnx folder. With an error the others are those beside
// the given one.
func Find(fsys fs.FS, file string) (Files, error) {
	name, err := find(fsys, file)
	if err != nil {
		name = file
	}
	return Files{fsys, name, beside(fsys, name)}, err
}

// Has reports whether a file is beside the model's.
func (f Files) Has(name string) bool { return exists(f.Beside, name) }

// find is the name of the model file.
func find(fsys fs.FS, file string) (string, error) {
	if fsys == nil {
		return "", fmt.Errorf("%w: the folder is nil; pass models.Default() or os.DirFS(FOLDER)",
			ErrNoModel)
	}
	names := modelFiles
	if file != "" {
		names = []string{file}
	}
	for _, name := range names {
		if !fs.ValidPath(name) {
			return "", fmt.Errorf("%w: %q is not the path of a file below the model's folder",
				ErrNoModel, name)
		}
		info, err := fs.Stat(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		switch {
		case err != nil:
			return "", fmt.Errorf("%w: %w", ErrNoModel, err)
		case !info.Mode().IsRegular():
			return "", fmt.Errorf("%w: %s is not a file", ErrNoModel, name)
		}
		return name, nil
	}
	missing := "the folder has no " + strings.Join(names, " and no ")
	there := exportsIn(fsys)
	switch {
	case len(there) == 0:
		return "", fmt.Errorf("%w: %s; give the folder that the model was exported to", ErrNoModel,
			missing)
	case len(there) == 1 && file == "":
		return there[0], nil
	}
	return "", fmt.Errorf("%w: %s, but %s; name one of them, as in FOLDER/%s", ErrNoModel, missing,
		listed(there), there[0])
}

// listed are names for people, the first ones of many.
func listed(names []string) string {
	if more := len(names) - mostListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// exportsIn are the ONNX files of a folder and of its onnx folder, sorted.
func exportsIn(fsys fs.FS) (out []string) {
	for _, pattern := range []string{"*.onnx", "onnx/*.onnx"} {
		names, _ := fs.Glob(fsys, pattern) // a folder that cannot be read has none
		for _, name := range names {
			if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
				out = append(out, name)
			}
		}
	}
	return out
}

// tokenizerFiles hold vocabularies: a tokenizer has one of them.
var tokenizerFiles = []string{"vocab.txt", "tokenizer.json", "vocab.json"}

// beside is the folder of the tokenizer and config.json.
func beside(fsys fs.FS, name string) fs.FS {
	if dir := path.Dir(name); dir != "." && fs.ValidPath(dir) {
		if sub, err := fs.Sub(fsys, dir); err == nil &&
			exists(sub, tokenizerFiles...) {
			return sub
		}
	}
	return fsys
}

// exists reports whether one of the files is there.
func exists(fsys fs.FS, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		_, err := fs.Stat(fsys, n)
		return err == nil
	})
}
