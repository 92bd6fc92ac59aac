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
// is there then. A good library that is there already is kept. Sources are
// the npm package onnxruntime-node, whose library is checked against a
// SHA-256 compiled into this package, and Microsoft's release archive.
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
		fetch func(context.Context, *InstallOptions, platform, string) (fetched, error)
	}{{"npm", fetchNPM}, {"release", fetchRelease}} {
		if o.from != "" && o.from != src.name {
			continue
		}
		got, err := src.fetch(ctx, &o, p, work)
		if err == nil {
			err = commit(got, p, r)
		}
		if err == nil {
			o.logf("installed %s (%s)\n  sha256 %s", r.Path, got.from, got.sha256)
			return checkCached(r, p)
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

// commit moves the library to its place. The receipt goes first: a library
// without a receipt would be refused, a receipt without a library is ignored.
func commit(got fetched, p platform, r *Report) error {
	if err := os.Chmod(got.path, 0o755); err != nil {
		return err
	}
	if !got.pinned {
		if err := writeReceipt(r.Path, receipt{SHA256: got.sha256, Size: got.size,
			From: got.from}); err != nil {
			return err
		}
	}
	if err := disk.Rename(got.path, r.Path); err != nil {
		// Windows refuses to replace a library in use. If somebody else has
		// just put a good one there, all is well.
		if check := checkCached(r, p); check == nil {
			return nil
		}
		return err
	}
	if got.pinned {
		_ = os.Remove(receiptPath(r.Path)) // of an earlier install from a release
	}
	return nil
}
