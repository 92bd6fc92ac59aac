package ort

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// findEnv makes the test binary say which library it finds.
const findEnv = "INFILL_ORT_TEST_FIND"

// A program finds the library of its own folder, and of lib beside its folder bin, also by a link.
func TestFindBeside(t *testing.T) {
	isolate(t)
	t.Setenv(findEnv, "1")
	lib := fakeLibrary(t, Version)
	for name, c := range map[string]struct{ program, library, link string }{
		"the same folder":    {"infill/infill", "infill/libonnxruntime.so.1", ""},
		"lib beside bin":     {"opt/bin/infill", "opt/lib/libonnxruntime.so.1", ""},
		"by a link":          {"infill/infill", "infill/libonnxruntime.so.1", "bin/infill"},
		"lib beside nothing": {"opt/sbin/infill", "opt/lib/libonnxruntime.so.1", ""},
	} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		program, library := filepath.Join(dir, c.program), filepath.Join(dir, c.library)
		copyFile(t, os.Args[0], program)
		copyFile(t, lib, library)
		if c.link != "" {
			link := filepath.Join(dir, c.link)
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(program, link); err != nil {
				t.Fatal(err)
			}
			program = link
		}
		out, err := exec.Command(program).Output()
		if err != nil {
			t.Fatal(err)
		}
		found := strings.HasPrefix(string(out), library+"\n"+string(sourceBeside)+"\n<nil>\n")
		if found != (name != "lib beside nothing") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// The links of a program are followed where the system does not do it.
func TestBesides(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, name := range []string{"usr/bin", "opt/bin"} {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("opt/bin/infill"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("opt/bin/infill"), at("usr/bin/infill")); err != nil {
		t.Skip(err)
	}
	want := []string{at("usr/bin"), at("opt/bin"), at("usr/lib"), at("opt/lib")}
	if got := besides(at("usr/bin/infill")); strings.Join(got, ":") != strings.Join(want, ":") {
		t.Errorf("got %q, want %q", got, want)
	}
}
