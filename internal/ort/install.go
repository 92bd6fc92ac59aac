package ort

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"

	"infill/internal/disk"
)

// InstallOptions steers [Install]; the zero value installs into the default
// cache from the first source that works.
type InstallOptions struct {
	// CacheDir replaces INFILL_CACHE and os.UserCacheDir()/infill.
	CacheDir string
	// Force fetches the library even if the cache holds a good one.
	Force bool
	// Log receives one line per step taken; nil discards them.
	Log io.Writer
	// From limits the sources to "npm" or "release"; "" tries both in this order.
	From string
	// NPM is the npm command; "" means "npm".
	NPM string
	// Python is the command whose pip fetches a plug-in; "" means "python3".
	Python string
	// ReleaseURL is the folder of Microsoft's release archives; "" means
	// that of [Version] on GitHub.
	ReleaseURL string
	// ArchiveSHA256 is the expected hash (hex) of the release archive, for
	// those who have it from elsewhere; "" leaves that check out.
	ArchiveSHA256 string
	// Client fetches the release archive; nil means a client with time limits.
	Client *http.Client

	platform *platform // tests only: another platform, other pins
}

func (o *InstallOptions) logf(format string, a ...any) {
	if o.Log != nil {
		_, _ = fmt.Fprintf(o.Log, format+"\n", a...)
	}
}

// Install puts the library of this platform into the cache and returns what
// is there then. A good library that is there already is kept. Sources are
// the npm package onnxruntime-node, whose library is checked against a
// SHA-256 compiled into this package, and Microsoft's release archive.
//
// The file appears under its final name by one rename, after every check, so
// an interrupted or failed install changes nothing, and two processes that
// install at once both end with a good file. Errors wrap [ErrInstall].
func Install(ctx context.Context, o InstallOptions) (Report, error) {
	return InstallFor(ctx, o, runtime.GOOS, runtime.GOARCH)
}

// InstallFor is [Install] for another platform, in Go's spelling. What is in the cache then is for
// programs that are made for other machines.
func InstallFor(ctx context.Context, o InstallOptions, goos, goarch string) (Report, error) {
	p, err := platformOf(goos, goarch)
	if o.platform != nil {
		p, err = *o.platform, nil
	}
	if err != nil {
		return Report{Platform: goos + "-" + goarch, Problem: err.Error()}, err
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
		return fmt.Errorf("%w: %w", ErrInstall, err)
	}
	dir := libraryDir(cache, p.goos, p.goarch)
	r.Cache, r.Path, r.Source = dir, filepath.Join(dir, p.file), SourceCache
	if !o.Force && exists(r.Path) {
		err := checkCached(r, p)
		if err == nil {
			o.logf("onnx runtime %s is installed already: %s", r.Version, r.Path)
			return nil
		}
		o.logf("the library in the cache is not good, fetching it again: %v", err)
		*r = Report{Platform: r.Platform, Cache: dir, Path: r.Path, Source: SourceCache}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%w: %w", ErrInstall, err)
	}
	work, err := os.MkdirTemp(dir, ".install-*")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInstall, err)
	}
	defer func() { _ = os.RemoveAll(work) }()

	var errs []error
	for _, src := range []struct {
		name  string
		fetch func(context.Context, *InstallOptions, platform, string) (fetched, error)
	}{{"npm", fetchNPM}, {"release", fetchRelease}} {
		if o.From != "" && o.From != src.name {
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
			return fmt.Errorf("%w: %w", ErrInstall, context.Cause(ctx))
		}
		o.logf("%s: %v", src.name, err)
		errs = append(errs, fmt.Errorf("from %s: %w", src.name, err))
	}
	if len(errs) == 0 {
		return fmt.Errorf("%w: unknown source %q, use npm or release", ErrInstall, o.From)
	}
	return fmt.Errorf("%w: %w; fetch onnx runtime %s by hand and set %s to its library",
		ErrInstall, errors.Join(errs...), Version, EnvLibrary)
}

// fetched is a library that lies in the work folder, checked.
type fetched struct {
	path   string
	sha256 string
	size   int64
	from   string
	pinned bool
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

// saveLibrary copies a library out of an archive, bounded, and hashes it. A
// declared size (>= 0) must be what arrives.
func saveLibrary(src io.Reader, declared int64, path string) (sum string, size int64, err error) {
	if declared > maxLibrary {
		return "", 0, fmt.Errorf("the library claims %d MB, more than any build of onnx runtime",
			declared>>20)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", 0, err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(f, h), io.LimitReader(src, maxLibrary+1))
	switch {
	case err != nil:
		return "", size, fmt.Errorf("reading the archive: %w", err)
	case size > maxLibrary:
		return "", size, fmt.Errorf("the library is larger than %d MB", maxLibrary>>20)
	case declared >= 0 && size != declared:
		return "", size, fmt.Errorf("the library has %d bytes, its archive says %d", size, declared)
	}
	// On the disk before the rename: a crash must not leave a hollow file
	// under the final name.
	return hex.EncodeToString(h.Sum(nil)), size, f.Sync()
}
