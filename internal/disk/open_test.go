package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	root := os.DirFS(dir)
	for _, c := range []struct {
		name  string
		limit int64
		want  error
	}{
		{"a", 5, nil}, {"a", 4, ErrTooLarge}, {"b", 9, fs.ErrNotExist}, {".", 9, ErrNotRegular},
	} {
		b, err := Read(filepath.Join(dir, c.name), c.limit)
		b2, err2 := ReadFS(root, c.name, c.limit)
		if !errors.Is(err, c.want) || !errors.Is(err2, c.want) {
			t.Errorf("%s, %d bytes: %v and %v, want %v", c.name, c.limit, err, err2, c.want)
		}
		if c.want == nil && (string(b) != "12345" || string(b2) != "12345") {
			t.Errorf("%s: %q and %q", c.name, b, b2)
		}
	}
}

func TestCacheDir(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvCache, filepath.Join(dir, "env"))
	if got, err := CacheDir(filepath.Join(dir, "x")); err != nil || got != filepath.Join(dir, "x") {
		t.Errorf("named: %s, %v", got, err)
	}
	if got, err := CacheDir(""); err != nil || got != filepath.Join(dir, "env") {
		t.Errorf("from the environment: %s, %v", got, err)
	}
	t.Setenv(EnvCache, "")
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("LocalAppData", filepath.Join(dir, "home"))
	user, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := CacheDir(""); err != nil || got != filepath.Join(user, "infill") {
		t.Errorf("the user's: %s, %v", got, err)
	}
}
