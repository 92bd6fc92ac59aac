package disk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// There is room for a byte and none for an exabyte, in a folder and below one. Where a file stands in
// the place of a folder there is none at all. Nothing is left behind.
func TestRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, at := range []string{dir, filepath.Join(dir, "a", "b")} {
		if err := Room(at, 1); err != nil {
			t.Error(err)
		}
		known := runtime.GOOS == "linux" || runtime.GOOS == "darwin" || runtime.GOOS == "windows"
		if err := Room(at, 1<<60); known != errors.Is(err, errRoom) {
			t.Errorf("an exabyte: %v", err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{file, filepath.Join(file, "below")} {
		if err := Room(at, 1); err == nil || errors.Is(err, errRoom) {
			t.Errorf("%s: %v", at, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left behind (%v)", left, err)
	}
}

// Size counts the files of folders below, and nothing where there is no folder.
func TestSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"one": 3, "a/two": 40, "a/b/three": 500} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for at, want := range map[string]int64{"": 543, "a": 540, "a/b": 500, "none": 0} {
		if n := Size(filepath.Join(dir, at)); n != want {
			t.Errorf("%q has %d bytes, want %d", at, n, want)
		}
	}
}
