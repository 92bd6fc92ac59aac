package runlog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A program that was killed leaves a line cut off; the next one goes on before it.
func TestCutLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(path, []byte("1\n2\n3"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, end, err := Read[int](path)
	if err != nil || end != 4 || !slices.Equal(all, []int{1, 2}) {
		t.Fatalf("%v, %d, %v", all, end, err)
	}
	l, err := Append(path, end)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Add(45); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "1\n2\n45\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// A line that is not a run is named.
func TestBadLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(path, []byte("1\n\"a\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read[int](path); err == nil ||
		err.Error()[:len(path)+3] != path+":2:" {
		t.Errorf("%v", err)
	}
	if all, end, err := Read[int](path + "x"); err != nil || len(all)+int(end) > 0 {
		t.Errorf("a file that is not there: %v, %d, %v", all, end, err)
	}
}
