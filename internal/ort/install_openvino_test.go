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
func fakeWheel(t *testing.T, files map[string]string) ([]byte, wheel) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w := wheel{files: map[string]string{}}
	for name, text := range files {
		e, err := z.Create("onnxruntime_ep_openvino/" + name)
		if err == nil {
			_, err = e.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		w.files[name] = sum([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	w.sha256 = sum(b.Bytes())
	return b.Bytes(), w
}

// fakePython is a command that behaves like `python3 -m pip download`.
func fakePython(t *testing.T, file []byte, exit int) string {
	t.Helper()
	if err := openvinoPlatform(runtime.GOOS, runtime.GOARCH); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	from := filepath.Join(dir, "file")
	script := fmt.Sprintf(`#!/bin/sh
[ "$1 $2 $3 $4" = "-m pip download --no-deps" ] || { echo "bad arguments: $*" >&2; exit 9; }
[ %d = 0 ] || { echo "ERROR: No matching distribution" >&2; exit %d; }
case "$*" in *" onnxruntime-ep-openvino==%s") ;; *) echo "bad package: $*" >&2; exit 9;; esac
cp '%s' onnxruntime_ep_openvino.whl
`, exit, exit, OpenVINOVersion, from)
	path := filepath.Join(dir, "python")
	if err := errors.Join(os.WriteFile(from, file, 0o600),
		os.WriteFile(path, []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInstallOpenVINO(t *testing.T) {
	t.Parallel()
	files := map[string]string{openvinoLibrary: "library", "libtbb.so.12": "threads"}
	good, w := fakeWheel(t, files)
	other, otherWheel := fakeWheel(t, map[string]string{openvinoLibrary: "library"})
	cache := t.TempDir()
	o := func(file []byte, exit int) *InstallOptions {
		return &InstallOptions{CacheDir: cache, Python: fakePython(t, file, exit)}
	}
	refused := func(w wheel, o *InstallOptions, want string) {
		t.Helper()
		_, err := w.install(context.Background(), o)
		if !errors.Is(err, ErrInstallOpenVINO) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "*", "*", "*")); len(left) != 0 {
			t.Errorf("%s: left %v", want, left)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "*", "*", ".*")); len(left) != 0 {
			t.Errorf("%s: left %v", want, left)
		}
	}
	refused(w, &InstallOptions{CacheDir: cache, Python: "no-such-python"}, "install Python 3")
	refused(w, o(good, 1), "No matching distribution")
	refused(w, o(other, 0), "expected "+w.sha256)
	otherWheel.files = w.files
	refused(otherWheel, o(other, 0), "libtbb.so.12")
	wrong := wheel{w.sha256, map[string]string{openvinoLibrary: sum([]byte("x"))}}
	refused(wrong, o(good, 0), "not installed whole")

	for _, damage := range []bool{false, true} {
		dir, err := w.install(context.Background(), o(good, 0))
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
			if _, err := w.install(context.Background(), o(nil, 1)); err != nil {
				t.Error(err)
			}
			if err := os.WriteFile(filepath.Join(dir, openvinoLibrary), []byte("y"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
