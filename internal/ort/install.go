package ort

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"infill/internal/disk"
)

// Install puts the library of this platform into the cache and returns what
// is there then. A good library that is there already is kept. It comes from the
// package onnxruntime-node by npm, or else from onnxruntime by pip, and is compared
// with a SHA-256 compiled into this package.
//
// The file appears under its final name by one rename, after every check, so
// an interrupted or failed install changes nothing, and two processes that
// install at once both end with a good file. Errors say that nothing was changed.
func Install(ctx context.Context, o InstallOptions) (Report, error) {
	p, err := thisPlatform()
	if o.platform != nil {
		p, err = *o.platform, nil
	}
	if err != nil {
		return Report{Platform: runtime.GOOS + "-" + runtime.GOARCH, Problem: err.Error()}, err
	}
	r := Report{Platform: p.goos + "-" + p.goarch}
	if err := install(ctx, o, p, &r); err != nil {
		r.Problem = err.Error()
		return r, err
	}
	r.OK = true
	return r, nil
}

func install(ctx context.Context, o InstallOptions, p platform, r *Report) error {
	cache, err := disk.CacheDir(o.CacheDir)
	if err != nil {
		return fmt.Errorf("%w: %w", errInstall, err)
	}
	dir := libraryDir(cache, p.goos, p.goarch)
	r.Cache, r.Path, r.Source = dir, filepath.Join(dir, p.file), sourceCache
	if !o.Force && exists(r.Path) {
		err := checkCached(r, p)
		if err == nil {
			o.logf("onnx runtime %s is installed already: %s", r.Version, r.Path)
			return nil
		}
		o.logf("the library in the cache is not good, fetching it again: %v", err)
		*r = Report{Platform: r.Platform, Cache: dir, Path: r.Path, Source: sourceCache}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%w: %w", errInstall, err)
	}
	work, err := os.MkdirTemp(dir, ".install-*")
	if err != nil {
		return fmt.Errorf("%w: %w", errInstall, err)
	}
	defer func() { _ = os.RemoveAll(work) }()

	var errs []error
	for _, src := range []struct {
		name  string
		fetch func(ctx context.Context, o *InstallOptions, p platform, work, lib string) error
	}{{"npm", fetchNPM}, {"pip", fetchPip}} {
		lib := filepath.Join(work, src.name+"-"+p.file)
		err := src.fetch(ctx, &o, p, work, lib)
		if err == nil {
			err = commit(lib, p, r)
		}
		if err == nil {
			err = checkCached(r, p)
			o.logf("installed %s from %s\n  sha256 %s", r.Path, src.name, r.SHA256)
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", errInstall, context.Cause(ctx))
		}
		o.logf("%s: %v", src.name, err)
		errs = append(errs, fmt.Errorf("from %s: %w", src.name, err))
	}
	return fmt.Errorf("%w: %w; fetch onnx runtime %s by hand and set %s to its library",
		errInstall, errors.Join(errs...), Version, EnvLibrary)
}

// compare refuses a library that is not the one of its package, and removes it.
func compare(pkg, lib, sum, want string) error {
	if sum == want {
		return nil
	}
	_ = os.Remove(lib)
	return fmt.Errorf("%w: the library in %s has sha256 %s, expected %s", errRuntimeCorrupt, pkg, sum,
		want)
}

// commit moves the library to its place.
func commit(lib string, p platform, r *Report) error {
	if err := os.Chmod(lib, 0o755); err != nil {
		return err
	}
	err := disk.Rename(lib, r.Path)
	// Windows refuses to replace a library in use. If somebody else has
	// just put a good one there, all is well.
	if err != nil && checkCached(r, p) == nil {
		return nil
	}
	return err
}
