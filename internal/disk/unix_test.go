//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe or a device in the place of a file is named, not waited for.
func TestOpenSpecial(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]string{pipe: "pipe", filepath.Join(dir, "link"): "pipe",
		os.DevNull: "device"} {
		if _, err := Read(path, 1); !errors.Is(err, ErrNotRegular) ||
			!strings.Contains(err.Error(), kind) {
			t.Errorf("%s: %v", path, err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if _, err := ReadFS(root.FS(), "pipe", 1); !errors.Is(err, ErrNotRegular) {
		t.Errorf("below a root: %v", err)
	}
}

// What is written to a device or a pipe goes into it: nothing takes its place.
func TestWriteThrough(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	go func() {
		b, err := os.ReadFile(pipe)
		got <- fmt.Sprint(string(b), err)
	}()
	if err := Write(pipe, []byte("text")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "text<nil>" {
		t.Errorf("through a pipe: %s", s)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is now %v, %v", info.Mode(), err)
	}
	if left := rest(t, pipe); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func init() {
	// full runs out of room after 1,000 bytes.
	children["full"] = func(path string) int {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE,
			&syscall.Rlimit{Cur: 1000, Max: 1000}); err != nil {
			fmt.Println(err)
			return 1
		}
		err := WriteFunc(path, func(w io.Writer) error {
			_, err := w.Write(make([]byte, 2000))
			return err
		})
		fmt.Println(err)
		if !errors.Is(err, syscall.EFBIG) {
			return 1
		}
		return 0
	}
}

// A disk without room leaves the old file, nothing else, and an error with the file's name.
func TestWriteFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	out, err := startChild(t, "full", path).Output()
	if err != nil || !strings.Contains(string(out), path) ||
		strings.Contains(string(out), tempPrefix) {
		t.Errorf("%v: %s", err, out)
	}
	if left := rest(t, path); content(t, path) != "old" || len(left) > 0 {
		t.Errorf("holds %q, left behind %v", content(t, path), left)
	}
}

// A lock that is given back is free although another process has the open file, as a program has
// that is being started.
func TestUnlockBesideAChild(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "locked")
	first, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := TryLock(first); !ok || err != nil {
		t.Fatal(ok, err)
	}
	child, err := syscall.Dup(int(first.Fd())) // the same open file, as after a fork
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(child) }()
	if err := Unlock(first); err != nil {
		t.Fatal(err)
	}
	second, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := TryLock(second); !ok || err != nil {
		t.Errorf("after Unlock: %v, %v", ok, err)
	}
	_ = second.Close()
}
