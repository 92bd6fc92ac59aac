package settings

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/infill/text"
	"infill/tokenize"
)

// A file of allowed words is read once, also compressed, and the manifest has the hash of the very
// bytes that were read.
func TestAllowFile(t *testing.T) {
	t.Parallel()
	tok, err := tokenize.Load(os.DirFS("../../mlm/testdata/tiny-bert"))
	if err != nil {
		t.Fatal(err)
	}
	const words = "dog\n# not a word\n\nold cat\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(words)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	allow := FillTable().Find("allow")
	for name, data := range map[string][]byte{"plain": []byte(words), "gzip": packed.Bytes()} {
		path := filepath.Join(t.TempDir(), "words")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		v := Defaults()
		if err := allow.Set(v, path); err != nil {
			t.Fatal(err)
		}
		want := sha256.Sum256(data)
		recorded := func() string {
			text, err := allow.Recorded(v)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return strings.TrimPrefix(text, "sha256:")
		}
		if got := recorded(); got != hex.EncodeToString(want[:]) {
			t.Errorf("%s: before it is read: %s", name, got)
		}
		if made, err := v.Prepare(tok); err != nil || made.Options.Words.Allow.Len() != 2 {
			t.Fatalf("%s: %v, %+v", name, err, v.Options.Words.Allow)
		}
		if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := recorded(); got != hex.EncodeToString(want[:]) {
			t.Errorf("%s: read again: %s", name, got)
		}
		if made, err := v.Prepare(tok); err != nil || made.Options.Words.Allow.Len() != 2 {
			t.Errorf("%s: prepared again: %v", name, err)
		}
		// Other settings read it again.
		v = Defaults()
		if err := allow.Set(v, path); err != nil || recorded() == hex.EncodeToString(want[:]) {
			t.Errorf("%s: %v, not read again", name, err)
		}
		var e *Error
		if _, err := v.Prepare(tok); !errors.As(err, &e) || e.Name != "allow" ||
			!strings.Contains(err.Error(), path+": line 1: ") {
			t.Errorf("%s: a word that cannot be spelt: %v", name, err)
		}
	}
	v := Defaults()
	v.Words.AllowFile = filepath.Join(t.TempDir(), "none")
	if _, err := v.Prepare(tok); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := allow.Recorded(v); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	v.Words.AllowFile = filepath.Join(t.TempDir(), "torn")
	if err := os.WriteFile(v.Words.AllowFile, packed.Bytes()[:packed.Len()-6], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Prepare(tok); err == nil || !strings.Contains(err.Error(), "damaged compressed data") {
		t.Errorf("%v", err)
	}
}

// Every setting that names a file says which, and one that is not there is noticed early.
func TestFilesThatAreNotThere(t *testing.T) {
	t.Parallel()
	found := 0
	for _, s := range FillTable() {
		v, missing := Defaults(), filepath.Join(t.TempDir(), "none")
		v.Masking.Words, v.Masking.Class = 1, text.ClassContent
		if s.Arg != "FILE" && s.Arg != "FOLDER" && s.Name != "start" {
			if path, _ := s.File(v); path != "" {
				t.Errorf("%s names %s", s.Name, path)
			}
			continue
		}
		found++
		if err := s.Set(v, missing); err != nil {
			t.Fatal(err)
		}
		var bad *Error
		path, stream := s.File(v)
		if err := v.CheckFiles(); path != missing || !errors.As(err, &bad) || bad.Name != s.Name ||
			!errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", s.Name, path, err)
		}
		if err := s.Set(v, "-"); err != nil {
			t.Fatal(err)
		}
		v.Stdin = strings.NewReader("")
		if err := v.CheckFiles(); (err == nil) != stream || stream == (s.Arg == "FOLDER") {
			t.Errorf("%s -: %v, and may be standard input: %v", s.Name, err, stream)
		}
	}
	if found < 5 {
		t.Errorf("%d settings name files", found)
	}
}
