package output

import (
	"errors"
	"infill/infill/batch/input/inputtest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The manifest goes where nothing is lost by it.
func TestPlaceOfManifest(t *testing.T) {
	t.Parallel()
	const text = "a\nb\n"
	for _, mode := range []Mode{Create, Resume, Force} {
		dir := t.TempDir()
		refused := func(what, input, output string, is error, keep string) {
			t.Helper()
			before := inputtest.Read(t, keep)
			_, _, err := process(t, input, output, config{mode: mode})
			if !errors.Is(err, is) {
				t.Errorf("mode %d, %s: %v", mode, what, err)
			}
			if string(inputtest.Read(t, keep)) != string(before) {
				t.Errorf("mode %d, %s: %s changed", mode, what, keep)
			}
			if _, err := os.Lstat(output); err == nil && output != input {
				t.Errorf("mode %d, %s: an output was begun", mode, what)
			}
		}
		out := filepath.Join(dir, "out")
		in := inputtest.Write(t, manifestPath(out), text)
		refused("the input is the manifest", in, out, ErrManifest, in)
		other := filepath.Join(dir, "other")
		if err := os.Link(in, manifestPath(other)); err != nil {
			t.Fatal(err)
		}
		refused("the input is the manifest by another name", in, other, ErrManifest, in)
		refused("the input is the output", in, in, ErrIsInput, in)

		foreign := filepath.Join(dir, "foreign")
		theirs := inputtest.Write(t, manifestPath(foreign), `{"name":"ship","cargo":[]}`)
		if mode == Force {
			if _, _, err := process(t, in, foreign, config{mode: mode}); err != nil {
				t.Errorf("--force: %v", err)
			}
		} else {
			refused("another program's manifest", in, foreign, ErrManifest, theirs)
		}
		folder := filepath.Join(dir, "folder")
		if err := os.Mkdir(manifestPath(folder), 0o777); err != nil {
			t.Fatal(err)
		}
		if _, _, err := process(t, in, folder, config{mode: mode}); err == nil || mode != Force &&
			!errors.Is(err, ErrManifest) {
			t.Errorf("mode %d, a folder for a manifest: %v", mode, err)
		}

		// One that is ours, of an output that was removed, is replaced.
		again := filepath.Join(dir, "again")
		for range 2 {
			if _, _, err := process(t, in, again, config{mode: mode}); err != nil {
				t.Errorf("mode %d: %v", mode, err)
			}
			if err := os.Remove(again); err != nil {
				t.Fatal(err)
			}
		}

		// Links that lie where temporary files might go are not followed, and
		// none stay behind.
		precious := inputtest.Write(t, filepath.Join(dir, "precious.txt"), "precious")
		linked := filepath.Join(dir, "linked")
		if err := os.Symlink(precious, manifestPath(linked)+".tmp"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := process(t, in, linked, config{mode: mode}); err != nil ||
			string(inputtest.Read(t, precious)) != "precious" {
			t.Errorf("mode %d: a link was followed: %q (%v)", mode, inputtest.Read(t, precious), err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(left) != 1 {
			t.Errorf("mode %d: left behind: %v (%v)", mode, left, err)
		}

		dangling := filepath.Join(dir, "dangling")
		if err := os.Symlink(filepath.Join(dir, "nowhere"), dangling); err != nil {
			t.Fatal(err)
		}
		if _, _, err := process(t, in, dangling, config{mode: mode}); !errors.Is(err, ErrExists) {
			t.Errorf("mode %d: a link to nothing: %v", mode, err)
		}
		missing := filepath.Join(dir, "missing", "out")
		if _, _, err := process(t, in, missing, config{mode: mode}); err == nil ||
			!strings.Contains(err.Error(), "folder") || strings.Contains(err.Error(), "manifest") {
			t.Errorf("mode %d: no folder: %v", mode, err)
		}
	}
}

// A damaged manifest is an error of its own, and one that can be read is
// written back as it was.
func FuzzManifest(f *testing.F) {
	for _, s := range []string{`{"format":1}`,
		`{"format":1,"settings":{"a":"b"},"seed":18446744073709551615}`, `{"format":2}`, "", "{", "null",
		"[]", `{"format":1,"x":1}`} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, s string) {
		out := filepath.Join(dir, "out")
		inputtest.Write(t, manifestPath(out), s)
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
