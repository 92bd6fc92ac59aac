package batch

import (
	"errors"
	"path/filepath"
	"testing"
)

// A damaged manifest is an error of its own, and one that can be read is
// written back as it was.
func FuzzManifest(f *testing.F) {
	for _, s := range []string{`{"format":1}`, `{"format":1,"settings":{"a":"b"},"seed":18446744073709551615}`, `{"format":2}`, "", "{", "null", "[]", `{"format":1,"x":1}`} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, s string) {
		out := filepath.Join(dir, "out")
		write(t, ManifestPath(out), s)
		m, err := ReadManifest(out)
		if err != nil {
			if !errors.Is(err, ErrManifest) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if err := m.write(out); err != nil {
			t.Fatal(err)
		}
		again, err := ReadManifest(out)
		if err != nil || len(m.differences(again)) > 0 {
			t.Fatalf("%+v became %+v (%v)", m, again, err)
		}
	})
}
