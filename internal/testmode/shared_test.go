package testmode_test

import (
	"os"
	"path/filepath"
	"testing"

	"infill/internal/testmode"
)

func TestShared(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("INFILL_SHARED", dir)
	want := filepath.Join(dir, "file")
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := testmode.Shared(t, "file"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	skips := false
	t.Run("absent", func(t *testing.T) {
		defer func() { skips = t.Skipped() }()
		testmode.Shared(t, "absent")
	})
	if !skips {
		t.Error("an absent file does not skip the test")
	}
}

func TestRoot(t *testing.T) {
	got := testmode.Root(t)
	if _, err := os.Stat(filepath.Join(got, "internal", "testmode", "shared.go")); err != nil {
		t.Error(err)
	}
}
