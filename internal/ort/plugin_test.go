package ort

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// What the runtime cannot load is refused with its path, the same each time.
func TestLoadPlugin(t *testing.T) {
	if _, err := Load(FindOptions{}); err != nil {
		testmode.Missing(t, "ONNX Runtime: "+err.Error())
	}
	path := filepath.Join(t.TempDir(), "plug-in.so")
	if err := os.WriteFile(path, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		p, err := LoadPlugin(path, "SomeExecutionProvider")
		if p != nil || err == nil || !strings.Contains(err.Error(), path+" cannot be loaded") {
			t.Errorf("%v, %v", p, err)
		}
	}
}

// A provider that the runtime does not take ends the opening of a session.
func TestSessionProvider(t *testing.T) {
	if _, err := Load(FindOptions{}); err != nil {
		testmode.Missing(t, "ONNX Runtime: "+err.Error())
	}
	_, err := OpenBytes("model", []byte("x"), []string{"a"}, []string{"b"},
		Config{Provider: &Provider{Plugin: &Plugin{}}})
	if !errors.Is(err, errModel) || strings.Contains(err.Error(), "panicked") {
		t.Errorf("no devices: %v", err)
	}
}
