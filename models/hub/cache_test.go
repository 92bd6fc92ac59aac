package hub

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// trusting is the server's model without hashes.
func trusting(s *testServer) *Model {
	m := s.model()
	for _, f := range m.Files {
		f.SHA256 = ""
	}
	return m
}

func TestFirstUse(t *testing.T) {
	s := newServer(t, 300_000)
	c, m := Cache{t.TempDir()}, trusting(s)
	folder, err := c.pull(t.Context(), m, quick(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, s, folder)
	good := sumOf(s.files["onnx/model.onnx"])
	if rec := c.record(m); rec == nil || rec.Files[0].SHA256 != good ||
		m.Files[0].wanted(rec) != good {
		t.Errorf("record %+v", rec)
	}
	checks, err := c.Verify(t.Context(), m)
	if err != nil || faults(checks) != 0 || checks[0].Want != good ||
		checks[0].By != "the record of the first download" {
		t.Errorf("%+v, %v", checks, err)
	}
	// The folder is lost, and the home has other bytes by now: the record still knows.
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	s.files["onnx/model.onnx"] = noise(300_000, 77)
	if _, err := c.pull(t.Context(), m, quick(s, nil)); !errors.Is(err, errMismatch) ||
		!strings.Contains(err.Error(), c.recordPath(m)) {
		t.Errorf("changed after first use: %v", err)
	}
	mustLackFolder(t, c, m)
	// Without the record it is a first use again.
	if err := os.Remove(c.recordPath(m)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.pull(t.Context(), m, quick(s, nil)); err != nil {
		t.Error(err)
	}
}

// Nothing says how long the file is, nor what it should hash to: a cut could not be noticed.
func TestFirstUseNeedsALength(t *testing.T) {
	s := newServer(t, 300_000)
	m := trusting(s)
	m.Files[0].About = true
	s.always(raw(func(b []byte) []byte { return b[:299_000] }))
	c := Cache{t.TempDir()}
	if _, err := c.pull(t.Context(), m, quick(s, nil)); !errors.Is(err, errFetch) ||
		!strings.Contains(err.Error(), "how long") {
		t.Errorf("%v", err)
	}
	mustLackFolder(t, c, m)
}

// Without a hash a part is gone on with only if it is of the same version.
func TestFirstUseResumes(t *testing.T) {
	s := newServer(t, 300_000)
	m := trusting(s)
	s.next(dropAfter(100_000))
	folder, err := Cache{t.TempDir()}.pull(t.Context(), m, quick(s, nil))
	if err != nil || !slices.Contains(s.log(), "onnx/model.onnx bytes=100000-") {
		t.Fatalf("%v, %q", err, s.log())
	}
	mustHold(t, s, folder)

	// A part of an unknown version is thrown away.
	c := Cache{t.TempDir()}
	if err := os.MkdirAll(c.partial(m), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.partial(m), "00-model.onnx.part"), noise(5000, 8),
		0o644); err != nil {
		t.Fatal(err)
	}
	if folder, err = c.pull(t.Context(), m, quick(s, nil)); err != nil {
		t.Fatal(err)
	}
	mustHold(t, s, folder)
}

func TestHeals(t *testing.T) {
	s := newServer(t, 300_000)
	c, m := Cache{t.TempDir()}, s.model()
	folder, err := c.pull(t.Context(), m, quick(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(path string) error{
		"flipped": func(p string) error {
			b := bytes.Clone(s.files["vocab.txt"])
			b[5] ^= 1
			return os.WriteFile(p, b, 0o644)
		},
		"truncated": func(p string) error { return os.Truncate(p, 10) },
		"removed":   os.Remove,
		"a folder": func(p string) error {
			return errors.Join(os.Remove(p),
				os.MkdirAll(filepath.Join(p, "x"), 0o755))
		},
	} {
		if err := damage(filepath.Join(folder, "vocab.txt")); err != nil {
			t.Fatal(err)
		}
		checks, err := c.Verify(t.Context(), m)
		if err != nil || faults(checks) != 1 || checks[0].Result != right || checks[1].Result == right {
			t.Errorf("%s: %+v, %v", name, checks, err)
		}
		before := len(s.log())
		if _, err := c.pull(t.Context(), m, quick(s, nil)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		mustHold(t, s, folder)
		if again := s.log()[before:]; len(again) != 1 || again[0] != "vocab.txt" {
			t.Errorf("%s: fetched %q, want vocab.txt only", name, again)
		}
	}
	// What does not belong to the model is named, and goes.
	if err := os.WriteFile(filepath.Join(folder, "tokenizer.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if checks, err := c.Verify(t.Context(), m); err != nil || faults(checks) != 1 ||
		checks[2].Path != "tokenizer.json" || checks[2].Result != extra {
		t.Errorf("%+v, %v", checks, err)
	}
	if _, err := c.pull(t.Context(), m, quick(s, nil)); err != nil {
		t.Fatal(err)
	}
	mustHold(t, s, folder)
}

func TestOffline(t *testing.T) {
	s := newServer(t, 3000)
	c, m := Cache{t.TempDir()}, s.model()
	_, err := c.Pull(t.Context(), m, Options{Offline: true})
	if !errors.Is(err, errOffline) {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), "copy its folder, "+filepath.Dir(c.Folder(m))) {
		t.Error(err)
	}
	// Put there by hand, one of them wrong, then right.
	put := func(path string, data []byte) {
		t.Helper()
		path = filepath.Join(c.Folder(m), path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put("onnx/model.onnx", s.files["onnx/model.onnx"])
	put("vocab.txt", []byte("other"))
	if _, err := c.Pull(t.Context(), m, Options{Offline: true}); !errors.Is(err, errOffline) {
		t.Errorf("one is damaged: %v", err)
	}
	put("vocab.txt", s.files["vocab.txt"])
	if _, err := c.Pull(t.Context(), m, Options{Offline: true}); err != nil {
		t.Errorf("put there by hand: %v", err)
	}
	if len(s.log()) != 0 {
		t.Errorf("requests while offline: %q", s.log())
	}
}

func TestPullOptions(t *testing.T) {
	s := newServer(t, 10)
	for _, hub := range []string{"http://example.com", "ftp://localhost", "localhost", "https://",
		"https://a:b@example.com", "://"} {
		if _, err := (Cache{t.TempDir()}).Pull(t.Context(), s.model(), Options{Hub: hub}); !errors.Is(err,
			ErrUsage) {
			t.Errorf("hub %q: %v", hub, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := (Cache{file}).pull(t.Context(), s.model(), quick(s, nil)); !errors.Is(err, errStore) {
		t.Errorf("the cache is a file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Cache{t.TempDir()}).pull(ctx, s.model(), quick(s, nil)); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

func TestContentRange(t *testing.T) {
	for s, want := range map[string][3]int64{
		"bytes 5-9/10": {5, 10, 1}, "bytes 0-0/*": {}, "bytes */7": {0, 7, 1}, "bytes */*": {},
		"bytes 9-5/10":  {},
		"bytes 5-10/10": {}, "bytes -5-6/10": {}, "lines 1-2/3": {}, "bytes 1/3": {}, "bytes 1-2": {},
		"": {}, "bytes 1-99999999999999999999/*": {},
	} {
		start, total, ok := contentRange(s)
		if ok != (want[2] == 1) || ok && (start != want[0] || total != want[1]) {
			t.Errorf("contentRange(%q) = %d, %d, %v", s, start, total, ok)
		}
	}
}
