package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// A root's file system is whole, and its errors are in words.
func TestRootFS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	fsys := RootFS(root)
	if err := fstest.TestFS(fsys, "a.txt"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]error{"gone": fs.ErrNotExist, "out": errOutside} {
		_, statErr := fs.Stat(fsys, name)
		_, openErr := fsys.Open(name)
		_, readErr := fs.ReadFile(fsys, name)
		_, dirErr := fs.ReadDir(fsys, name)
		for op, err := range map[string]error{"stat": statErr, "open": openErr, "read": readErr,
			"readdir": dirErr} {
			if !errors.Is(err, want) || strings.Contains(err.Error(), "at "+name) &&
				!strings.HasPrefix(err.Error(), "stat ") || strings.Contains(err.Error(), "escapes") {
				t.Errorf("%s of %s: %v", op, name, err)
			}
		}
	}
}
