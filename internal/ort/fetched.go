package ort

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// InstallOptions steers [Install]; the zero value installs into the default
// cache from the first package that can be had.
type InstallOptions struct {
	// CacheDir replaces INFILL_CACHE and os.UserCacheDir()/infill.
	CacheDir string
	// Force fetches the library even if the cache holds a good one.
	Force bool
	// Log receives one line per step taken; nil discards them.
	Log io.Writer
	// Python is the command whose pip fetches packages; "" means "python3".
	Python string

	npm      string    // tests have their own npm,
	platform *platform // and another platform with other pins
}

func (o *InstallOptions) logf(format string, a ...any) {
	if o.Log != nil {
		_, _ = fmt.Fprintf(o.Log, format+"\n", a...)
	}
}

// fetch has a package manager of the user fetch a package into an empty folder, so that its
// registry, proxy and certificates are the ones they have set up, and gives the file. No code of
// the package runs. what is said of it in errors, pattern is how such files are called.
func fetch(ctx context.Context, limit time.Duration, work, what, pattern string,
	command ...string) (string, error) {
	bin, err := exec.LookPath(command[0])
	if err != nil {
		return "", fmt.Errorf("%s is not installed: %w", command[0], err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, command[1:]...)
	cmd.Dir = work
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("it took more than %v: %w", limit, err)
		}
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return "", fmt.Errorf("%s: %w: %s", what, err,
			strings.Join(lines[max(0, len(lines)-3):], " / "))
	}
	files, err := filepath.Glob(filepath.Join(work, pattern))
	if err != nil || len(files) != 1 {
		return "", fmt.Errorf("%s left %d files, expected one", what, len(files))
	}
	return files[0], nil
}

// fromTar copies the first regular file whose name matches out of a gzipped
// tar stream and returns its hash.
func fromTar(r io.Reader, match func(string) bool, path string) (string, error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return "", fmt.Errorf("not a gzip archive: %w", err)
	}
	tr := tar.NewReader(gz)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return "", errNoLibrary
		}
		if err != nil {
			return "", fmt.Errorf("reading the archive: %w", err)
		}
		// A symbolic link of the right name is not the library.
		if h.Typeflag == tar.TypeReg && match(h.Name) {
			return saveLibrary(tr, h.Size, path)
		}
	}
}

// fromZip is fromTar for the packages of pip, by the whole name.
func fromZip(archive, name, path string) (string, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return "", fmt.Errorf("not a zip archive: %w", err)
	}
	defer func() { _ = z.Close() }()
	for _, e := range z.File {
		if e.Name != name || !e.Mode().IsRegular() {
			continue
		}
		rc, err := e.Open()
		if err != nil {
			return "", err
		}
		defer func() { _ = rc.Close() }()
		return saveLibrary(rc, int64(min(e.UncompressedSize64, math.MaxInt64)), path)
	}
	return "", errNoLibrary
}

var errNoLibrary = errors.New("the archive has no library for this platform")

// saveLibrary copies a library of the declared size out of an archive, bounded, and hashes it. What
// is not whole is removed.
func saveLibrary(src io.Reader, declared int64, path string) (sum string, err error) {
	if declared > maxLibrary {
		return "", fmt.Errorf("the library claims %d MB, more than any build of onnx runtime",
			declared>>20)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(src, declared+1))
	switch {
	case err != nil:
		err = fmt.Errorf("reading the archive: %w", err)
	case size != declared:
		err = fmt.Errorf("the library has %d bytes, its archive says %d", size, declared)
	default:
		// On the disk before the rename: a crash must not leave a hollow file under the final name.
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// npmPackage carries the shared libraries of all platforms of one release.
const npmPackage = "onnxruntime-node@" + Version

// fetchNPM takes this platform's library out of the package that npm fetches.
func fetchNPM(ctx context.Context, o *InstallOptions, p platform, work, lib string) error {
	o.logf("fetching %s with npm (about 100 MB)", npmPackage)
	ball, err := fetch(ctx, 10*time.Minute, work, "npm pack "+npmPackage, "*.tgz",
		cmp.Or(o.npm, "npm"), "pack", npmPackage, "--ignore-scripts")
	if err != nil {
		return err
	}
	// The archive is not needed once the library is out of it.
	defer func() { _ = os.Remove(ball) }()
	f, err := os.Open(ball)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	want := regexp.MustCompile(`^package/bin/napi-v[0-9]+/` + regexp.QuoteMeta(p.npm.path) + `$`)
	sum, err := fromTar(f, want.MatchString, lib)
	if err != nil {
		return fmt.Errorf("%s: %w", npmPackage, err)
	}
	return compare(npmPackage, lib, sum, p.npm.sha256)
}

// pipPackage carries the shared library of one platform, for one release of Python. That of
// pipPython is taken. The library knows nothing of it.
const (
	pipPackage = "onnxruntime==" + Version
	pipPython  = "3.12"
)

// fetchPip takes the library out of the package that pip fetches.
func fetchPip(ctx context.Context, o *InstallOptions, p platform, work, lib string) error {
	file, err := o.pip(ctx, work, pipPackage, p.tag, pipPython, "20 MB")
	if err != nil {
		return err
	}
	sum, err := fromZip(file, "onnxruntime/capi/"+p.pip.path, lib)
	if err != nil {
		return fmt.Errorf("%s: %w", pipPackage, err)
	}
	return compare(pipPackage, lib, sum, p.pip.sha256)
}

// pip has pip fetch a package into a folder, and gives its file. tag is the platform that it is
// for, and release the Python, "" for any. size is for people.
func (o *InstallOptions) pip(ctx context.Context, work, requirement, tag, release, size string) (
	string, error) {
	o.logf("fetching %s with pip (about %s)", requirement, size)
	args := []string{cmp.Or(o.Python, "python3"), "-m", "pip", "download", "--no-deps",
		"--only-binary", ":all:", "--platform", tag}
	if release != "" {
		args = append(args, "--implementation", "cp", "--python-version", release, "--abi",
			"cp"+strings.ReplaceAll(release, ".", ""))
	}
	file, err := fetch(ctx, time.Hour, work, "pip download "+requirement, "*.whl", append(args,
		"--disable-pip-version-check", "--no-input", "--dest", ".", requirement)...)
	if err != nil {
		err = fmt.Errorf("%w; install Python 3 with pip, with its package index within reach, or copy "+
			"the folder from the cache of another machine", err)
	}
	return file, err
}
