package ort

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// releaseURL is where Microsoft publishes the archives of the release.
const releaseURL = "https://github.com/microsoft/onnxruntime/releases/download/v" + Version

// maxArchive bounds a release archive; those of 1.2x are 8 to 80 MB.
const maxArchive = 400 << 20

// fetchRelease fetches Microsoft's archive and takes the library out of it.
//
// The hashes of these archives are not pinned: they could not be obtained
// where the pins of this package were made, and a guess would be worse than
// none. What is verified instead: the transport (TLS), the length the server
// declared, the archive's own checksums, that the library is whole, for this
// processor, exports OrtGetApiBase and states version 1.27.0. The library's hash is then printed
// and written down next to it, so that every later start notices a change.
func fetchRelease(ctx context.Context, o *InstallOptions, p platform, work string) (fetched,
	error) {
	url := cmp.Or(o.releaseURL, releaseURL) + "/" + p.archive
	o.logf("fetching %s", url)
	archive := filepath.Join(work, "release-archive")
	defer func() { _ = os.Remove(archive) }()
	sum, err := download(ctx, o.client, url, archive)
	if err != nil {
		return fetched{}, err
	}
	o.logf("  archive sha256 %s", sum)
	got := fetched{path: filepath.Join(work, "release-"+p.file), from: url}
	if strings.HasSuffix(p.archive, ".zip") {
		got.sha256, got.size, err = fromZip(archive, p.archiveLib, got.path)
	} else {
		var f *os.File
		if f, err = os.Open(archive); err == nil {
			got.sha256, got.size, err = fromTar(f, func(n string) bool {
				return strings.TrimPrefix(n, "./") == p.archiveLib
			}, got.path)
			_ = f.Close()
		}
	}
	if err != nil {
		return fetched{}, fmt.Errorf("%s: %w", url, err)
	}
	version, err := inspect(got.path, p.goos, p.goarch)
	if err == nil && version != Version {
		err = fmt.Errorf("%w: the library in %s says %q, expected %s", ErrRuntimeVersion, url, version,
			Version)
	}
	if err != nil {
		_ = os.Remove(got.path)
		return fetched{}, err
	}
	got.pinned = got.sha256 == p.sha256
	return got, nil
}

// defaultClient gives up on a server that does not answer. download bounds the whole.
func defaultClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 20 * time.Second}).DialContext,
		TLSHandshakeTimeout:   20 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
	}}
}

// download stores url in path and returns the SHA-256 of what arrived. Fewer
// or more bytes than declared, a dropped connection, a status other than 200
// and an oversized body are errors.
func download(ctx context.Context, c *http.Client, url, path string) (sum string, err error) {
	if c == nil {
		c = defaultClient()
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: the server says %s", url, resp.Status)
	}
	if resp.ContentLength > maxArchive {
		return "", fmt.Errorf("%s: %d MB is more than any archive of onnx runtime", url,
			resp.ContentLength>>20)
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, h), io.LimitReader(resp.Body, maxArchive+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "", fmt.Errorf("%s: the connection ended after %d of %d bytes: %w", url, n,
			resp.ContentLength, err)
	case err != nil:
		return "", fmt.Errorf("%s: after %d bytes: %w", url, n, err)
	case n > maxArchive:
		return "", fmt.Errorf("%s: more than %d MB", url, maxArchive>>20)
	case resp.ContentLength >= 0 && n != resp.ContentLength:
		return "", fmt.Errorf("%s: %d bytes arrived, %d were declared", url, n, resp.ContentLength)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
