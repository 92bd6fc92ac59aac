package disk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// child is the variable that tells a process of this test what to do.
const child = "INFILL_DISK_TEST_CHILD"

func TestMain(m *testing.M) {
	if do := os.Getenv(child); do != "" {
		os.Exit(children[do](os.Args[len(os.Args)-1]))
	}
	os.Exit(m.Run())
}

// children are what processes of their own do with a path. Each returns an exit code.
var children = map[string]func(path string) int{}

func startChild(t *testing.T, do, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, path)
	c.Env = append(os.Environ(), child+"="+do)
	return c
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rest lists what a folder holds beside the file at path.
func rest(t *testing.T, path string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Name() != filepath.Base(path) {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	for _, want := range []string{"first", "", "second, longer"} {
		if err := Write(path, []byte(want)); err != nil || content(t, path) != want {
			t.Fatalf("%q: %v, holds %q", want, err, content(t, path))
		}
	}
	if left := rest(t, path); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// An error of the writer leaves the old file, nothing else, and its own cause.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := WriteFunc(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "half of the n")
		return errors.Join(err, boom)
	})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	if left := rest(t, path); content(t, path) != "old" || len(left) > 0 {
		t.Errorf("holds %q, left behind %v", content(t, path), left)
	}
	missing := filepath.Join(t.TempDir(), "none", "a")
	if err := Write(missing, nil); !errors.Is(err, fs.ErrNotExist) ||
		strings.Contains(err.Error(), tempPrefix) ||
		!strings.Contains(err.Error(), missing) {
		t.Errorf("no folder: %v", err)
	}
	if err := Write(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
}

func init() {
	children["killed"] = func(path string) int {
		_ = WriteFunc(path, func(w io.Writer) error {
			_, _ = io.WriteString(w, "half of the n")
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill() // between the write and the rename
			select {}
		})
		return 0
	}
}

// A process killed between write and rename leaves the old file as it was, and a new
// one that can be told by its name.
func TestWriteKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := startChild(t, "killed", path).Run(); err == nil {
		t.Fatal("the child lived")
	}
	left := rest(t, path)
	if content(t, path) != "old" || len(left) != 1 || !IsTemp(left[0]) {
		t.Errorf("holds %q, left behind %v", content(t, path), left)
	}
	if IsTemp("a") || IsTemp("a.tmp") || IsTemp(".infill-cache") {
		t.Error("names of others count as temporary")
	}
	if err := Write(path, []byte("new")); err != nil || content(t, path) != "new" {
		t.Errorf("afterwards: %v, holds %q", err, content(t, path))
	}
}

// Permissions are kept; a link is replaced and its target left alone.
func TestWriteReplaces(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the system has neither these permissions nor links for everybody")
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Symlink("a", link)); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("private")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
	if err := Write(link, []byte("public")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || !info.Mode().IsRegular() || content(t, path) != "private" ||
		content(t, link) != "public" {
		t.Errorf("%v %v, target %q, link %q", info.Mode(), err, content(t, path), content(t, link))
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := errors.Join(os.WriteFile(from, []byte("new"), 0o644),
		os.WriteFile(to, []byte("old"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := Rename(from, to); err != nil || content(t, to) != "new" {
		t.Errorf("%v, holds %q", err, content(t, to))
	}
	if err := Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("again: %v", err)
	}
}

// Many writers at once: the file always holds what one of them wrote, whole.
func TestWriteTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	const writers, bytesEach = 8, 100_000
	errs := make(chan error, writers)
	for i := range writers {
		go func() { errs <- Write(path, bytes.Repeat([]byte{byte('a' + i)}, bytesEach)) }()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
		if got := content(t, path); len(got) != bytesEach || strings.Trim(got, got[:1]) != "" {
			t.Fatalf("a mixture of %d bytes", len(got))
		}
	}
}
