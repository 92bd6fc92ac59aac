package keep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type row struct {
	X    []float64
	Runs int
}

func TestResult(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	path := filepath.Join(dir, "row.json")
	runs, again := 0, ""
	get := func(name, settings string) (*row, error) {
		again = ""
		return Result(dir, name, settings, func(path string) { again = path }, func() (*row, error) {
			runs++
			return &row{X: []float64{1.0 / 3}, Runs: runs}, nil
		})
	}
	for _, c := range []struct {
		name, settings string
		runs           int // that were made after the call
		gives          int
		again          string
	}{
		{"row", "10 chains", 1, 1, ""},
		{"row", "10 chains", 1, 1, ""},
		{"other", "10 chains", 2, 2, ""},
		{"row", "100 chains", 3, 3, path},
		{"row", "100 chains", 3, 3, ""},
	} {
		r, err := get(c.name, c.settings)
		if err != nil || runs != c.runs || r.Runs != c.gives || r.X[0] != 1.0/3 || again != c.again {
			t.Errorf("%+v: %+v, %v after %d runs, again %q", c, r, err, runs, again)
		}
	}
	// What an earlier version of a program kept had no settings.
	if err := os.WriteFile(path, []byte(`{"X":[1],"Runs":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := get("row", "100 chains"); err != nil || r.Runs != 4 || again != path {
		t.Errorf("no settings: %+v, %v, again %q", r, err, again)
	}
	for _, bad := range []string{`{"X":`, `{"Settings":"100 chains","Result":[]}`} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := get("row", "100 chains"); err == nil ||
			!strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), "delete the file") {
			t.Errorf("%s gives %v", bad, err)
		}
	}
}

// TestNothingKept: without a folder every call computes, and an error keeps nothing.
func TestNothingKept(t *testing.T) {
	t.Parallel()
	runs := 0
	run := func() (int, error) { runs++; return runs, nil }
	for want := 1; want <= 2; want++ {
		if v, err := Result("", "row", "", nil, run); v != want || err != nil {
			t.Errorf("%d, %v, want %d", v, err, want)
		}
	}
	dir, broken := t.TempDir(), errors.New("broken")
	fail := func() (int, error) { return 0, broken }
	if _, err := Result(dir, "row", "", nil, fail); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if v, err := Result(dir, "row", "", nil, run); v != 3 || err != nil {
		t.Errorf("after an error: %d, %v", v, err)
	}
	// Where nothing can be kept, nothing is computed.
	lost := filepath.Join(dir, "lost")
	if err := os.Symlink("nowhere", lost); err != nil {
		t.Skip(err)
	}
	if _, err := Result(lost, "row", "", nil, run); err == nil || runs != 3 {
		t.Errorf("a link to nowhere: %v after %d runs", err, runs)
	}
}
