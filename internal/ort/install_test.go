package ort

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

type entry struct {
	name string
	data []byte
	link bool
}

func tgz(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	tw := tar.NewWriter(gz)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.data)), Typeflag: tar.TypeReg}
		if e.link {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, "/etc/passwd", 0
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if !e.link {
			if _, err := tw.Write(e.data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// testPlatform is a row of the platform table for a fake library.
func testPlatform(t *testing.T, lib []byte) platform {
	t.Helper()
	p, err := thisPlatform()
	if err != nil {
		t.Fatal(err)
	}
	p.sha256 = sum(lib)
	return p
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// fakeNPM returns a command that behaves like `npm pack` and leaves the given
// archive in the current folder.
func fakeNPM(t *testing.T, archive []byte, exit int) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake npm is a shell script")
	}
	dir := t.TempDir()
	ball := filepath.Join(dir, "ball")
	if err := os.WriteFile(ball, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`#!/bin/sh
[ "$1 $2 $3" = "pack onnxruntime-node@%s --ignore-scripts" ] || { echo "bad arguments: $*" >&2; exit 9; }
[ %d = 0 ] || { echo "npm error network" >&2; exit %d; }
cp '%s' onnxruntime-node.tgz
`, Version, exit, exit, ball)
	path := filepath.Join(dir, "npm")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// leftovers lists what is in the library's folder besides the library and its receipt.
func leftovers(t *testing.T, cache string, p platform) []string {
	t.Helper()
	var out []string
	es, err := os.ReadDir(libraryDir(cache, p.goos, p.goarch))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if e.Name() != p.file && e.Name() != p.file+".json" {
			out = append(out, e.Name())
		}
	}
	return out
}

func TestInstallFromNPM(t *testing.T) {
	isolate(t)
	lib := read(t, fakeLibrary(t, Version))
	p := testPlatform(t, lib)
	name := "package/bin/napi-v6/" + p.npmDir + "/" + p.npmFile
	good := tgz(t, entry{name: "package/package.json", data: []byte("{}")},
		entry{name: "package/bin/napi-v6/other/x64/" + p.npmFile, data: []byte("another platform")},
		entry{name: name, link: true}, entry{name: name, data: lib})
	bad := append([]byte(nil), lib...)
	bad[len(bad)/2] ^= 1
	for _, c := range []struct {
		name    string
		archive []byte
		exit    int
		want    string // "" for success
	}{
		{"good", good, 0, ""},
		{"one bit wrong", tgz(t, entry{name: name, data: bad}), 0, "expected " + p.sha256},
		{"not there", tgz(t, entry{name: "package/README.md", data: []byte("x")}), 0,
			"no library for this platform"},
		{"not gzip", []byte("hello"), 0, "not a gzip archive"},
		{"truncated", good[:len(good)/2], 0, "reading the archive"},
		{"npm fails", nil, 3, "npm error network"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := t.TempDir()
			var log bytes.Buffer
			o := InstallOptions{CacheDir: cache, from: "npm", npm: fakeNPM(t, c.archive, c.exit), Log: &log,
				platform: &p}
			r, err := Install(context.Background(), o)
			if c.want == "" {
				if err != nil || !r.OK || !r.Pinned || r.SHA256 != p.sha256 ||
					!bytes.Equal(read(t, r.Path), lib) {
					t.Fatalf("%+v, %v\n%s", r, err, &log)
				}
				// A second call keeps it, without npm.
				o.npm = "/nonexistent"
				if r, err := Install(context.Background(), o); err != nil || !r.OK {
					t.Errorf("again: %v", err)
				}
				// Damage is mended.
				if err := os.WriteFile(r.Path, lib[:100], 0o600); err != nil {
					t.Fatal(err)
				}
				o.npm = fakeNPM(t, c.archive, 0)
				if r, err := Install(context.Background(), o); err != nil ||
					!bytes.Equal(read(t, r.Path), lib) {
					t.Errorf("mending: %v", err)
				}
			} else if !errors.Is(err, errInstall) || !strings.Contains(err.Error(), c.want) || r.OK ||
				exists(r.Path) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if l := leftovers(t, cache, p); len(l) > 0 {
				t.Errorf("left behind: %v", l)
			}
		})
	}
}

func TestInstallFromRelease(t *testing.T) {
	isolate(t)
	lib := read(t, fakeLibrary(t, Version))
	old := read(t, fakeLibrary(t, "1.17.0"))
	p := testPlatform(t, lib)
	p.sha256 = strings.Repeat("0", 64) // the release's library is not the pinned one
	good := tgz(t, entry{name: p.archiveLib, data: lib})
	serve := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/"+p.archive {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write(body)
		}
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"good", serve(good), ""},
		{"wrong version", serve(tgz(t, entry{name: p.archiveLib, data: old})), `says "1.17.0"`},
		{"cut library", serve(tgz(t, entry{name: p.archiveLib, data: lib[:len(lib)/2]})),
			"not a whole"},
		{"wrong bytes", serve(bytes.Repeat([]byte("x"), 5000)), "not a gzip"},
		{"another archive", serve(tgz(t, entry{name: "x/y", data: lib})), "no library"},
		{"not found", http.NotFound, "404"},
		{"drops the connection", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			_, _ = w.Write(good[:len(good)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "the connection ended after"},
		{"drops a chunked connection", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(good[:len(good)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "after"},
		{"declares less", func(w http.ResponseWriter, _ *http.Request) {
			conn, buf, err := w.(http.Hijacker).Hijack() // net/http's own writer would not lie
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(good)/2, good)
			_ = buf.Flush()
			_ = conn.Close()
		}, "reading the archive"},
		{"declares far too much", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(int64(maxArchive)+1))
			_, _ = w.Write(good[:1])
		}, "more than any archive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(c.handler)
			defer srv.Close()
			cache := t.TempDir()
			var log bytes.Buffer
			r, err := Install(context.Background(), InstallOptions{CacheDir: cache, from: "release",
				releaseURL: srv.URL, Log: &log, platform: &p})
			if c.want != "" {
				if !errors.Is(err, errInstall) || !strings.Contains(err.Error(), c.want) || exists(r.Path) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			} else {
				if err != nil || r.Pinned || r.Version != Version || !strings.Contains(r.Note, srv.URL) {
					t.Fatalf("%+v, %v", r, err)
				}
				if !strings.Contains(log.String(), sum(lib)) || !strings.Contains(log.String(), sum(good)) {
					t.Errorf("the hashes are not printed:\n%s", &log)
				}
				// Later damage is noticed, though no build knows the hash.
				if err := os.WriteFile(r.Path, append(read(t, r.Path), 0), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := checkCached(&r, p); !errors.Is(err, ErrRuntimeCorrupt) ||
					!strings.Contains(err.Error(), sum(lib)) {
					t.Errorf("damage: %v", err)
				}
			}
			if l := leftovers(t, cache, p); len(l) > 0 {
				t.Errorf("left behind: %v", l)
			}
		})
	}
}

func TestInstallFallsBack(t *testing.T) {
	isolate(t)
	lib := read(t, fakeLibrary(t, Version))
	p := testPlatform(t, lib)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(tgz(t, entry{name: p.archiveLib, data: lib}))
	}))
	defer srv.Close()
	o := InstallOptions{npm: "/nonexistent/npm", releaseURL: srv.URL, platform: &p,
		CacheDir: t.TempDir()}
	if r, err := Install(context.Background(), o); err != nil || !r.Pinned {
		t.Errorf("%+v, %v", r, err)
	}
	srv.Close()
	o.CacheDir = t.TempDir()
	_, err := Install(context.Background(), o)
	if !errors.Is(err, errInstall) || !strings.Contains(err.Error(), "from npm") ||
		!strings.Contains(err.Error(), "from release") {
		t.Errorf("both fail: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Install(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestInstallTogether(t *testing.T) {
	isolate(t)
	lib := read(t, fakeLibrary(t, Version))
	p := testPlatform(t, lib)
	npm := fakeNPM(t, tgz(t, entry{name: "package/bin/napi-v9/" + p.npmDir + "/" + p.npmFile,
		data: lib}), 0)
	cache := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = Install(context.Background(),
				InstallOptions{CacheDir: cache, npm: npm, from: "npm", Force: true, platform: &p})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(libraryDir(cache, p.goos, p.goarch), p.file)); !bytes.Equal(got,
		lib) {
		t.Error("the library is not whole")
	}
	if l := leftovers(t, cache, p); len(l) > 0 {
		t.Errorf("left behind: %v", l)
	}
}

func TestFromZip(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"a/lib/onnxruntime.dll": "library",
		"a/LICENSE": "text"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "a.zip")
	if err := os.WriteFile(archive, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	s, n, err := fromZip(archive, "a/lib/onnxruntime.dll", filepath.Join(dir, "out"))
	if err != nil || n != 7 || s != sum([]byte("library")) {
		t.Errorf("%s %d %v", s, n, err)
	}
	if _, _, err := fromZip(archive, "a/lib/none.dll", filepath.Join(dir, "out2")); err == nil {
		t.Error("an absent library was found")
	}
	if err := os.WriteFile(archive, b.Bytes()[:20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := fromZip(archive, "a/lib/onnxruntime.dll", filepath.Join(dir, "out3")); err == nil {
		t.Error("half a zip was read")
	}
}

func TestPlatformTable(t *testing.T) {
	for _, p := range platforms {
		if len(p.sha256) != 64 || p.file == "" || p.npmDir == "" ||
			!strings.Contains(p.archive, Version) ||
			!strings.HasPrefix(p.archiveLib, strings.TrimSuffix(strings.TrimSuffix(p.archive, ".tgz"),
				".zip")) {
			t.Errorf("row %s/%s: %+v", p.goos, p.goarch, p)
		}
	}
	if _, err := platformOf("plan9", "mips"); !errors.Is(err, ErrRuntimeMissing) {
		t.Errorf("unknown platform: %v", err)
	}
}
