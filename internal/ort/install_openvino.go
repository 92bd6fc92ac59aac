package ort

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"infill/internal/disk"
)

// openvinoPackage is the plug-in's package, and openvinoWheel the SHA-256 of its file for
// Linux on x86-64.
const (
	openvinoPackage = "onnxruntime-ep-openvino==" + OpenVINOVersion
	openvinoWheel   = "3832643158c8c187fcab6db661cde2a8c06a2b3559d95d0f2411ac0e51c5e924"
)

// openvinoPlatformTag is the name that Python's packages have for that platform.
const openvinoPlatformTag = "manylinux_2_28_x86_64"

// ErrInstallOpenVINO: OpenVINO's plug-in could not be fetched; nothing was changed.
var ErrInstallOpenVINO = errors.New("cannot install the plug-in of OpenVINO")

// InstallOpenVINO puts the plug-in of OpenVINO into the cache and returns its folder. What is there
// and good is kept, unless o.Force is set. Of o it reads CacheDir, Force, Log and Python.
//
// The user's own pip fetches the package, so that its registry, proxy and certificates are the
// ones they have set up. The file is compared with a SHA-256 compiled into this package, and so is
// each of the ten files that are kept of it. No code of the package runs. The folder
// appears by one rename, after every check. Errors wrap [ErrInstallOpenVINO].
func InstallOpenVINO(ctx context.Context, o InstallOptions) (string, error) {
	return wheel{openvinoWheel, openvinoFiles}.install(ctx, &o)
}

// wheel is what is expected of the package.
type wheel struct {
	sha256 string
	files  map[string]string
}

func (w wheel) install(ctx context.Context, o *InstallOptions) (string, error) {
	if err := openvinoPlatform(runtime.GOOS, runtime.GOARCH); err != nil {
		return "", fmt.Errorf("%w: %w", ErrInstallOpenVINO, err)
	}
	cache, err := disk.CacheDir(o.CacheDir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrInstallOpenVINO, err)
	}
	dir := openvinoDir(cache)
	if !o.Force {
		err := w.check(dir)
		if err == nil {
			o.logf("OpenVINO's plug-in %s is installed already: %s", OpenVINOVersion, dir)
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			o.logf("fetching it again: %v", err)
		}
	}
	if err := w.fetch(ctx, o, dir); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("%w: %w", ErrInstallOpenVINO, err)
	}
	o.logf("installed %s (%s)", dir, openvinoPackage)
	return dir, nil
}

// fetch fetches the package and puts its files into dir.
func (w wheel) fetch(ctx context.Context, o *InstallOptions, dir string) error {
	above := filepath.Dir(dir)
	if err := os.MkdirAll(above, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(above, ".install-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	file, err := pipDownload(ctx, o, work)
	if err != nil {
		return err
	}
	if sum, _, err := hashFile(file); err != nil {
		return err
	} else if sum != w.sha256 {
		return fmt.Errorf("the file that pip fetched, %s, has sha256 %s, expected %s; see which "+
			"package index pip is set up with", filepath.Base(file), sum, w.sha256)
	}
	out := filepath.Join(work, "files")
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	for name := range w.files {
		path := filepath.Join(out, name)
		if _, _, err := fromZip(file, "onnxruntime_ep_openvino/"+name, path); err != nil {
			return fmt.Errorf("%s: %s: %w", openvinoPackage, name, err)
		}
		if err := os.Chmod(path, 0o755); err != nil {
			return err
		}
	}
	if err := w.check(out); err != nil {
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

// pipDownload has pip fetch the package into a folder, and gives its file.
func pipDownload(ctx context.Context, o *InstallOptions, work string) (string, error) {
	python := o.Python
	if python == "" {
		python = "python3"
	}
	const remedy = "install Python 3 with pip, or copy the folder from the cache of another machine"
	bin, err := exec.LookPath(python)
	if err != nil {
		return "", fmt.Errorf("%w; %s", err, remedy)
	}
	o.logf("fetching %s with pip (about 53 MB)", openvinoPackage)
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-m", "pip", "download", "--no-deps", "--only-binary",
		":all:", "--platform", openvinoPlatformTag, "--disable-pip-version-check", "--no-input",
		"--dest", ".", openvinoPackage)
	cmd.Dir = work
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("pip download %s: %w: %s; pip needs its package index within reach: %s",
			openvinoPackage, err, lastLines(stderr.String(), 3), remedy)
	}
	files, err := filepath.Glob(filepath.Join(work, "*.whl"))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("pip download %s left %d files, expected one", openvinoPackage, len(files))
	}
	return files[0], nil
}

// check compares the files of a folder with their hashes. Errors wrap ErrNotInstalled.
func (w wheel) check(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	for name, want := range w.files {
		path := filepath.Join(dir, name)
		sum, _, err := hashFile(path)
		switch {
		case err != nil:
			return fmt.Errorf("%w whole: %w; install it again", ErrNotInstalled, err)
		case sum != want:
			return fmt.Errorf("%w whole: %s has sha256 %s, expected %s; install it again", ErrNotInstalled,
				path, sum, want)
		}
	}
	return nil
}
