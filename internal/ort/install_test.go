package ort

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
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
	p.npm.sha256 = sum(lib)
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
	writeCommand(t, path, script)
	return path
}

// writeCommand writes a program that the test runs. No other test starts a process meanwhile: a
// child would inherit the file as open for writing, and Linux refuses to run such a file ("text
// file busy").
func writeCommand(t *testing.T, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // a command
		t.Fatal(err)
	}
}

// leftovers lists what is in the library's folder besides the library.
func leftovers(t *testing.T, cache string, p platform) []string {
	t.Helper()
	var out []string
	es, err := os.ReadDir(libraryDir(cache, p.goos, p.goarch))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		if e.Name() != p.file {
			out = append(out, e.Name())
		}
	}
	return out
}

func TestInstallFromNPM(t *testing.T) {
	isolate(t)
	lib := read(t, fakeLibrary(t, Version))
	p := testPlatform(t, lib)
	name := "package/bin/napi-v6/" + p.npm.path
	good := tgz(t, entry{name: "package/package.json", data: []byte("{}")},
		entry{name: "package/bin/napi-v6/other/" + p.npm.path, data: []byte("another platform")},
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
		{"one bit wrong", tgz(t, entry{name: name, data: bad}), 0, "expected " + p.npm.sha256},
		{"not there", tgz(t, entry{name: "package/README.md", data: []byte("x")}), 0,
			"no library for this platform"},
		{"not gzip", []byte("hello"), 0, "not a gzip archive"},
		{"truncated", good[:len(good)/2], 0, "reading the archive"},
		{"npm fails", nil, 3, "npm error network"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := t.TempDir()
			var log bytes.Buffer
			o := InstallOptions{CacheDir: cache, npm: fakeNPM(t, c.archive, c.exit), Log: &log,
				platform: &p, Python: "/nonexistent/python"}
			r, err := Install(context.Background(), o)
			if c.want == "" {
				if err != nil || !r.OK || !r.Pinned || r.SHA256 != p.npm.sha256 ||
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

// The package of pip has the library of another build, which is pinned too.
func TestInstallFromPip(t *testing.T) {
	isolate(t)
	lib := read(t, fakeLibrary(t, Version))
	p := testPlatform(t, []byte("that of npm"))
	p.pip.sha256 = sum(lib)
	name := "onnxruntime/capi/" + p.pip.path
	bad := append([]byte(nil), lib...)
	bad[len(bad)/2] ^= 1
	good := packed(t, map[string]string{name: string(lib), "onnxruntime/LICENSE": "text"})
	for _, c := range []struct {
		name string
		file []byte
		exit int
		want string // "" for success
	}{
		{"good", good, 0, ""},
		{"one bit wrong", packed(t, map[string]string{name: string(bad)}), 0, "expected " + sum(lib)},
		{"not there", packed(t, map[string]string{"x/y": "x"}), 0, "no library for this platform"},
		{"not zip", []byte("hello"), 0, "not a zip archive"},
		{"truncated", good[:len(good)/2], 0, "not a zip archive"},
		{"pip fails", nil, 3, "No matching distribution"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := t.TempDir()
			o := InstallOptions{CacheDir: cache, npm: "/nonexistent/npm", platform: &p,
				Python: fakePython(t, pipPackage, c.file, c.exit)}
			r, err := Install(context.Background(), o)
			switch {
			case c.want != "":
				if !errors.Is(err, errInstall) || !strings.Contains(err.Error(), c.want) || exists(r.Path) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			case err != nil || !r.OK || !r.Pinned || r.SHA256 != sum(lib) || r.Version != Version:
				t.Fatalf("%+v, %v", r, err)
			default: // later damage is noticed
				if err := os.WriteFile(r.Path, append(read(t, r.Path), 0), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := checkCached(&r, p); !errors.Is(err, errRuntimeCorrupt) {
					t.Errorf("damage: %v", err)
				}
			}
			if l := leftovers(t, cache, p); len(l) > 0 {
				t.Errorf("left behind: %v", l)
			}
		})
	}
}

func TestInstallFromNeither(t *testing.T) {
	isolate(t)
	p := testPlatform(t, nil)
	o := InstallOptions{npm: "/nonexistent/npm", Python: "/nonexistent/python", platform: &p,
		CacheDir: t.TempDir()}
	_, err := Install(context.Background(), o)
	if !errors.Is(err, errInstall) || !strings.Contains(err.Error(), "from npm") ||
		!strings.Contains(err.Error(), "from pip") {
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
	npm := fakeNPM(t, tgz(t, entry{name: "package/bin/napi-v9/" + p.npm.path, data: lib}), 0)
	cache := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = Install(context.Background(),
				InstallOptions{CacheDir: cache, npm: npm, Force: true, platform: &p})
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
	b := packed(t, map[string]string{"a/lib/onnxruntime.dll": "library", "a/LICENSE": "text"})
	archive := filepath.Join(dir, "a.zip")
	if err := os.WriteFile(archive, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := fromZip(archive, "a/lib/onnxruntime.dll", filepath.Join(dir, "out"))
	if err != nil || s != sum([]byte("library")) {
		t.Errorf("%s %v", s, err)
	}
	if _, err := fromZip(archive, "a/lib/none.dll", filepath.Join(dir, "out2")); err == nil {
		t.Error("an absent library was found")
	}
	if err := os.WriteFile(archive, b[:20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fromZip(archive, "a/lib/onnxruntime.dll", filepath.Join(dir, "out3")); err == nil {
		t.Error("half a zip was read")
	}
}

func TestPlatformTable(t *testing.T) {
	for _, p := range platforms {
		for _, b := range []build{p.npm, p.pip} {
			if len(b.sha256) != 64 || b.path == "" {
				t.Errorf("row %s/%s: %+v", p.goos, p.goarch, b)
			}
		}
		if p.file == "" || p.tag == "" {
			t.Errorf("row %s/%s: %+v", p.goos, p.goarch, p)
		}
	}
	if _, err := platformOf("plan9", "mips"); !errors.Is(err, errRuntimeMissing) {
		t.Errorf("unknown platform: %v", err)
	}
}
