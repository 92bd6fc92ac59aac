package disk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func init() {
	// holds takes the lock, says so, and keeps it until its input ends.
	children["holds"] = func(path string) int {
		unlock, err := Lock(context.Background(), path, nil)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		defer unlock()
		fmt.Println("locked")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
}

// Two processes at one lock: the second waits, says so once, and gets the lock when the
// first is killed.
func TestLockProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	c := startChild(t, "holds", path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("child says %q, %v", line, err)
	}

	boom := errors.New("boom")
	ctx, cancel := context.WithCancelCause(t.Context())
	waited := 0
	if _, err := Lock(ctx, path, func() { waited++; cancel(boom) }); !errors.Is(err, boom) ||
		waited != 1 {
		t.Fatalf("locked by another: %v after %d calls", err, waited)
	}

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	unlock, err := Lock(ctx, path, func() {
		waited++
		if err := c.Process.Kill(); err != nil {
			t.Error(err)
		}
	})
	if err != nil || waited != 2 {
		t.Fatalf("after the other's end: %v, %d calls", err, waited)
	}
	unlock()
	_ = c.Wait()
}

// In one process two open files are two holders. The lock does not touch the content.
func TestTryLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	a, b := open(), open()
	if ok, err := TryLock(a); !ok || err != nil {
		t.Fatalf("first: %v, %v", ok, err)
	}
	if ok, err := TryLock(b); ok || err != nil {
		t.Errorf("second: %v, %v", ok, err)
	}
	if _, err := a.WriteString("text"); err != nil || content(t, path) != "text" {
		t.Errorf("%v, holds %q", err, content(t, path))
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if ok, err := TryLock(b); !ok || err != nil {
		t.Errorf("after the first's end: %v, %v", ok, err)
	}
}

func TestLockFails(t *testing.T) {
	t.Parallel()
	if _, err := Lock(t.Context(), t.TempDir(), nil); err == nil {
		t.Error("a folder was locked")
	}
}
