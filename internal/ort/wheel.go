package ort

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"

	"infill/internal/disk"
)

// A Wheel is a plug-in that comes as a package of Python, of a pinned release.
type Wheel struct {
	Name     string // the folder's in the cache
	Env      string // the environment variable that names a library elsewhere
	Version  string
	Platform string // that it is for, such as linux-amd64
	Package  string // as pip knows it
	Tag      string // the platform, as pip knows it
	Python   string // the Python that it is for, such as 3.12, "" for any
	Size     string // of the download, for people
	SHA256   string // of the package's file
	Folder   string // inside that file
	Library  string // what the runtime loads. It finds the other files beside itself
	// Files are kept of the package, each by its path inside Folder. Beside each other they lie by the
	// last part of it. That of Library has its SHA-256 where Env can name it elsewhere, else "".
	Files map[string]string

	mu    sync.Mutex
	found map[string]string // versions of libraries that were looked at
}

// ErrNotInstalled: a plug-in's files are not there, or not whole.
var ErrNotInstalled = errors.New("not installed")

// Find finds the library, in the cache unless the environment names another, and compares the sizes
// of its files with those that were installed, once in a process. version is the library's version,
// or says by its hash that it is another build. cache replaces the user's cache folder, "" does
// not. Errors of what is not in the cache wrap [ErrNotInstalled].
func (w *Wheel) Find(cache string) (file, version string, err error) {
	if w.Env != "" {
		file = os.Getenv(w.Env)
	}
	named := file != ""
	if !named {
		if file, err = w.Dir(cache); err != nil {
			return "", "", err
		}
		file = filepath.Join(file, w.Library)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := w.found[file]; v != "" {
		return file, v, nil
	}
	switch {
	case named:
		version, err = w.version(file)
	case !exists(file):
		err = fmt.Errorf("%w in %s", ErrNotInstalled, filepath.Dir(file))
	default:
		version, err = w.Version, w.check(filepath.Dir(file))
	}
	if err != nil {
		return "", "", err
	}
	if w.found == nil {
		w.found = map[string]string{}
	}
	w.found[file] = version
	return file, version, nil
}

// version returns the version of a library that somebody named.
func (w *Wheel) version(file string) (string, error) {
	if !exists(file) {
		return "", fmt.Errorf("there is no file %s, which %s names; correct it, or leave it out and "+
			"install the plug-in", file, w.Env)
	}
	sum, _, err := hashFile(file)
	switch {
	case err != nil:
		return "", err
	case sum == w.sum(w.Library):
		return w.Version, nil
	}
	return "not the pinned build, " + sum[:16], nil
}

// sum is the SHA-256 of a file of the folder.
func (w *Wheel) sum(base string) string {
	for name, sum := range w.Files {
		if path.Base(name) == base {
			return sum
		}
	}
	return ""
}

// Dir is the plug-in's folder inside the cache. It is an error on a platform that it is not for.
func (w *Wheel) Dir(cache string) (string, error) {
	if is := runtime.GOOS + "-" + runtime.GOARCH; is != w.Platform {
		return "", fmt.Errorf("the plug-in is for %s, this is %s", w.Platform, is)
	}
	dir, err := disk.CacheDir(cache)
	return filepath.Join(dir, w.Name, w.Version, w.Platform), err
}

// sizesFile holds the sizes of the files of a package that was compared with its hash.
const sizesFile = "sizes.json"

// sizes has the sizes of the files in a folder. The error is of one that is not there.
func (w *Wheel) sizes(dir string) (sizes map[string]int64, err error) {
	sizes = map[string]int64{}
	for name := range w.Files {
		info, missing := os.Stat(filepath.Join(dir, path.Base(name)))
		if missing != nil {
			err = missing
			continue
		}
		sizes[path.Base(name)] = info.Size()
	}
	return sizes, err
}

func (w *Wheel) noteSizes(dir string) error {
	sizes, err := w.sizes(dir)
	if err != nil {
		return err
	}
	b, err := json.Marshal(sizes)
	if err != nil {
		return err
	}
	return disk.Write(filepath.Join(dir, sizesFile), append(b, '\n'))
}

// check compares the files of a folder with the sizes that were noted: hashing them all takes
// longer than the work of many commands. Errors wrap ErrNotInstalled.
func (w *Wheel) check(dir string) error {
	var noted map[string]int64
	b, err := disk.Read(filepath.Join(dir, sizesFile), 1<<16)
	if err == nil {
		err = json.Unmarshal(b, &noted)
	}
	sizes, missing := w.sizes(dir)
	for name, size := range sizes {
		if err == nil && size != noted[name] {
			err = fmt.Errorf("%s has %d bytes, expected %d", filepath.Join(dir, name), size, noted[name])
		}
	}
	if err = cmp.Or(err, missing); err != nil {
		return fmt.Errorf("%w whole: %w; install it again", ErrNotInstalled, err)
	}
	return nil
}

// errInstallPlugin: a plug-in could not be fetched; nothing was changed.
var errInstallPlugin = errors.New("cannot install the plug-in")

// requirement is the release, as pip is asked for it.
func (w *Wheel) requirement() string { return w.Package + "==" + w.Version }

// Install puts the plug-in into the cache and returns its folder. What is there and good is kept,
// unless o.Force is set. Of o it reads CacheDir, Force, Log and Python.
//
// The user's own pip fetches the package, so that its registry, proxy and certificates are the
// ones they have set up. The file is compared with its SHA-256. No code of the package runs. The
// folder appears by one rename, after every check.
// Errors wrap [errInstallPlugin].
func (w *Wheel) Install(ctx context.Context, o InstallOptions) (string, error) {
	dir, err := w.Dir(o.CacheDir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errInstallPlugin, err)
	}
	if !o.Force {
		err := w.check(dir)
		if err == nil {
			o.logf("the plug-in %s %s is installed already: %s", w.Name, w.Version, dir)
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			o.logf("fetching it again: %v", err)
		}
	}
	if err := w.fetch(ctx, &o, dir); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("%w %s: %w", errInstallPlugin, w.Name, err)
	}
	o.logf("installed %s (%s)", dir, w.requirement())
	return dir, nil
}

// fetch fetches the package and puts its files into dir.
func (w *Wheel) fetch(ctx context.Context, o *InstallOptions, dir string) error {
	above := filepath.Dir(dir)
	if err := os.MkdirAll(above, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(above, ".install-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	file, err := o.pip(ctx, work, w.requirement(), w.Tag, w.Python, w.Size)
	if err != nil {
		return err
	}
	if sum, _, err := hashFile(file); err != nil {
		return err
	} else if sum != w.SHA256 {
		return fmt.Errorf("the file that pip fetched, %s, has sha256 %s, expected %s; see which "+
			"package index pip is set up with", filepath.Base(file), sum, w.SHA256)
	}
	out := filepath.Join(work, "files")
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	for name := range w.Files {
		to := filepath.Join(out, path.Base(name))
		if _, err := fromZip(file, path.Join(w.Folder, name), to); err != nil {
			return fmt.Errorf("%s: %s: %w", w.requirement(), name, err)
		}
		if err := os.Chmod(to, 0o755); err != nil {
			return err
		}
	}
	if err := w.noteSizes(out); err != nil {
		return err
	}
	// A folder cannot be replaced by another in one step. What is there goes aside first, and a
	// process that has it mapped keeps it.
	old := filepath.Join(work, "old")
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = disk.Rename(out, dir)
	if err != nil && w.check(dir) == nil {
		return nil // another process was faster
	}
	return err
}
