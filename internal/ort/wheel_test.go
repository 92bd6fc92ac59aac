package ort

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeWheel is a package with these files, and what is expected of it.
func fakeWheel(t *testing.T, files map[string]string) ([]byte, *Wheel) {
	t.Helper()
	w := &Wheel{Name: "plug", Env: "INFILL_TEST_PLUGIN", Version: "1.2", Package: "some-plugin",
		Platform: runtime.GOOS + "-" + runtime.GOARCH, Folder: "some_plugin", Library: "lib.so",
		Files: map[string]string{}}
	inside := map[string]string{}
	for name, text := range files {
		inside["some_plugin/"+name] = text
		w.Files[name] = sum([]byte(text))
	}
	data := packed(t, inside)
	w.SHA256 = sum(data)
	return data, w
}

// packed is a zip archive of some files.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		e, err := z.Create(name)
		if err == nil {
			_, err = e.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// fakePython is a command that behaves like `python3 -m pip download` of a package.
func fakePython(t *testing.T, requirement string, file []byte, exit int) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the command is a script of a shell")
	}
	dir := t.TempDir()
	from := filepath.Join(dir, "file")
	script := fmt.Sprintf(`#!/bin/sh
[ "$1 $2 $3 $4" = "-m pip download --no-deps" ] || { echo "bad arguments: $*" >&2; exit 9; }
[ %d = 0 ] || { echo "ERROR: No matching distribution" >&2; exit %d; }
case "$*" in *" %s") ;; *) echo "bad package: $*" >&2; exit 9;; esac
cp '%s' some_plugin.whl
`, exit, exit, requirement, from)
	path := filepath.Join(dir, "python")
	if err := os.WriteFile(from, file, 0o600); err != nil {
		t.Fatal(err)
	}
	writeCommand(t, path, script)
	return path
}

func TestInstallWheel(t *testing.T) {
	t.Parallel()
	files := map[string]string{"lib.so": "library", "libtbb.so.12": "threads"}
	good, w := fakeWheel(t, files)
	other, otherWheel := fakeWheel(t, map[string]string{"lib.so": "library"})
	cache := t.TempDir()
	o := func(file []byte, exit int) InstallOptions {
		return InstallOptions{CacheDir: cache, Python: fakePython(t, "some-plugin==1.2", file, exit)}
	}
	refused := func(w *Wheel, o InstallOptions, want string) {
		t.Helper()
		_, err := w.Install(context.Background(), o)
		if !errors.Is(err, errInstallPlugin) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "*", "*", "*")); len(left) != 0 {
			t.Errorf("%s: left %v", want, left)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "*", "*", ".*")); len(left) != 0 {
			t.Errorf("%s: left %v", want, left)
		}
	}
	refused(w, InstallOptions{CacheDir: cache, Python: "no-such-python"}, "install Python 3")
	refused(w, o(good, 1), "No matching distribution")
	refused(w, o(other, 0), "expected "+w.SHA256)
	otherWheel.Files = w.Files
	refused(otherWheel, o(other, 0), "libtbb.so.12")

	for _, damage := range []bool{false, true} {
		dir, err := w.Install(context.Background(), o(good, 0))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range files {
			if got := string(read(t, filepath.Join(dir, name))); got != want {
				t.Errorf("damage %v: %s is %q", damage, name, got)
			}
		}
		if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
			t.Errorf("left: %v", left)
		}
		if !damage { // what is good is kept, what is not is fetched again
			if _, err := w.Install(context.Background(), o(nil, 1)); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "lib.so"), []byte("y"), 0o600); err != nil { // shorter
				t.Fatal(err)
			}
		}
	}
}

// What is in the way is said, with what helps. What is good is compared once.
func TestFindWheel(t *testing.T) {
	_, w := fakeWheel(t, map[string]string{"lib.so": "library", "threads": "more"})
	cache := t.TempDir()
	problem := func(want string, installed bool) {
		t.Helper()
		_, _, err := w.Find(cache)
		if err == nil || !strings.Contains(err.Error(), want) ||
			errors.Is(err, ErrNotInstalled) == installed {
			t.Errorf("%v, want %q", err, want)
		}
	}
	problem("not installed", false)
	dir, err := w.Dir(cache)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	put(filepath.Join(dir, sizesFile), `{"lib.so":7,"threads":4}`)
	put(filepath.Join(dir, "lib.so"), "x")
	problem("expected", false)
	put(filepath.Join(dir, "lib.so"), "library")
	problem("install it again", false)
	put(filepath.Join(dir, "threads"), "more")
	path, version, err := w.Find(cache)
	if err != nil || version != w.Version || path != filepath.Join(dir, "lib.so") {
		t.Errorf("%s, %s, %v", path, version, err)
	}
	t.Setenv(w.Env, filepath.Join(cache, "none.so"))
	problem(w.Env, true)
	// A library of another build is another device for what is derived for it.
	seen := map[string]bool{}
	for _, text := range []string{"one", "two", "library"} {
		named := filepath.Join(t.TempDir(), "named.so")
		put(named, text)
		t.Setenv(w.Env, named)
		path, version, err := w.Find(cache)
		if err != nil || path != named || (version == w.Version) != (text == "library") {
			t.Errorf("%s: %s, %s, %v", text, path, version, err)
		}
		seen[version] = true
	}
	if len(seen) != 3 {
		t.Error(seen)
	}
	w.Platform = "plan9-mips"
	if _, err := w.Dir(cache); err == nil || !strings.Contains(err.Error(), w.Platform) {
		t.Error(err)
	}
}

// A package is compared with its hash once, and later with the sizes that were noted. It may be for
// one Python and have files in several folders.
func TestWheelSizes(t *testing.T) {
	t.Parallel()
	file, w := fakeWheel(t, map[string]string{"lib/lib.so": "library", "LICENSE": "free"})
	w.Python, w.Files["LICENSE"] = "3.12", ""
	python := fakePython(t, "some-plugin==1.2", file, 0)
	script := string(read(t, python))
	const want = "--implementation cp --python-version 3.12 --abi cp312"
	script = strings.Replace(script, "cp '", "case \"$*\" in *\""+want+"\"*) ;; *) exit 8;; esac\ncp '", 1)
	writeCommand(t, python, script)
	o := InstallOptions{CacheDir: t.TempDir(), Python: python}
	dir, err := w.Install(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(read(t, filepath.Join(dir, "LICENSE"))); got != "free" {
		t.Error(got)
	}
	lib := filepath.Join(dir, "lib.so")
	problem := func(data, want string) {
		t.Helper()
		if err := os.WriteFile(lib, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := w.Find(o.CacheDir)
		if want == "" && err != nil || want != "" && (!errors.Is(err, ErrNotInstalled) ||
			!strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", data, err)
		}
	}
	problem("short", "has 5 bytes, expected 7")
	problem("xxxxxxx", "") // which a hash would tell
	w.found = nil
	if err := os.Remove(filepath.Join(dir, sizesFile)); err != nil {
		t.Fatal(err)
	}
	problem("library", sizesFile)
	if _, err := w.Install(context.Background(), o); err != nil {
		t.Error(err)
	}
	w.SHA256 = "0"
	o.Force = true
	if _, err := w.Install(context.Background(), o); !errors.Is(err, errInstallPlugin) {
		t.Error(err)
	}
}
