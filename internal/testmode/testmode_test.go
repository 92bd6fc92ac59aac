package testmode_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"infill/internal/testmode"
)

// recorder is a test that notes its skip. A real test would be listed at the end of
// the run as one that was left out.
type recorder struct {
	testing.TB
	reason string
}

func (r *recorder) Skip(args ...any) {
	r.reason, _ = args[0].(string)
	runtime.Goexit()
}

// skipped runs f and returns the reason for which it skips, "" if it does not.
func skipped(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.reason
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		all  string
		want bool
	}{{"", true}, {"0", true}, {"1", false}} {
		t.Setenv("INFILL_TEST_ALL", c.all)
		got := skipped(t, testmode.Long)
		if c.want != strings.HasPrefix(got, "long: ") {
			t.Errorf("INFILL_TEST_ALL=%q: Long skips for the reason %q, want a skip: %v", c.all, got, c.want)
		}
	}
	got := skipped(t, func(t testing.TB) { testmode.Missing(t, "a folder") })
	if got != "missing data: a folder" {
		t.Errorf("Missing skips for the reason %q", got)
	}
}

func TestShared(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TEST_INFILL_SHARED", dir)
	want := filepath.Join(dir, "file")
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := testmode.Shared(t, "file"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got := skipped(t, func(t testing.TB) { testmode.Shared(t, "absent") })
	if !strings.HasPrefix(got, "missing data: "+filepath.Join(dir, "absent")) {
		t.Errorf("an absent file skips for the reason %q", got)
	}
}

func TestRoot(t *testing.T) {
	got := testmode.Root(t)
	if _, err := os.Stat(filepath.Join(got, "internal", "testmode", "shared.go")); err != nil {
		t.Error(err)
	}
}
