package ort

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"infill/internal/disk"
)

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
