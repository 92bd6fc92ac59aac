// Package source is where a model comes from: its folder, the names of its files, what config.json
// says, and hashes.
package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"infill/internal/disk"
	"infill/models/weights"
)

// Folder is where a model comes from.
type Folder struct {
	FS fs.FS
	// Dir is the folder on disk that the runtime maps weights from. It is "" for a model that is part
	// of a program, and for weights in few bits, which the runtime gets from the cache or from memory.
	Dir string
	// Name is the folder in errors, as its caller has it, "" for a model that is part of a program.
	Name string
	// links is set where the model's files are links: the runtime refuses weights behind
	// one that leads out of the folder that it is told, and gets this folder, which has
	// their targets, in place of Dir.
	links *links
}

// links is the outermost folder that links may lead to.
type links struct {
	fs  fs.FS
	dir string // with all links resolved
}

// Weights is the folder that the runtime reads weights from.
func (f Folder) Weights() (fs.FS, string) {
	if f.links != nil {
		return f.links.fs, f.links.dir
	}
	return f.FS, f.Dir
}

// Locate is the path, below the folder of weights, of a file of the model.
func (f Folder) Locate(file string) string {
	if f.links == nil {
		return file
	}
	target, err := filepath.EvalSymlinks(filepath.Join(f.Dir, filepath.FromSlash(file)))
	if err == nil {
		target, err = filepath.Rel(f.links.dir, target)
	}
	if err != nil { // it is gone; whoever opens it says so
		return file
	}
	return filepath.ToSlash(target)
}

// Open opens a folder of the disk. No link leads out of it. The one exception is
// Hugging Face's cache, in which a model's files are links to ../../blobs: there links
// may lead to wherever the same repository's folder is. Nothing that a model file says
// widens that.
func Open(dir string) (f Folder, done func(), err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return f, nil, fmt.Errorf("%w: %w", ErrNoModel, err)
	}
	base, below := disk.Repository(abs)
	root, err := os.OpenRoot(base)
	if err != nil {
		return f, nil, fmt.Errorf("%w: %w; give the folder that the model was exported to", ErrNoModel,
			err)
	}
	f = Folder{FS: disk.RootFS(root), Dir: abs, Name: dir}
	if below != "." {
		f.links = &links{fs: f.FS}
		if f.links.dir, err = filepath.EvalSymlinks(base); err == nil {
			f.FS, err = fs.Sub(f.FS, filepath.ToSlash(below))
		}
		if err == nil {
			_, err = fs.Stat(f.FS, ".")
		}
	}
	if err != nil {
		return f, nil, errors.Join(fmt.Errorf("%w: %w", ErrNoModel, err), root.Close())
	}
	if exists(f.FS, weights.Stored) {
		// Such weights are read as an embedded model's are, also after the model was opened: the
		// folder stays open as long as the model is in use.
		return Folder{FS: weights.Expand(f.FS), Name: dir}, func() {}, nil
	}
	return f, func() { _ = root.Close() }, nil
}

// Named is an error of the folder's files, with the folder that they are in.
func (f Folder) Named(err error) error {
	if err == nil || f.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", f.Name, err)
}

// Again opens the folder once more, if it was closed. done is never nil.
func (f Folder) Again() (_ Folder, done func(), err error) {
	if f.Dir == "" {
		return f, func() {}, nil
	}
	g, done, err := Open(f.Dir)
	if err != nil {
		return f, func() {}, err
	}
	g.Name = f.Name
	return g, done, nil
}

// Locate is the folder of a model and the name of its file in it, for [OpenDir] and [Options]. path
// is a folder, for which file is "", or an ONNX file. That of a file in a folder called onnx is the
// folder above if only that one has a tokenizer, as repositories of the hub are. An error is one of
// the file system.
func Locate(path string) (dir, file string, err error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return path, "", err
	}
	dir, file = filepath.Dir(path), filepath.Base(path)
	abs, err := filepath.Abs(dir)
	if err != nil || filepath.Base(abs) != "onnx" || exists(os.DirFS(dir), tokenizerFiles...) {
		return dir, file, err
	}
	above := filepath.Join(dir, "..")
	// A link would lead out of the folder above.
	if own, err := os.Lstat(abs); err == nil && own.IsDir() &&
		exists(os.DirFS(above), tokenizerFiles...) {
		return above, "onnx/" + file, nil
	}
	return dir, file, nil
}
