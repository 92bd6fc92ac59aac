package ort

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
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
	// Python is the command whose pip fetches a plug-in; "" means "python3".
	Python string

	// Tests choose one source, "npm" or "release", where it is, and another platform with other pins.
	from       string
	npm        string
	releaseURL string
	client     *http.Client
	platform   *platform
}

func (o *InstallOptions) logf(format string, a ...any) {
	if o.Log != nil {
		_, _ = fmt.Fprintf(o.Log, format+"\n", a...)
	}
}

// lastLines are the last n lines of what a command said.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, " / ")
}

// fetched is a library that lies in the work folder, checked.
type fetched struct {
	path   string
	sha256 string
	size   int64
	from   string
	pinned bool
}

// fromTar copies the first regular file whose name matches out of a gzipped
// tar stream and returns its hash and size.
func fromTar(r io.Reader, match func(string) bool, path string) (string, int64, error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return "", 0, fmt.Errorf("not a gzip archive: %w", err)
	}
	tr := tar.NewReader(gz)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return "", 0, errors.New("the archive has no library for this platform")
		}
		if err != nil {
			return "", 0, fmt.Errorf("reading the archive: %w", err)
		}
		// A symbolic link of the right name is not the library.
		if h.Typeflag == tar.TypeReg && match(h.Name) {
			sum, n, err := saveLibrary(tr, h.Size, path)
			if err != nil {
				_ = os.Remove(path)
			}
			return sum, n, err
		}
	}
}

// fromZip is fromTar for the Windows archives.
func fromZip(archive, name, path string) (string, int64, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return "", 0, fmt.Errorf("not a zip archive: %w", err)
	}
	defer func() { _ = z.Close() }()
	for _, e := range z.File {
		if e.Name != name || !e.Mode().IsRegular() {
			continue
		}
		if e.UncompressedSize64 > maxLibrary {
			return "", 0, fmt.Errorf("the library claims %d MB", e.UncompressedSize64>>20)
		}
		rc, err := e.Open()
		if err != nil {
			return "", 0, err
		}
		defer func() { _ = rc.Close() }()
		sum, n, err := saveLibrary(rc, int64(e.UncompressedSize64), path)
		if err != nil {
			_ = os.Remove(path)
		}
		return sum, n, err
	}
	return "", 0, errors.New("the archive has no library for this platform")
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
