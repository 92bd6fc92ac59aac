package unpack

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const text = "the dog sleeps .\nthe cat sees a bird .\n"

func packed(t testing.TB, s string) (gz, zst string) {
	t.Helper()
	var a, b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{gzip.NewWriter(&a), z} {
		if _, err := io.WriteString(w, s); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return a.String(), b.String()
}

func TestNew(t *testing.T) {
	t.Parallel()
	gz, zst := packed(t, text)
	skipped := "\x53\x2a\x4d\x18\x03\x00\x00\x00abc"
	for _, c := range []struct{ name, in, format, want string }{
		{"text", text, "", text},
		{"nothing", "", "", ""},
		{"a bracket", "(", "", "("},
		{"nearly zstd", "(\xb5/", "", "(\xb5/"},
		{"nearly skipped", "Press", "", "Press"},
		{"one byte of gzip", "\x1f", "", "\x1f"},
		{"gzip", gz, "gzip", text},
		{"two members", gz + gz, "gzip", text + text},
		{"zstd", zst, "zstd", text},
		{"two frames", zst + zst, "zstd", text + text},
		{"skipped frame", skipped + zst, "zstd", text},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in),
			iotest.OneByteReader(strings.NewReader(c.in))} {
			u, err := New(r)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			b, err := io.ReadAll(u)
			if err = errors.Join(err, u.Close()); err != nil || string(b) != c.want || u.Format != c.format {
				t.Errorf("%s: %q as %q, %v; want %q as %q", c.name, b, u.Format, err, c.want, c.format)
			}
		}
	}
}

// Wherever compressed data break off or change, the error says so and nothing panics.
func TestDamaged(t *testing.T) {
	t.Parallel()
	gz, zst := packed(t, text)
	for _, whole := range []string{gz, zst} {
		for n := 4; n < len(whole); n++ {
			u, err := New(strings.NewReader(whole[:n]))
			if err == nil {
				_, err = io.ReadAll(u)
			}
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("%d of %d bytes: %v", n, len(whole), err)
			}
		}
	}
	boom := errors.New("boom")
	u, err := New(io.MultiReader(strings.NewReader("text"), iotest.ErrReader(boom)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(u); !errors.Is(err, boom) || errors.Is(err, ErrDamaged) {
		t.Errorf("an error of the input: %v", err)
	}
}

// A line of a pipe is there before the next one is written.
func TestNewDoesNotWait(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	got := make(chan string, 1)
	go func() {
		u, err := New(r)
		if err != nil {
			got <- err.Error()
			return
		}
		b := make([]byte, 10)
		n, _ := u.Read(b)
		got <- string(b[:n])
	}()
	for _, s := range []string{"("} {
		if _, err := io.WriteString(w, s+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case s := <-got:
		if s != "(\n" {
			t.Errorf("%q", s)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for more")
	}
}

// The name does not matter.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gz, zst := packed(t, text)
	for name, data := range map[string]string{"a.txt": gz, "b.gz": zst, "c.zst": text, "d": gz} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		u, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(u)
		if err = errors.Join(err, u.Close()); err != nil || string(b) != text {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("a folder: %v", err)
	}
	bad := filepath.Join(dir, "bad.gz")
	if err := os.WriteFile(bad, []byte("\x1f\x8bno"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(bad); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), bad) {
		t.Errorf("damaged: %v", err)
	}
}
